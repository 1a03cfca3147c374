"""`jaxmark history` as text: each machine's cases over time, and what changed when."""

from __future__ import annotations

from rich.console import Console

from suite.analysis.changes import FAMILY_ERROR, INTERVAL_LEVEL
from suite.analysis.history import NEARBY, History, Section, Series
from suite.analysis.metrics import NAMES
from suite.report import units
from suite.report.history import words
from suite.report.show import machine_name
from suite.report.text import Cell, Page

_STYLES = {"worse": "red", "better": "green"}
_SHOWN_SKIPPED = 10


def show_history(history: History, console: Console) -> None:
    """Prints a history; lines are drawn on a terminal that can, and left out in pipes."""
    page = Page(console)
    drawn = console.is_terminal and console.encoding.lower().startswith("utf")
    short = words.names(history)
    machines = units.counted(len(history.sections), "machine", "machines")
    page.line(f"History of {NAMES[history.metric]} on {machines}", style="bold")
    for section in history.sections:
        _section(page, history, section, short, drawn)
    if history.sections:
        page.heading("How to read it")
        for text in legend(history):
            page.line(text, indent=2)
    else:
        page.line("There is no ordinary run in these files; a history is one of `jaxmark run`.")
    if history.skipped:
        page.heading(f"Skipped files ({len(history.skipped)})")
        for reason in history.skipped[:_SHOWN_SKIPPED]:
            page.line(reason, style="yellow", indent=2)
        if len(history.skipped) > _SHOWN_SKIPPED:
            page.line(f"and {len(history.skipped) - _SHOWN_SKIPPED} more; --format json has all", indent=2)


def heading(section: Section) -> str:
    """The machine, its runs and their time."""
    runs = section.runs
    span = words.when(runs[0].started_at)
    if len(runs) > 1:
        span += f" to {words.when(runs[-1].started_at)}"
    machine = f"{machine_name(section.machine)}, machine {section.machine.machine_id}"
    return f"{machine}: {units.counted(len(runs), 'run', 'runs')}, {span} UTC"


def _section(page: Page, history: History, section: Section, short: dict[str, str], drawn: bool) -> None:
    page.heading(heading(section))
    header = ["case", "runs", "first", "last", "changes", *(["over time"] if drawn else []), "failed"]
    table = [_cells(series, history, short, drawn) for series in section.series]
    if not any(series.failures for series in section.series):
        header, table = header[:-1], [row[:-1] for row in table]
    page.table(header, table, left=(0, 5, 6) if drawn else (0, 5))
    for moment in words.moments(section):
        page.line("")
        page.line(
            f"Changed with the run of {words.when(moment.run.started_at)} UTC: {moment.cause}", style="bold"
        )
        rows: list[list[Cell]] = []
        for series, found in moment.found:
            before, after = words.levels(found, history.metric)
            said = words.direction(found)
            rows.append(
                [words.name(series, short), before, after, words.change(found), (said, _STYLES[said])]
            )
        page.table(("case", "before", "after", "change (interval)", ""), rows, left=(0, 4), indent=2)


def _cells(series: Series, history: History, short: dict[str, str], drawn: bool) -> list[Cell]:
    values = series.values
    first, last = (words.figure(values[n], history.metric) if values else "-" for n in (0, -1))
    line = [words.sparkline(values) if values else ""] if drawn else []
    counts = str(len(values)), first, last, str(len(series.changes) or "-")
    return [words.name(series, short), *counts, *line, words.failures(series)]


def legend(history: History) -> list[str]:
    """What the figures are, and what counts as a change."""
    count = sum(bool(series.values) for series in history.series)
    series = units.counted(count, "series", "series")
    return [
        "Each run counts once, with the median over its processes. Cases with another batch, precision, "
        "version, ... are series of their own, as are other machines.",
        f"Changes: rank tests over runs, {series} together: where nothing changed and runs do not depend on "
        f"each other, at most {FAMILY_ERROR:.0%} of such histories show one. Changes below "
        f"{history.threshold * 100:.3g}% are not shown (--threshold).",
        f"Interval: of {INTERVAL_LEVEL:.0%}, Hodges-Lehmann over the nearest runs on both sides. The run is "
        f"located to about {NEARBY}; software that changed so near is named.",
    ]
