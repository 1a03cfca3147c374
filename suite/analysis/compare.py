"""`jaxmark compare`: which cases match, and what can be said of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from suite.analysis.conditions import weakens
from suite.analysis.identity import (
    Difference,
    case_differences,
    looks_alike,
    nearest_cases,
    same_machine,
    software_differences,
)
from suite.analysis.looks import level_at_a_look
from suite.analysis.metrics import NO_FIGURES, Figures, Metric, figures
from suite.analysis.sides import Gathered, Side
from suite.analysis.verdict import Margin, Ratio, Verdict, judge, level_for, ratio_of
from suite.errors import ConfigError
from suite.record.schema import Note, Result
from suite.spec.case import Case

State = Literal[
    "compared",
    "no_figure",  # measured, and the metric could not be had on a side
    "failed",  # on a side
    "missing",  # in new, or never measured on a side
    "not_comparable",  # the identities differ, or the methods
    "added",  # not in base
    "not_a_verdict",  # pairs that ended between two looks
]
MarginOf = Callable[[str, int], Margin]
"""(case key, verdicts given together) -> the margin on the base's machine."""

HARDWARE_LEVEL = 0.95
_UNSETTLED = ("no_figure", "added", "not_a_verdict")


@dataclass(frozen=True)
class Row:
    """One case on both sides.

    Attributes:
        case: of base; of new where base has none.
        state: whether it could be compared.
        reason: why not.
        base: its result; None where it is missing.
        new: likewise; for a case that is not comparable, that of its nearest match.
        base_figures: of the metric.
        new_figures: likewise.
        ratio: new over base, when compared.
        verdict: when compared on one machine.
        notes: what weakens it.
        pairs: that ratio and verdict stand on, or `live`; None where the sides are whole runs.
        live: new over base where pairs ended between two looks, which is no verdict.
    """

    case: Case
    state: State
    reason: str | None = None
    base: Result | None = None
    new: Result | None = None
    base_figures: Figures = NO_FIGURES
    new_figures: Figures = NO_FIGURES
    ratio: Ratio | None = None
    verdict: Verdict | None = None
    notes: tuple[Note, ...] = ()
    pairs: int | None = None
    live: Ratio | None = None

    @property
    def key(self) -> str:
        """Of the case."""
        return self.case.key


@dataclass(frozen=True)
class Score:
    """The geometric mean of the ratios of so many cases."""

    ratio: float
    cases: int


@dataclass(frozen=True)
class Pairing:
    """Base against one other side.

    Attributes:
        new: the other side.
        same_machine: verdicts are given on one machine only.
        differences: of software and settings.
        rows: the cases of base in their order, then those that only new has.
        alike: another machine, and only by its id.
    """

    new: Side
    same_machine: bool
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]
    alike: bool = False

    @property
    def compared(self) -> list[Row]:
        """The rows with a ratio."""
        return [row for row in self.rows if row.ratio is not None]

    @property
    def score(self) -> Score | None:
        """Over the cases that were compared; None without any."""
        logs = [math.log(row.ratio.value) for row in self.rows if row.ratio is not None]
        return Score(math.exp(math.fsum(logs) / len(logs)), len(logs)) if logs else None


@dataclass(frozen=True)
class Comparison:
    """Everything that the reports print.

    Attributes:
        base: what the others are compared with.
        metric: that is compared.
        threshold: the user's, as a fraction.
        verdicts: m, how many are given together; the level of each interval follows from it.
        pairings: base against each other side.
        skipped: files that could not be read, and why.
        paired: the processes ran in interleaved pairs, and were judged as such.
    """

    base: Side
    metric: Metric
    threshold: float
    verdicts: int
    pairings: tuple[Pairing, ...]
    skipped: tuple[str, ...] = ()
    paired: bool = False

    @property
    def level(self) -> float:
        """Wanted of the interval of each verdict."""
        return (level_at_a_look if self.paired else level_for)(self.verdicts)


def compare(gathered: Gathered, metric: Metric, threshold: float, margin_of: MarginOf) -> Comparison:
    """Compares the first side with each other.

    Args:
        gathered: two or more sides.
        metric: to compare.
        threshold: as a fraction.
        margin_of: the margin of a case on the base's machine.

    Raises:
        ConfigError: there is only one side.
    """
    if len(gathered.sides) < 2:
        only = gathered.sides[0]
        raise ConfigError(
            f"expected a base and at least one other run to compare it with, found only {only.name}. "
            "A folder or a glob counts as one side for each machine in it; name the files."
        )
    base, *others = gathered.sides
    pairings = [pair_up(base, new, metric) for new in others]
    verdicts = sum(len(pairing.compared) for pairing in pairings if pairing.same_machine)
    judged = [
        _judge(pairing, verdicts, margin_of) if pairing.same_machine else pairing for pairing in pairings
    ]
    return Comparison(base, metric, threshold, verdicts, tuple(judged), gathered.skipped)


def exit_code(comparison: Comparison, strict: bool) -> int:
    """0 fine; 1 a regression or a failed case; 3 nothing comparable; 4 inconclusive, if strict.

    On different machines there is no verdict, and a failure on one of them is information.
    """
    if not any(row.base and row.new and row.base.key == row.new.key for row in _rows(comparison)):
        return 3
    gated = [row for p in comparison.pairings if p.same_machine for row in p.rows]
    outcomes = [row.verdict.outcome for row in gated if row.verdict is not None]
    bad = {"failed", "missing", "not_comparable"}
    if "regressed" in outcomes or any(row.state in bad for row in gated):
        return 1
    if not any(row.ratio or row.live for row in _rows(comparison)):
        return 3
    unsettled = "inconclusive" in outcomes or any(row.state in _UNSETTLED for row in gated)
    return 4 if strict and unsettled else 0


def _rows(comparison: Comparison) -> list[Row]:
    return [row for pairing in comparison.pairings for row in pairing.rows]


def pair_up(base: Side, new: Side, metric: Metric) -> Pairing:
    """Which cases match, with the ratio of those that can be compared, and no verdict yet."""
    machines = base.environment.machine, new.environment.machine
    same = same_machine(*machines)
    counts = tuple(machine.device_count for machine in machines)
    rows = [
        _row(result, new.results[key], metric) for key, result in base.results.items() if key in new.results
    ]
    if counts[0] != counts[1]:
        why = f"device count {counts[0]} against {counts[1]}"
        rows = [_without_ratio(row, why) for row in rows]
    rows += _unmatched(base, new)
    order = {key: number for number, key in enumerate(base.results)}
    rows.sort(key=lambda row: order.get(row.key, len(order)))
    cores = machines[0].cpu_cores_available
    rows = [_with_notes(row, metric, cores) if same else row for row in rows]
    files = [[source.file for source in side.sources] for side in (base, new)]
    return Pairing(
        new=new,
        same_machine=same,
        differences=tuple(software_differences(*files)),
        rows=tuple(rows),
        alike=not same and looks_alike(*machines),
    )


def _row(base: Result, new: Result, metric: Metric) -> Row:
    row = Row(base.case, "compared", None, base, new, figures(base, metric), figures(new, metric))
    for side, result in (("base", base), ("new", new)):
        if result.status != "ok":
            state: State = "missing" if result.status == "skipped" else "failed"
            return replace(
                row, state=state, reason=f"{side} {result.status}: {result.reason or 'no reason given'}"
            )
    for side, found in (("base", row.base_figures), ("new", row.new_figures)):
        if not found.values:
            return replace(row, state="no_figure", reason=f"{side}: {found.reason}")
    methods = row.base_figures.method, row.new_figures.method
    if methods[0] != methods[1]:
        return replace(row, state="not_comparable", reason=f"memory method {methods[0]} against {methods[1]}")
    return replace(row, ratio=ratio_of(row.base_figures.logs, row.new_figures.logs, HARDWARE_LEVEL))


def _without_ratio(row: Row, reason: str) -> Row:
    return replace(row, state="not_comparable", reason=reason, ratio=None) if row.ratio else row


def _unmatched(base: Side, new: Side) -> list[Row]:
    """Cases of one side only: the nearest of the other side says which field keeps them apart."""
    left = {key: result for key, result in base.results.items() if key not in new.results}
    right = {key: result for key, result in new.results.items() if key not in base.results}
    rows = []
    near = nearest_cases([r.case for r in left.values()], [r.case for r in right.values()])
    for one, other, differences in near:
        why = ", ".join(f"{d.field} {d.base} against {d.new}" for d in differences)
        rows.append(Row(one, "not_comparable", why, left.pop(one.key), right.pop(other.key)))
    rows += [Row(r.case, "missing", "not in new" + _hint(r.case, new), base=r) for r in left.values()]
    rows += [Row(r.case, "added", "not in base" + _hint(r.case, base), new=r) for r in right.values()]
    return rows


def _hint(case: Case, side: Side) -> str:
    """The nearest case of a side that has no equal of this one, if it has one of the workload at all."""
    others = [r.case for r in side.results.values() if r.case.workload == case.workload]
    if not others:
        return ""
    differences = min((case_differences(case, other) for other in others), key=len)
    return f"; its nearest differs in {', '.join(d.field for d in differences)}"


def _with_notes(row: Row, metric: Metric, cores: int | None) -> Row:
    if row.ratio is None or row.base is None or row.new is None:
        return row
    return replace(row, notes=tuple(weakens(row.base, row.new, metric, cores)))


def _judge(pairing: Pairing, verdicts: int, margin_of: MarginOf) -> Pairing:
    return replace(pairing, rows=tuple(_judged(row, verdicts, margin_of) for row in pairing.rows))


def _judged(row: Row, verdicts: int, margin_of: MarginOf) -> Row:
    if row.ratio is None:
        return row
    margin = margin_of(row.key, verdicts)
    base, new = row.base_figures.logs, row.new_figures.logs
    verdict = judge(base, new, margin, level_for(verdicts))
    return replace(row, ratio=verdict.ratio, verdict=verdict)


def side_letters(comparison: Comparison) -> Sequence[tuple[str, Side]]:
    """A letter for each side: A for base, then B, C, ..., Z, AA, AB, ..."""
    sides = [comparison.base, *(pairing.new for pairing in comparison.pairings)]
    return [(_letters(number), side) for number, side in enumerate(sides)]


def _letters(number: int) -> str:
    head, last = divmod(number, 26)
    return (_letters(head - 1) if head else "") + chr(ord("A") + last)
