"""How far the two halves of pairs are apart, with an exact interval; plain Python.

Each pair is one difference, on a log scale. Its centre is estimated by the median of the Walsh
averages, (d_i + d_j) / 2 for i <= j: the Hodges-Lehmann estimate of a paired design. The interval
is the set of centres that the two-sided Wilcoxon signed-rank test does not reject (Hollander and
Wolfe, Nonparametric Statistical Methods, sections 3.2 and 3.3). The test asks that differences
are as likely to lie so far above their centre as below, which a random order within each pair
gives to pairs of the same thing, whatever their distribution.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

from suite.analysis.intervals import Shift
from suite.analysis.stats import median

LEAST_PAIRS = 6
"""Five could not reach 95% for one case."""


def walsh_averages(differences: Sequence[float]) -> list[float]:
    """Every (d_i + d_j) / 2 for i <= j, in order of size."""
    return sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(differences, 2))


def centre_interval(differences: Sequence[float], level: float) -> Shift | None:
    """The centre of the differences, with the narrowest interval of `level` or more.

    With ties the interval covers more than its level says, never less.

    Args:
        differences: one for each pair; any order.
        level: to reach, between 0 and 1.

    Returns:
        The centre and the interval's exact level; None when there are too few for `level`.
    """
    n = len(differences)
    if n < LEAST_PAIRS:
        return None
    rank, reached = _rank(n, level)
    if rank == 0:
        return None
    averages = walsh_averages(differences)
    return Shift(median(averages), averages[rank - 1], averages[-rank], reached)


def highest_level(pairs: int) -> float:
    """The level of the widest interval that so many pairs can give: between the extremes."""
    return 1 - 2.0 ** (1 - pairs)


def pairs_needed(level: float) -> int:
    """The fewest pairs that can give an interval of `level`."""
    n = LEAST_PAIRS
    while highest_level(n) < level:
        n += 1
    return n


@lru_cache(maxsize=64)
def signed_rank_counts(pairs: int) -> tuple[int, ...]:
    """How many of the 2^n signs of n ranks have a sum T+ of 0, 1, 2, ..., n (n + 1) / 2.

    The counts are the coefficients of prod (1 + q^i) for i = 1 to n.
    """
    counts = [1] + [0] * (pairs * (pairs + 1) // 2)
    for rank in range(1, pairs + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    return tuple(counts)


@lru_cache(maxsize=256)
def _rank(pairs: int, level: float) -> tuple[int, float]:
    """Which smallest and largest Walsh average end the interval, and its level; 0 if none will do.

    The k-th smallest to the k-th largest average covers the centre with 1 - 2 P(T+ < k).
    """
    found, reached = 0, 0.0
    for k, below in enumerate(itertools.accumulate(signed_rank_counts(pairs)), start=1):
        covered = 1 - 2 * below / 2**pairs
        if covered < level:
            break
        found, reached = k, covered
    return found, reached
