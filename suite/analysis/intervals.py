"""How far one sample is shifted against another, with an exact interval; plain Python.

Two runs are two samples of processes, each process one figure on a log scale. The shift between
them is the Hodges-Lehmann estimate, the median of all pairwise differences; its interval is the
set of shifts that the two-sided Mann-Whitney test does not reject (Hollander and Wolfe,
Nonparametric Statistical Methods, sections 4.2 and 4.3). Neither asks what shape the
distributions have, and one wild process moves neither far.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

from suite.analysis.stats import median

LEAST_PROCESSES = 5
"""A side. Four could reach 95% for one case, and a single odd one would decide."""

MOST_PROCESSES = 1000
"""A side, beyond which nobody is told to measure more."""

# Above it the exact count takes over a second, and the normal approximation is good to four digits.
_EXACT_WORK = 2_000_000


class Shift(NamedTuple):
    """The estimate, both ends of its interval, and the interval's level, between 0 and 1."""

    estimate: float
    low: float
    high: float
    level: float


def hodges_lehmann(base: Sequence[float], new: Sequence[float]) -> float:
    """The median of all differences new - base.

    Raises:
        ValueError: a side is empty.
    """
    return median(_differences(base, new))


def shift_interval(base: Sequence[float], new: Sequence[float], level: float) -> Shift | None:
    """The shift of `new` against `base`, with the narrowest interval of `level` or more.

    With ties the interval covers more than its level says, never less.

    Args:
        base: a figure for each process; any order.
        new: likewise; as many or not.
        level: to reach, between 0 and 1.

    Returns:
        The shift and the interval's exact level; None when there are too few for `level`.
    """
    if not base or not new:
        return None
    rank, reached = _rank(len(base), len(new), level)
    if rank == 0:
        return None
    ordered = _differences(base, new)
    return Shift(median(ordered), ordered[rank - 1], ordered[-rank], reached)


def highest_level(base: int, new: int) -> float:
    """The level of the widest interval that so many processes can give: between the extremes."""
    return 1 - 2 / math.comb(base + new, new)


def processes_needed(level: float) -> int:
    """The fewest processes a side, as many on both, that can give an interval of `level`."""
    n = LEAST_PROCESSES
    while highest_level(n, n) < level:
        n += 1
    return n


def rank_sum_counts(base: int, new: int) -> tuple[int, ...]:
    """How many of the C(base + new, new) orders of two samples have U = 0, 1, 2, ...

    U counts the pairs in which the new value is the smaller one. Only the lower half of its
    range is given; the distribution is symmetric about base * new / 2. The counts are the
    coefficients of the Gaussian binomial, prod (1 - q^(base+i)) / (1 - q^i) for i = 1 to new.
    """
    return _counts(*sorted((base, new)))


@lru_cache(maxsize=256)
def _counts(small: int, large: int) -> tuple[int, ...]:
    top = small * large // 2
    counts = [1] + [0] * top
    for i in range(1, small + 1):
        for u in range(top, large + i - 1, -1):
            counts[u] -= counts[u - large - i]
        for u in range(i, top + 1):
            counts[u] += counts[u - i]
    return tuple(counts)


@lru_cache(maxsize=1024)
def _rank(base: int, new: int, level: float) -> tuple[int, float]:
    """Which smallest and largest difference end the interval, and its level; 0 if none will do.

    The k-th smallest to the k-th largest difference covers the shift with 1 - 2 P(U < k).
    """
    small, large = sorted((base, new))
    if small * small * large / 2 > _EXACT_WORK:
        return _approximate_rank(base, new, level)
    total = math.comb(base + new, new)
    found, reached = 0, 0.0
    for k, below in enumerate(itertools.accumulate(_counts(small, large)), start=1):
        covered = 1 - 2 * below / total
        if covered < level:
            break
        found, reached = k, covered
    return found, reached


def _approximate_rank(base: int, new: int, level: float) -> tuple[int, float]:
    """The same from the normal distribution with U's mean and variance, corrected for continuity."""
    deviation = math.sqrt(base * new * (base + new + 1) / 12)
    z = NormalDist().inv_cdf((1 + level) / 2)
    return max(0, math.floor(base * new / 2 - z * deviation - 0.5)), level


def _differences(base: Sequence[float], new: Sequence[float]) -> list[float]:
    return sorted(b - a for a in base for b in new)
