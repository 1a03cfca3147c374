"""Forecasts beside a run: `jaxmark show RUN.json --forecast FILE`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from suite.analysis.beside import Beside
from suite.report import units
from suite.report.rows import labels
from suite.report.text import Page


def show_beside(rows: Sequence[Beside], console: Console) -> None:
    """Prints what was measured beside what was forecast of the same case.

    Args:
        rows: from `suite.analysis.beside.beside`; may be none.
        console: where to.
    """
    page = Page(console)
    page.heading("Beside forecasts of the same cases")
    if not rows:
        page.line("No forecast is of a case of this run: every part of the key must be equal.", indent=2)
        return
    names = labels(list({row.result.key: row.result for row in rows}.values()))
    page.table(
        ("case", "chip", "measured", "bound", "share or gain", "peak here", "needs there"),
        [[names[row.result.key], *_cells(row)] for row in rows],
        left=(0, 1),
        indent=2,
    )
    page.line(
        "'bound' is the least time that a step can take on that chip. Share: of the bound, achieved on the "
        "same device. Gain: how many times faster than here the chip can be, at most. 'needs there' is the "
        "compiler's total, 'peak here' was measured by the method that the table above names.",
        indent=2,
    )


def row(each: Beside) -> dict[str, Any]:
    """One flat row for scripts; bytes and seconds."""
    return {
        "key": each.result.key,
        "target": each.forecast.target,
        "same_device": each.same_device,
        "measured_s": each.measured_s,
        "bound_s": None if each.bound is None else each.bound.seconds,
        "binds": None if each.bound is None else each.bound.binds,
        "share_of_bound": each.achieved,
        "times_faster_at_most": each.faster_at_most,
        "measured_peak_bytes": each.result.summary.peak_bytes,
        "needed_bytes": each.forecast.needed_bytes,
        "forecast_status": each.forecast.status,
    }


def _cells(each: Beside) -> list[str]:
    measured, bound = each.measured_s, each.bound
    gain = "n/a"
    if each.achieved is not None:
        gain = f"{each.achieved:.0%}"
    elif each.faster_at_most is not None:
        gain = f"<= {units.significant(each.faster_at_most)}x"
    peak, needed = each.result.summary.peak_bytes, each.forecast.needed_bytes
    needs = "n/a" if needed is None else units.size(needed)
    if each.forecast.status != "ok":
        needs += f" ({each.forecast.status.replace('_', ' ')})"
    return [
        each.forecast.target,
        "n/a" if measured is None else units.time_ms(measured * 1e3),
        "n/a" if bound is None else f">= {units.time_ms(bound.seconds * 1e3)}",
        gain,
        "n/a" if peak is None else units.size(peak),
        needs,
    ]
