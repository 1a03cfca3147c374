"""`jaxmark ab`: when a verdict may be given while pairs still come in.

Whoever looks after every pair, and stops when he likes what he sees, is wrong far more often than
his level says. So there are three looks, after 8, 16 and 32 pairs, and each has a third of the
allowed error: level 1 - 0.05 / 3 / m for m cases. Then all intervals of all looks and cases hold
at once in 95% of comparisons, and a case may stop at the first look that gives it a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from suite.analysis.intervals import MOST_PROCESSES, Shift
from suite.analysis.signed_rank import centre_interval, pairs_needed, walsh_averages
from suite.analysis.stats import median
from suite.analysis.verdict import FAMILY_ERROR, Margin, Ratio, Verdict, outcome_of

LOOKS = (8, 16, 32)
"""Pairs after which a verdict may be given."""


class Look(NamedTuple):
    """A verdict, and the pairs that it was given after."""

    verdict: Verdict
    pairs: int

    @property
    def final(self) -> bool:
        """Whether further pairs have nothing to add."""
        return self.verdict.outcome != "inconclusive" or self.pairs == LOOKS[-1]


def level_at_a_look(cases: int) -> float:
    """The level of each interval when so many cases are looked at together."""
    return 1 - FAMILY_ERROR / len(LOOKS) / max(1, cases)


def next_look(pairs: int) -> int | None:
    """The first look after so many pairs; None after the last."""
    return next((look for look in LOOKS if look > pairs), None)


def latest_look(differences: Sequence[float], threshold: float, cases: int) -> Look | None:
    """What the looks so far say: the first verdict, else that the last of them was inconclusive.

    Args:
        differences: log of new over base for each pair, in the order of the pairs.
        threshold: a change that matters, as a fraction.
        cases: that are looked at together.

    Returns:
        None before the first look.
    """
    found = None
    for pairs in LOOKS:
        if len(differences) < pairs:
            break
        found = Look(judge(differences[:pairs], threshold, level_at_a_look(cases)), pairs)
        if found.final:
            break
    return found


def judge(differences: Sequence[float], threshold: float, level: float) -> Verdict:
    """Judges the differences of pairs by their signed-rank interval.

    Whole runs do not come into it: both halves of a pair share their minute. So the margin is the
    user's threshold, and no noise floor. `needs` of an inconclusive verdict counts pairs.
    """
    margin = Margin(threshold, "threshold")
    shift = centre_interval(differences, level)
    ratio = _ratio(differences, shift, level)
    if shift is None:
        return Verdict("inconclusive", ratio, margin, _at_a_look(pairs_needed(level)))
    outcome = outcome_of(shift, margin)
    needs = _needed(shift, threshold, len(differences)) if outcome == "inconclusive" else None
    return Verdict(outcome, ratio, margin, needs)


def live(differences: Sequence[float], cases: int) -> Ratio:
    """The estimate and interval of any number of pairs, one or more. Not for a verdict."""
    level = level_at_a_look(cases)
    return _ratio(differences, centre_interval(differences, level), level)


def _ratio(differences: Sequence[float], shift: Shift | None, level: float) -> Ratio:
    if shift is None:
        return Ratio(math.exp(median(walsh_averages(differences))), None, None, level)
    return Ratio(math.exp(shift.estimate), math.exp(shift.low), math.exp(shift.high), shift.level)


def _needed(shift: Shift, threshold: float, pairs: int) -> int | None:
    """Pairs at which the interval would be on one side of the threshold, were the estimate right."""
    room = abs(abs(shift.estimate) - math.log1p(threshold))
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    # An interval's width falls with the square root of the number of pairs.
    if reach * math.sqrt(pairs) > room * math.sqrt(MOST_PROCESSES):
        return None
    return _at_a_look(max(pairs + 1, math.ceil(pairs * (reach / room) ** 2)))


def _at_a_look(pairs: int) -> int:
    return next_look(pairs - 1) or pairs
