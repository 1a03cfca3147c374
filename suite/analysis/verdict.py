"""From two samples of processes and a margin to a verdict, or to what would settle it.

The interval of the ratio is compared with the margin on both sides of 1:

    regressed     the whole interval is above 1 + margin
    improved      the whole interval is below 1 / (1 + margin)
    equivalent    the whole interval is between the two
    inconclusive  anything else, and too few processes for an interval

The interval's level is 1 - 0.05 / m for m verdicts given together, so that all m intervals hold
at once in 95% of comparisons, and interval and verdict never disagree.

An interval over processes knows nothing of what differs between whole runs. Where that was
measured, the margin is at least the noise floor, and it grows until no estimate within the limit
that two whole runs of the same thing keep to, for m of them at once, has its interval beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from suite.analysis.intervals import (
    LEAST_PROCESSES,
    MOST_PROCESSES,
    Shift,
    hodges_lehmann,
    processes_needed,
    shift_interval,
)

Outcome = Literal["regressed", "improved", "equivalent", "inconclusive"]
FAMILY_ERROR = 0.05
ASSUMED = {"cpu": 0.10}
ASSUMED_OTHERWISE = 0.05


@dataclass(frozen=True)
class Margin:
    """How much a figure must change before it counts.

    Attributes:
        fraction: 0.05 for 5%.
        source: 'threshold' (the user's, which is the larger), 'measured' (the noise floor of this
            machine and case) or 'assumed' (no floor was measured).
        runs: that a measured floor stands on.
        limit: how far two whole runs of the same thing differ at most, as a fraction, for as many
            verdicts as are given together; 0 where no floor was measured.
    """

    fraction: float
    source: Literal["threshold", "measured", "assumed"]
    runs: int | None = None
    limit: float = 0.0


@dataclass(frozen=True)
class Ratio:
    """New over base, by Hodges-Lehmann over processes; above 1 is worse.

    Attributes:
        value: the estimate.
        low: lower end of its interval; None when there were too few processes for one.
        high: upper end.
        level: of the interval; without one, the level that was wanted.
    """

    value: float
    low: float | None
    high: float | None
    level: float


@dataclass(frozen=True)
class Verdict:
    """What can be said of one case.

    Attributes:
        outcome: the verdict.
        ratio: that it stands on.
        margin: that it was held against, with the limit in it.
        needs: processes a side that would settle an inconclusive one if they are like these;
            None where it is settled, or where more than 1,000 would not.
    """

    outcome: Outcome
    ratio: Ratio
    margin: Margin
    needs: int | None = None


def level_for(verdicts: int) -> float:
    """The level of each interval when so many verdicts are given together."""
    return 1 - FAMILY_ERROR / max(1, verdicts)


def assumed_margin(threshold: float, platform: str) -> Margin:
    """The larger of the user's threshold and what is assumed of a platform that nobody measured."""
    assumed = ASSUMED.get(platform, ASSUMED_OTHERWISE)
    return Margin(max(threshold, assumed), "threshold" if threshold > assumed else "assumed")


def measured_margin(threshold: float, floor: float, limit: float, runs: int) -> Margin:
    """The larger of the user's threshold and the noise floor of this machine and case.

    Args:
        threshold: the user's, as a fraction.
        floor: as a fraction.
        limit: see `Margin`.
        runs: that both stand on.
    """
    return Margin(max(threshold, floor), "threshold" if threshold >= floor else "measured", runs, limit)


def ratio_of(base: Sequence[float], new: Sequence[float], level: float) -> Ratio:
    """New over base, with an interval of `level` or more where there are processes enough for it.

    Args:
        base: the logarithm of a figure for each process; at least one.
        new: likewise.
        level: wanted of the interval.
    """
    shift = _shift(base, new, level)
    if shift is None:
        return Ratio(math.exp(hodges_lehmann(base, new)), None, None, level)
    return Ratio(math.exp(shift.estimate), math.exp(shift.low), math.exp(shift.high), shift.level)


def judge(base: Sequence[float], new: Sequence[float], margin: Margin, level: float) -> Verdict:
    """Judges `new` against `base`.

    Args:
        base: the logarithm of a figure for each process; at least one.
        new: likewise.
        margin: to hold the interval against.
        level: of the interval.
    """
    ratio = ratio_of(base, new, level)
    shift = _shift(base, new, level)
    if shift is None:
        return Verdict("inconclusive", ratio, margin, processes_needed(level))
    margin = _raised(margin, shift)
    outcome = _outcome(shift, math.log1p(margin.fraction))
    needs = _needed(shift, margin, len(base), len(new), level) if outcome == "inconclusive" else None
    return Verdict(outcome, ratio, margin, needs)


def _raised(margin: Margin, shift: Shift) -> Margin:
    """The margin beyond which the interval lies only if its estimate is beyond the limit."""
    within_limit = math.log1p(margin.limit) - _reach(shift)
    if within_limit <= math.log1p(margin.fraction):
        return margin
    return replace(margin, fraction=math.expm1(within_limit), source="measured")


def _reach(shift: Shift) -> float:
    """From the estimate to the end of its interval that is nearer to no change."""
    return shift.estimate - shift.low if shift.estimate >= 0 else shift.high - shift.estimate


def _shift(base: Sequence[float], new: Sequence[float], level: float) -> Shift | None:
    return shift_interval(base, new, level) if min(len(base), len(new)) >= LEAST_PROCESSES else None


def _outcome(shift: Shift, margin: float) -> Outcome:
    if shift.low > margin:
        return "regressed"
    if shift.high < -margin:
        return "improved"
    return "equivalent" if -margin <= shift.low and shift.high <= margin else "inconclusive"


def _needed(shift: Shift, margin: Margin, base: int, new: int, level: float) -> int | None:
    """Processes a side at which the interval no longer reaches the margin, were the estimate right.

    An interval's width falls with the square root of their number; as it does, the margin rises
    towards the limit.
    """
    size, limit = abs(shift.estimate), math.log1p(margin.limit)
    floor = math.log1p(margin.fraction)
    room = size - floor if size > max(limit, floor) else max(floor - size, (limit - size) / 2)
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    now = 2 * base * new / (base + new)  # as many on both sides say as much
    if reach * math.sqrt(now) > room * math.sqrt(MOST_PROCESSES):
        return None
    return max(processes_needed(level), math.floor(now) + 1, math.ceil(now * (reach / room) ** 2))
