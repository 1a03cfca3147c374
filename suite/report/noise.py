"""`jaxmark noise`: the floors of a machine, and what they stand on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from rich.console import Console

from suite.analysis.metrics import METRICS
from suite.analysis.noise import LEAST_RUNS, Noise, limit
from suite.record.environment import Machine
from suite.record.floors import Floor, FloorFile
from suite.report.rows import to_json
from suite.report.text import Page

NOISY = 0.25
"""A floor above it is that of a machine on which somebody else was busy."""

_TOGETHER = 10
_NAMES = {"step_time": "step time"}


def show_measured(noise: Noise, skipped: Sequence[str], path: Path, console: Console) -> None:
    """Prints floors that were just found, what they stand on, and what had no part in them."""
    page = Page(console)
    _machine(page, noise.machine)
    times = [source.file.run.started_at for source in noise.runs]
    page.line(f"{len(times)} runs over {_span(times[0], times[-1])}")
    page.line("")
    _table(page, noise.floors)
    if noise.left_out or skipped:
        page.heading("Left out")
        for text in (*noise.left_out, *skipped):
            page.line(text, style="yellow", indent=2)
    if noisy := sorted({floor.key for floor in noise.floors if _noisy(floor)}):
        page.heading("Too noisy for small changes")
        more = f" and {len(noisy) - 3} more" if len(noisy) > 3 else ""
        page.line(
            f"Whole runs of {', '.join(noisy[:3])}{more} differ by more than {NOISY:.0%} in step time by "
            "themselves. Close other programs, and measure the floor again.",
            style="yellow",
            indent=2,
        )
    _legend(page)
    page.line("")
    page.line(f"Kept for `jaxmark compare` in {path}")


def show_known(files: Sequence[FloorFile], folder: Path, console: Console) -> None:
    """Prints the floors kept for every machine."""
    page = Page(console)
    if not files:
        page.line(f"No noise floor is kept in {folder}.")
        page.line(f"Run a config {LEAST_RUNS} times or more at different times; then: jaxmark noise results/")
        return
    for number, file in enumerate(files):
        if number:
            page.line("")
        _machine(page, file.machine)
        _table(page, file.floors)
    _legend(page)


def as_json(files: Sequence[FloorFile]) -> str:
    """The floors of every machine, with the limits for one verdict and for ten."""
    return to_json(
        [
            {
                "machine": msgspec.to_builtins(file.machine),
                "floors": [
                    {
                        **msgspec.to_builtins(floor),
                        "limit_for_1": limit(floor, 1),
                        f"limit_for_{_TOGETHER}": limit(floor, _TOGETHER),
                    }
                    for floor in file.floors
                ],
            }
            for file in files
        ]
    )


def _machine(page: Page, machine: Machine) -> None:
    kind = machine.cpu_model if machine.platform == "cpu" else machine.device_kind
    page.line(f"Noise floors of {kind} ({machine.platform}), machine {machine.machine_id}", style="bold")


def _table(page: Page, floors: Sequence[Floor]) -> None:
    by_case: dict[str, dict[str, Floor]] = {}
    for floor in floors:
        by_case.setdefault(floor.key, {})[floor.metric] = floor
    metrics = [metric for metric in METRICS if any(metric in found for found in by_case.values())]
    header = [
        "case",
        "runs",
        *(_NAMES.get(metric, metric) for metric in metrics),
        "limit: 1",
        str(_TOGETHER),
    ]
    page.table(header, [[key, *_cells(found, metrics)] for key, found in by_case.items()])


def _cells(found: dict[str, Floor], metrics: Sequence[str]) -> Iterator[str]:
    first = next(iter(found.values()))
    yield str(first.runs)
    for metric in metrics:
        yield _percent(math.expm1(found[metric].p95)) if metric in found else "n/a"
    step = found.get("step_time", first)
    yield _percent(limit(step, 1))
    yield _percent(limit(step, _TOGETHER))


def _noisy(floor: Floor) -> bool:
    return floor.metric == "step_time" and math.expm1(floor.p95) > NOISY


def _percent(share: float) -> str:
    return f"{share * 100:.1f}%"


def _span(first: str, last: str) -> str:
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    hours = seconds / 3600
    return f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"


def _legend(page: Page) -> None:
    page.heading("How to read it")
    for text in (
        "The floor of a metric: the 95th percentile of |log ratio| between two whole runs.",
        f"limit: how far the step time must move at least for a verdict when 1 or {_TOGETHER} cases are "
        "judged together. More cases, and fewer runs, ask for more.",
        "A floor knows of nothing slower than the time between its first and its last run.",
    ):
        page.line(text, indent=2)
