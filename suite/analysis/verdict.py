"""From two samples of processes and a margin to a verdict, or to what would settle it.

The interval of the ratio is compared with the margin on both sides of 1:

    regressed     the whole interval is above 1 + margin
    improved      the whole interval is below 1 / (1 + margin)
    equivalent    the whole interval is between the two
    inconclusive  anything else, and too few processes for an interval

The interval's level is 1 - 0.05 / m for m verdicts given together, so that all m intervals hold
at once in 95% of comparisons, and interval and verdict never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    """

    fraction: float
    source: Literal["threshold", "measured", "assumed"]
    runs: int | None = None


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
        needs: processes a side that would settle an inconclusive one if they are like these;
            None where it is settled, or where more than 1,000 would not.
    """

    outcome: Outcome
    ratio: Ratio
    needs: int | None = None


def level_for(verdicts: int) -> float:
    """The level of each interval when so many verdicts are given together."""
    return 1 - FAMILY_ERROR / max(1, verdicts)


def margin_for(threshold: float, floor: float | None, runs: int | None, platform: str) -> Margin:
    """The larger of the user's threshold and the noise floor, measured or assumed.

    Args:
        threshold: the user's, as a fraction.
        floor: measured for this machine and case, as a fraction; None if nobody measured it.
        runs: that the floor stands on.
        platform: 'cpu', 'cuda', ...; decides what is assumed.
    """
    if floor is None:
        assumed = ASSUMED.get(platform, ASSUMED_OTHERWISE)
        return Margin(max(threshold, assumed), "threshold" if threshold > assumed else "assumed")
    return Margin(threshold, "threshold", runs) if threshold >= floor else Margin(floor, "measured", runs)


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


def judge(base: Sequence[float], new: Sequence[float], margin: float, level: float) -> Verdict:
    """Judges `new` against `base`.

    Args:
        base: the logarithm of a figure for each process; at least one.
        new: likewise.
        margin: as a fraction.
        level: of the interval.
    """
    ratio = ratio_of(base, new, level)
    shift = _shift(base, new, level)
    if shift is None:
        return Verdict("inconclusive", ratio, processes_needed(level))
    outcome = _outcome(shift, math.log1p(margin))
    if outcome != "inconclusive":
        return Verdict(outcome, ratio)
    return Verdict(outcome, ratio, _needed(shift, math.log1p(margin), len(base), len(new), level))


def _shift(base: Sequence[float], new: Sequence[float], level: float) -> Shift | None:
    return shift_interval(base, new, level) if min(len(base), len(new)) >= LEAST_PROCESSES else None


def _outcome(shift: Shift, margin: float) -> Outcome:
    if shift.low > margin:
        return "regressed"
    if shift.high < -margin:
        return "improved"
    return "equivalent" if -margin <= shift.low and shift.high <= margin else "inconclusive"


def _needed(shift: Shift, margin: float, base: int, new: int, level: float) -> int | None:
    """Processes a side at which the interval no longer reaches the margin, were the estimate right.

    An interval's width falls with the square root of their number.
    """
    room = abs(abs(shift.estimate) - margin)
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    now = 2 * base * new / (base + new)  # as many on both sides say as much
    if reach * math.sqrt(now) > room * math.sqrt(MOST_PROCESSES):
        return None
    return max(processes_needed(level), math.floor(now) + 1, math.ceil(now * (reach / room) ** 2))
