"""From two samples of processes and a margin to a verdict, or to what would settle it.

The interval of the ratio is compared with the margin on both sides of 1:

    regressed     the whole interval is above 1 + margin
    improved      the whole interval is below 1 / (1 + margin)
    equivalent    the whole interval is between the two, or nearer to 1 on a noisy machine
    inconclusive  anything else, and too few processes for an interval

The interval's level is 1 - 0.05 / m for m verdicts given together, so that all m intervals hold
at once in 95% of comparisons, and interval and verdict never disagree.

An interval over processes knows nothing of what differs between whole runs. Where that was
measured, the margin is at least the noise floor, and it grows until no estimate within the limit
that two whole runs of the same thing keep to, for m of them at once, has its interval beyond it.
A noisy machine makes changes harder to see, and nothing more equal: a floor above what would be
assumed of the platform does not widen what counts as equivalent.
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
Source = Literal["threshold", "measured", "assumed"]
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
        equivalent: within which two are called so, as a fraction; None for `fraction`.
    """

    fraction: float
    source: Source
    runs: int | None = None
    limit: float = 0.0
    equivalent: float | None = None


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
        margin: that it was held against, raised by the limit unless it is equivalent.
        needs: processes a side that would settle an inconclusive one if they are like these;
            None where it is settled, or where more than 1,000 would not.
        within_noise: inconclusive, and no number of processes would settle it: whole runs differ
            as much by themselves.
    """

    outcome: Outcome
    ratio: Ratio
    margin: Margin
    needs: int | None = None
    within_noise: bool = False

    @property
    def held_against(self) -> float:
        """What decided, as a fraction: the margin, or that within which two are equivalent."""
        return _equivalent(self.margin) if self.outcome == "equivalent" else self.margin.fraction


def level_for(verdicts: int) -> float:
    """The level of each interval when so many verdicts are given together."""
    return 1 - FAMILY_ERROR / max(1, verdicts)


def assumed_margin(threshold: float, platform: str) -> Margin:
    """The larger of the user's threshold and what is assumed of a platform that nobody measured."""
    assumed = ASSUMED.get(platform, ASSUMED_OTHERWISE)
    return Margin(max(threshold, assumed), "threshold" if threshold > assumed else "assumed")


def measured_margin(threshold: float, floor: float, limit: float, runs: int, platform: str) -> Margin:
    """The larger of the user's threshold and the noise floor of this machine and case.

    Args:
        threshold: the user's, as a fraction.
        floor: as a fraction.
        limit: see `Margin`.
        runs: that both stand on.
        platform: 'cpu', 'cuda', ...; decides how far a floor widens what is equivalent.
    """
    equivalent = max(threshold, min(floor, ASSUMED.get(platform, ASSUMED_OTHERWISE)))
    source: Source = "threshold" if threshold >= floor else "measured"
    return Margin(max(threshold, floor), source, runs, limit, equivalent)


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
    raised = _raised(margin, shift)
    outcome = outcome_of(shift, raised)
    if outcome == "equivalent":
        return Verdict(outcome, ratio, margin)
    if outcome != "inconclusive":
        return Verdict(outcome, ratio, raised)
    size = abs(shift.estimate)
    beyond = size > math.log1p(max(margin.limit, margin.fraction))
    within = size < math.log1p(_equivalent(margin))
    if not beyond and not within:
        return Verdict(outcome, ratio, raised, within_noise=True)
    room = abs(size - math.log1p(margin.fraction if beyond else _equivalent(margin)))
    return Verdict(outcome, ratio, raised, _needed(shift, room, len(base), len(new), level))


def _equivalent(margin: Margin) -> float:
    return margin.fraction if margin.equivalent is None else margin.equivalent


def _raised(margin: Margin, shift: Shift) -> Margin:
    """The margin beyond which the interval lies only if its estimate is beyond the limit."""
    within_limit = math.log1p(margin.limit) - _reach(shift)
    if within_limit <= math.log1p(margin.fraction):
        return margin
    return replace(
        margin, fraction=math.expm1(within_limit), source="measured", equivalent=_equivalent(margin)
    )


def _reach(shift: Shift) -> float:
    """From the estimate to the end of its interval that is nearer to no change."""
    return shift.estimate - shift.low if shift.estimate >= 0 else shift.high - shift.estimate


def _shift(base: Sequence[float], new: Sequence[float], level: float) -> Shift | None:
    return shift_interval(base, new, level) if min(len(base), len(new)) >= LEAST_PROCESSES else None


def outcome_of(shift: Shift, margin: Margin) -> Outcome:
    """Where an interval lies, held against a margin."""
    beyond, within = math.log1p(margin.fraction), math.log1p(_equivalent(margin))
    if shift.low > beyond:
        return "regressed"
    if shift.high < -beyond:
        return "improved"
    return "equivalent" if -within <= shift.low and shift.high <= within else "inconclusive"


def _needed(shift: Shift, room: float, base: int, new: int, level: float) -> int | None:
    """Processes a side at which the interval fits into `room`, were the estimate right.

    An interval's width falls with the square root of their number.
    """
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    now = 2 * base * new / (base + new)  # as many on both sides say as much
    if reach * math.sqrt(now) > room * math.sqrt(MOST_PROCESSES):
        return None
    return max(processes_needed(level), math.floor(now) + 1, math.ceil(now * (reach / room) ** 2))
