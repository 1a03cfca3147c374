"""The few statistics that one run needs, in plain Python so that `show` starts at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple


class Interval(NamedTuple):
    """A confidence interval and its exact level, between 0 and 1."""

    low: float
    high: float
    level: float


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle.

    Raises:
        ValueError: no values.
    """
    return percentile(values, 50.0)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which `percent` of the values lie, linear between neighbours.

    The rank is (n - 1) * percent / 100 from 0: definition 7 of Hyndman and Fan (1996), which is
    also NumPy's default.

    Raises:
        ValueError: no values, or `percent` outside 0 to 100.
    """
    if not values or not 0 <= percent <= 100:
        raise ValueError(f"expected values and a percent from 0 to 100, got {len(values)} values, {percent}")
    return percentile_of_sorted(sorted(values), percent)


def median_of_sorted(ordered: Sequence[float]) -> float:
    """`median` of values that are in order already, at least one."""
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def percentile_of_sorted(ordered: Sequence[float], percent: float) -> float:
    """`percentile` of values that are in order already, at least one."""
    below, above, part = _rank(len(ordered), percent)
    return ordered[below] * (1 - part) + ordered[above] * part


@lru_cache(maxsize=1024)
def _rank(count: int, percent: float) -> tuple[int, int, float]:
    """Between which two of so many values a percentile lies, and how far from the first."""
    rank = (count - 1) * percent / 100
    below = math.floor(rank)
    return below, min(below + 1, count - 1), rank - below


def median_interval(values: Sequence[float], level: float = 0.95) -> Interval | None:
    """The narrowest interval between order statistics that covers the median with `level` or more.

    The k-th smallest and k-th largest of n independent values enclose the median of their
    distribution, whatever its shape, with probability 1 - 2 P(Binomial(n, 1/2) < k) exactly
    (Conover, Practical Nonparametric Statistics, section 3.2). Even the extremes of 5 values
    reach only 93.75%, so 95% needs 6.

    Returns:
        The interval with its exact level; None when there are too few values for `level`.
    """
    n = len(values)
    ordered = sorted(values)
    best = None
    outside = 0
    for k in range(1, n // 2 + 1):
        outside += 2 * math.comb(n, k - 1)
        covered = 1 - outside / 2**n
        if covered < level:
            break
        best = Interval(ordered[k - 1], ordered[n - k], covered)
    return best


def autocorrelation(values: Sequence[float]) -> float | None:
    """Correlation of each value with the next, -1 to 1; None for fewer than 3 or constant values."""
    if len(values) < 3:
        return None
    mean = math.fsum(values) / len(values)
    deviations = [value - mean for value in values]
    variance = math.fsum(d * d for d in deviations)
    if variance == 0:
        return None
    return math.fsum(a * b for a, b in itertools.pairwise(deviations)) / variance


def drift(values: Sequence[float]) -> float | None:
    """How much larger the median of the second half is than that of the first, as a fraction.

    None for fewer than 4 values. The one in the middle of an odd number belongs to neither half.
    """
    half = len(values) // 2
    if half < 2:
        return None
    return median(values[-half:]) / median(values[:half]) - 1
