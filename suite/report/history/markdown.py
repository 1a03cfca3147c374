"""`jaxmark history --format markdown`: for a page or a comment."""

from __future__ import annotations

from collections.abc import Iterator

from suite.analysis.history import History, Section
from suite.analysis.metrics import NAMES
from suite.report.comparing.markdown import text
from suite.report.history import words
from suite.report.history.text import heading, legend


def as_markdown(history: History) -> str:
    """The history as GitHub's Markdown; names from outside cannot make markup of their own."""
    return "\n".join(_lines(history))


def _lines(history: History) -> Iterator[str]:
    yield f"### jaxmark: history of {NAMES[history.metric]}"
    for section in history.sections:
        yield from _section(section, history)
    yield ""
    yield from (f"- {text(line)}" for line in legend(history))
    if history.skipped:
        yield ""
        yield f"Skipped files: {len(history.skipped)}"
        yield ""
        yield from (f"- {text(reason)}" for reason in history.skipped)


def _section(section: Section, history: History) -> Iterator[str]:
    short = words.names(history)
    yield ""
    yield f"**{text(heading(section))}**"
    yield ""
    yield "| case | runs | first | last | changes | failed |"
    yield "|---|--:|--:|--:|--:|---|"
    for series in section.series:
        first, last = (
            words.figure(series.values[n], history.metric) if series.values else "-" for n in (0, -1)
        )
        yield (
            f"| {text(words.name(series, short))} | {len(series.values)} | {first} | {last} "
            f"| {len(series.changes) or '-'} | {text(words.failures(series))} |"
        )
    for moment in words.moments(section):
        yield ""
        yield f"Changed with the run of {text(words.when(moment.run.started_at))} UTC: {text(moment.cause)}"
        yield ""
        yield "| case | before | after | change (interval) | |"
        yield "|---|--:|--:|--:|---|"
        for series, found in moment.found:
            before, after = words.levels(found, history.metric)
            sign = ":red_circle:" if words.direction(found) == "worse" else ":green_circle:"
            yield (
                f"| {text(words.name(series, short))} | {before} | {after} | {words.change(found)} "
                f"| {sign} {words.direction(found)} |"
            )
