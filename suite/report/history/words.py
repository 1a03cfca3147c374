"""How a history's figures and changes are written, in every format."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from suite.analysis.changes import INTERVAL_LEVEL
from suite.analysis.history import Found, History, Run, Section, Series
from suite.analysis.metrics import Metric
from suite.analysis.verdict import Ratio
from suite.report import units
from suite.report.comparing import words
from suite.report.rows import labels

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 24
"""Characters of a sparkline."""
# A span below which a line stays flat: otherwise noise would fill the height as a change does.
_LEAST_SPAN = math.log(1.2)


@dataclass(frozen=True)
class Moment:
    """The cases of a machine that changed at the same run, with the same change of software.

    Attributes:
        run: the first one after the change.
        found: each case's series and its change.
    """

    run: Run
    found: tuple[tuple[Series, Found], ...]

    @property
    def cause(self) -> str:
        """What changed in the software there."""
        first = self.found[0][1]
        if not first.differences:
            return "no recorded field of the software changed here"
        what = ", ".join(f"{d.field} {d.base} -> {d.new}" for d in first.differences)
        away = abs(first.runs_away)
        if not away:
            return what
        runs = units.counted(away, "run", "runs")
        return f"{runs} {'later' if first.runs_away > 0 else 'before'}: {what}"


def moments(section: Section) -> list[Moment]:
    """All changes of a machine, oldest first, those that belong together as one."""
    groups: dict[tuple[int, object], list[tuple[Series, Found]]] = {}
    for series in section.series:
        for found in series.changes:
            number = series.runs[found.change.at]
            groups.setdefault((number, (found.differences, found.runs_away)), []).append((series, found))
    ordered = sorted(groups.items(), key=lambda item: item[0][0])
    return [Moment(section.runs[number], tuple(found)) for (number, _), found in ordered]


def names(history: History) -> dict[str, str]:
    """A short name for each case, unique among them."""
    return labels(history.series)


def name(series: Series, short: dict[str, str]) -> str:
    """The case, and the method of memory."""
    return short[series.key] + (f" ({series.method})" if series.method else "")


def change(found: Found) -> str:
    """'+8.1% (+5.0 to +11.2)'."""
    low, high = (None if end is None else math.exp(end) for end in (found.change.low, found.change.high))
    return words.change(Ratio(math.exp(found.change.shift), low, high, INTERVAL_LEVEL))


def direction(found: Found) -> str:
    """Whether a change is for the better: less is, of every metric."""
    return "worse" if found.change.shift > 0 else "better"


def figure(value: float, metric: Metric) -> str:
    """With its unit."""
    return units.size(round(value)) if metric == "memory" else units.time_ns(value)


def levels(found: Found, metric: Metric) -> tuple[str, str]:
    """The typical run before a change and after it."""
    return figure(math.exp(found.change.before), metric), figure(math.exp(found.change.after), metric)


def when(started_at: str) -> str:
    """A time for people, to the minute."""
    return started_at.replace("T", " ")[:16]


def failures(series: Series) -> str:
    """'3 oom, 1 crashed'; empty without any."""
    return ", ".join(f"{count} {status}" for status, count in series.failures.items())


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """The values on a logarithmic scale, several to a character where there are many."""
    count = min(width, len(values))
    edges = [round(n * len(values) / count) for n in range(count + 1)]
    parts = [sorted(values[a:b]) for a, b in itertools.pairwise(edges)]
    logs = [math.log(part[len(part) // 2]) for part in parts]
    low, high = min(logs), max(logs)
    if high - low < _LEAST_SPAN:
        middle = (low + high) / 2
        low, high = middle - _LEAST_SPAN / 2, middle + _LEAST_SPAN / 2
    top = len(BLOCKS) - 1
    # The middle goes down, so that a flat line stays in one row whatever floats make of a half.
    heights = [math.floor((log - low) / (high - low) * top + 0.499) for log in logs]
    return "".join(BLOCKS[height] for height in heights)
