"""`jaxmark run --dry-run`: what would be measured, and about how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from suite.report import units
from suite.report.text import Page
from suite.spec.durations import format_duration


@dataclass(frozen=True)
class PlannedCase:
    """A case that would run.

    Attributes:
        processes: how many of its processes are still to run.
        expected_s: seconds that each may take, an estimate; None where unknown.
    """

    key: str
    processes: int
    expected_s: float | None


def total_seconds(cases: Sequence[PlannedCase]) -> tuple[float, int]:
    """Expected seconds of all processes with an estimate, and how many cases have none."""
    known = [case.processes * case.expected_s for case in cases if case.expected_s is not None]
    return sum(known), len(cases) - len(known)


def in_words(cases: Sequence[PlannedCase], budget_s: float | None) -> str:
    """'about 12 min, an estimate; the budget ends it after 5 min', on one line."""
    seconds, unknown = total_seconds(cases)
    if unknown == len(cases):
        text = "unknown time"
    else:
        text = f"about {format_duration(seconds)}, an estimate"
        cases_unknown = units.counted(unknown, "case", "cases")
        text += f", and {cases_unknown} of unknown cost" if unknown else ""
    if budget_s is not None and (unknown or seconds > budget_s):
        text += f"; the budget ends it after {format_duration(budget_s)}"
    return text


def show_plan(console: Console, cases: Sequence[PlannedCase], basis: str, budget_s: float | None) -> None:
    """Prints the cases with the expected seconds of a process, and of all.

    Args:
        console: where to.
        cases: in the order of the config.
        basis: what the estimates count with.
        budget_s: of the run, in seconds.
    """
    page = Page(console)
    rows = [
        (case.key, str(case.processes), "n/a" if case.expected_s is None else f"{case.expected_s:.1f}")
        for case in cases
    ]
    page.table(("case", "processes", "s/process (estimate)"), rows)
    console.print()
    count = units.counted(sum(case.processes for case in cases), "process", "processes")
    page.line(f"{count}: {in_words(cases, budget_s)}.")
    page.line(
        "A process is taken to need 7 s to start and compile, then its passes at the step's time: "
        f"its FLOPs over {basis}. Nothing was run."
        if any(case.expected_s is not None for case in cases)
        else f"Without an estimate: {basis}. Nothing was run."
    )
