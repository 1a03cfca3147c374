"""A history for scripts: JSON with everything, CSV with a line for each case and run."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from suite.analysis.history import Found, History, Section, Series
from suite.report.comparing.data import unit
from suite.report.rows import to_json
from suite.report.text import clean


def as_json(history: History) -> str:
    """The whole history; units stand in the names, and what is not known is null."""
    return to_json(
        {
            "metric": history.metric,
            "unit": unit(history.metric),
            "threshold": history.threshold,
            "machines": [_section(section, history) for section in history.sections],
            "skipped_files": list(history.skipped),
        }
    )


def _section(section: Section, history: History) -> dict[str, Any]:
    machine: dict[str, Any] = msgspec.to_builtins(section.machine)
    return {
        "machine": machine,
        "runs": [
            {"id": run.id, "file": clean(run.path), "started_at": run.started_at, "state": run.state}
            for run in section.runs
        ],
        "cases": [_series(series, section, history) for series in section.series],
    }


def _series(series: Series, section: Section, history: History) -> dict[str, Any]:
    return {
        "key": series.key,
        "method": series.method,
        "runs": list(series.runs),
        f"medians_{unit(history.metric)}": list(series.values),
        "failures": dict(series.failures),
        "changes": [_change(found, series, section, history) for found in series.changes],
    }


def _change(found: Found, series: Series, section: Section, history: History) -> dict[str, Any]:
    change = found.change
    number = series.runs[change.at]
    return {
        "run": number,
        "id": section.runs[number].id,
        "started_at": section.runs[number].started_at,
        "ratio": math.exp(change.shift),
        "ratio_low": None if change.low is None else math.exp(change.low),
        "ratio_high": None if change.high is None else math.exp(change.high),
        f"before_{unit(history.metric)}": math.exp(change.before),
        f"after_{unit(history.metric)}": math.exp(change.after),
        "differences": [{"field": d.field, "before": d.base, "after": d.new} for d in found.differences],
        "differences_runs_away": found.runs_away if found.differences else None,
    }


_FIELDS = (
    "machine", "device", "key", "method", "run", "file", "started_at", "metric", "unit", "median",
    "change_ratio", "change_low", "change_high", "software_changes",
)  # fmt: skip


def as_csv(history: History) -> str:
    """A line of names, then one for each case and run; a change stands at the first run after it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(_FIELDS), lineterminator="\n")
    writer.writeheader()
    for section in history.sections:
        for series in section.series:
            writer.writerows(_lines(series, section, history))
    return text.getvalue().rstrip("\n")


def _lines(series: Series, section: Section, history: History) -> Iterator[dict[str, Any]]:
    changes = {found.change.at: found for found in series.changes}
    for at, (number, value) in enumerate(zip(series.runs, series.values, strict=True)):
        run = section.runs[number]
        line: dict[str, Any] = {
            "machine": clean(section.machine.machine_id),
            "device": clean(section.machine.device_kind),
            "key": clean(series.key),
            "method": series.method,
            "run": clean(run.id),
            "file": clean(run.path),
            "started_at": clean(run.started_at),
            "metric": history.metric,
            "unit": unit(history.metric),
            "median": value,
        }
        if (found := changes.get(at)) is not None:
            change = found.change
            line |= {
                "change_ratio": math.exp(change.shift),
                "change_low": None if change.low is None else math.exp(change.low),
                "change_high": None if change.high is None else math.exp(change.high),
                "software_changes": clean(
                    "; ".join(f"{d.field}: {d.base} -> {d.new}" for d in found.differences)
                ),
            }
        yield line
