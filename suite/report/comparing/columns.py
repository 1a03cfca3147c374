"""The tables of a comparison of machines: a row for each case, a column for each machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from suite.analysis.compare import Comparison, Pairing, Row
from suite.analysis.metrics import NAMES, figures
from suite.analysis.sides import Side
from suite.record.schema import Result
from suite.report import units
from suite.report.comparing import words
from suite.report.show import METHODS

DISPATCH_MS = 1.0
"""The host's work to start a step takes tens to hundreds of microseconds."""

BEST = " *"
MAYBE_HOST = " ?"
NOT_AVAILABLE = "n/a"


@dataclass(frozen=True)
class Figure:
    """A figure in a row of the table; the best of a row is marked.

    Attributes:
        text: as it is printed.
        value: to find the best, higher is better; None where it does not compare.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True)
class At:
    """A case on one machine, beside base.

    Attributes:
        side: the machine.
        result: of the case there.
        base: the result of the case in base, if a ratio to it may be given.
        base_jaxlib: the compiler behind base.
    """

    side: Side
    result: Result
    base: Result | None
    base_jaxlib: str


@dataclass(frozen=True)
class Table:
    """A title, and for each case its key and a cell for each machine."""

    title: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]


FigureOf = Callable[[At], Figure]


def tables(comparison: Comparison, pairings: Sequence[Pairing]) -> Iterator[Table]:
    """Every table: the metric, ratios, items a second, memory by both accounts, compile time."""
    metric = comparison.metric
    if metric == "memory":
        yield Table("Peak memory", _rows(comparison, pairings, _memory))
        yield Table("Peak memory as a share of A's", tuple(_ratios(comparison, pairings)))
    else:
        yield Table(NAMES[metric].capitalize(), _rows(comparison, pairings, _metric(comparison)))
        yield Table("Speed-up over A", tuple(_ratios(comparison, pairings)))
    yield Table("Items a second", _rows(comparison, pairings, _items))
    if metric != "memory":
        yield Table("Peak memory", _rows(comparison, pairings, _memory))
    yield Table("Memory by the compiler's own account", _rows(comparison, pairings, _static))
    if metric != "compile":
        yield Table("Compile time", _rows(comparison, pairings, _compile))


def dispatch_bound(result: Result) -> bool:
    """Whether a step is so short that starting it may be what takes the time."""
    step = result.summary.step_time_ms
    return step is not None and step < DISPATCH_MS


def _rows(
    comparison: Comparison, pairings: Sequence[Pairing], figure_of: FigureOf
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    base = comparison.base
    sides = [base, *(pairing.new for pairing in pairings)]
    rows = []
    for key in dict.fromkeys(key for side in sides for key in side.results):
        found = [_figure(base, side, key, figure_of) for side in sides]
        rows.append((key, _marked(found)))
    return tuple(rows)


def _figure(base: Side, side: Side, key: str, figure_of: FigureOf) -> Figure:
    result = side.results.get(key)
    if result is None:
        return Figure("-")
    if result.status != "ok":
        return Figure(result.status)
    equal = side.environment.machine.device_count == base.environment.machine.device_count
    beside = base.results.get(key) if equal and side is not base else None
    if beside is not None and beside.status != "ok":
        beside = None
    found = figure_of(At(side, result, beside, base.environment.software.jaxlib or "unknown"))
    return found if equal else replace(found, value=None)


def _marked(found: Sequence[Figure]) -> tuple[str, ...]:
    values = {figure.value for figure in found if figure.value is not None}
    best = max(values) if len(values) > 1 else None
    return tuple(f.text + BEST if best is not None and f.value == best else f.text for f in found)


def _metric(comparison: Comparison) -> FigureOf:
    def figure_of(at: At) -> Figure:
        found = figures(at.result, comparison.metric)
        if found.middle is None:
            return Figure(NOT_AVAILABLE)
        mark = MAYBE_HOST if comparison.metric != "compile" and dispatch_bound(at.result) else ""
        return Figure(words.figure(found, comparison.metric) + mark, -found.middle)

    return figure_of


def _items(at: At) -> Figure:
    rate, work = at.result.summary.items_per_second, at.result.work
    if rate is None:
        return Figure(NOT_AVAILABLE)
    return Figure(f"{units.count(rate)} {(work.item if work else None) or ''}".rstrip(), rate)


def _memory(at: At) -> Figure:
    peak, method = at.result.summary.peak_bytes, at.result.summary.peak_method
    if peak is None or method is None:
        return Figure(NOT_AVAILABLE)
    base = at.base.summary if at.base else None
    share = _share(peak, base.peak_bytes) if base and base.peak_method == method else ""
    return Figure(f"{units.size(peak)} {METHODS[method][0]}{share}")


def _static(at: At) -> Figure:
    total = _static_bytes(at.result)
    if total is None:
        return Figure(NOT_AVAILABLE)
    equal = at.base is not None and at.side.environment.software.jaxlib == at.base_jaxlib
    return Figure(units.size(total) + _share(total, _static_bytes(at.base) if equal and at.base else None))


def _static_bytes(result: Result) -> int | None:
    totals = [p.memory.static.total_bytes for p in result.processes if p.memory.static is not None]
    return max(totals, default=None)


def _share(value: int, base: int | None) -> str:
    return f" {units.significant(value / base)}x" if base else ""


def _compile(at: At) -> Figure:
    middle = figures(at.result, "compile").middle
    return Figure(NOT_AVAILABLE) if middle is None else Figure(units.time_ns(middle), -middle)


def _ratios(comparison: Comparison, pairings: Sequence[Pairing]) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = [{row.key: row for row in pairing.rows} for pairing in pairings]
    for key in dict.fromkeys(key for rows in found for key in rows):
        base = "1" if key in comparison.base.results else "-"
        yield key, (base, *(_ratio(rows.get(key), comparison) for rows in found))


def _ratio(row: Row | None, comparison: Comparison) -> str:
    if row is None:
        return "-"
    if row.ratio is None:
        return words.gap(row)
    return words.times(row.ratio if comparison.metric == "memory" else words.speed_up(row.ratio))
