"""A comparison for scripts: JSON with everything, CSV with a line for each case and side."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from suite.analysis.compare import Comparison, Pairing, Row, exit_code
from suite.analysis.metrics import Metric
from suite.analysis.sides import Side
from suite.report.rows import to_json
from suite.report.text import clean


def as_json(comparison: Comparison, strict: bool) -> str:
    """The whole comparison; units stand in the names, and what is not known is null."""
    return to_json(
        {
            "metric": comparison.metric,
            "unit": unit(comparison.metric),
            "threshold": comparison.threshold,
            "verdicts_together": comparison.verdicts,
            "level_wanted": comparison.level if comparison.verdicts else None,
            "paired": comparison.paired,
            "exit_code": exit_code(comparison, strict),
            "base": _side(comparison.base),
            "comparisons": [_pairing(comparison, pairing) for pairing in comparison.pairings],
            "skipped_files": list(comparison.skipped),
        }
    )


def as_csv(comparison: Comparison) -> str:
    """A line of names, then one for each case and each side that is compared with base."""
    rows = list(_flat(comparison))
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(_FIELDS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


def unit(metric: Metric) -> str:
    """Of a metric's figures."""
    return "bytes" if metric == "memory" else "ns"


def _side(side: Side) -> dict[str, Any]:
    machine: dict[str, Any] = msgspec.to_builtins(side.environment.machine)
    return {
        "name": side.name,
        "files": [str(source.path) for source in side.sources],
        "runs": [source.file.run.id for source in side.sources],
        "started_at": side.sources[-1].file.run.started_at,
        "states": sorted({source.file.run.state for source in side.sources}),
        "superseded_results": side.superseded,
        "machine": machine,
        "software": msgspec.to_builtins(side.environment.software),
    }


def _pairing(comparison: Comparison, pairing: Pairing) -> dict[str, Any]:
    score = pairing.score
    return {
        "new": _side(pairing.new),
        "same_machine": pairing.same_machine,
        "differences": [{"field": d.field, "base": d.base, "new": d.new} for d in pairing.differences],
        "geometric_mean_ratio": score.ratio if score else None,
        "geometric_mean_cases": score.cases if score else 0,
        "cases": [_row(row, comparison.metric) for row in pairing.rows],
    }


def _row(row: Row, metric: Metric) -> dict[str, Any]:
    verdict, ratio, live = row.verdict, row.ratio, row.live
    margin = verdict.margin if verdict else None
    return {
        "key": row.key,
        "state": row.state,
        "reason": row.reason,
        "verdict": verdict.outcome if verdict else None,
        "needs": verdict.needs if verdict else None,
        "within_noise": verdict.within_noise if verdict else None,
        "ratio": ratio.value if ratio else None,
        "ratio_low": ratio.low if ratio else None,
        "ratio_high": ratio.high if ratio else None,
        "interval_level": ratio.level if ratio and ratio.low is not None else None,
        "pairs": row.pairs,
        "not_a_verdict": {"ratio": live.value, "low": live.low, "high": live.high} if live else None,
        "margin": verdict.held_against if verdict else None,
        "margin_source": margin.source if margin else None,
        "margin_runs": margin.runs if margin else None,
        "limit_between_runs": margin.limit if margin and margin.runs else None,
        "base": _figures(row, metric, "base"),
        "new": _figures(row, metric, "new"),
        "warnings": [msgspec.to_builtins(note) for note in row.notes],
    }


def _figures(row: Row, metric: Metric, side: str) -> dict[str, Any] | None:
    result = row.base if side == "base" else row.new
    found = row.base_figures if side == "base" else row.new_figures
    if result is None:
        return None
    summary: dict[str, Any] = msgspec.to_builtins(result.summary)
    return {
        "key": result.key,
        "status": result.status,
        "reason": result.reason,
        f"median_{unit(metric)}": found.middle,
        "method": found.method,
        f"processes_{unit(metric)}": list(found.values),
        "summary": summary,
    }


_FIELDS = (
    "key", "new_file", "machine", "device", "same_machine", "state", "reason", "metric", "unit", "base",
    "new", "base_processes", "new_processes", "ratio", "ratio_low", "ratio_high", "interval_level", "verdict",
    "needs", "pairs", "margin", "margin_source", "base_status", "new_status", "new_items_per_second",
    "new_peak_bytes", "new_peak_method", "new_compile_ms", "warnings",
)  # fmt: skip


def _flat(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for pairing in comparison.pairings:
        machine = pairing.new.environment.machine
        for row in pairing.rows:
            whole = _row(row, comparison.metric)
            own = {name: whole[name] for name in _FIELDS if name in whole and name not in ("base", "new")}
            own |= {
                "new_file": pairing.new.name,
                "machine": machine.machine_id,
                "device": machine.device_kind,
                "same_machine": pairing.same_machine,
                "metric": comparison.metric,
                "unit": unit(comparison.metric),
                "base": row.base_figures.middle,
                "new": row.new_figures.middle,
                "base_processes": len(row.base_figures.values),
                "new_processes": len(row.new_figures.values),
                "base_status": row.base.status if row.base else None,
                "new_status": row.new.status if row.new else None,
                "warnings": " ".join(note.code for note in row.notes),
            }
            if row.new is not None:
                summary = row.new.summary
                own |= {
                    "new_items_per_second": summary.items_per_second,
                    "new_peak_bytes": summary.peak_bytes,
                    "new_peak_method": summary.peak_method,
                    "new_compile_ms": summary.compile_ms,
                }
            yield {name: clean(value) if isinstance(value, str) else value for name, value in own.items()}
