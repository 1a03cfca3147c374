"""Where a series of runs changed its level: change points by rank tests, with a family-wise error.

At each place the runs before it are compared with those after it by the Mann-Whitney test, in
windows of three widths and over the whole stretch. Ranks ask for no shape of distribution, and
one wild run moves them little. A place counts when its exact two-sided probability is at most

    a = 0.05 / (series judged together * places * 4)

(Bonferroni over everything that is tried), so that of histories in which nothing happened at most
5% show any change. The clearest place splits the stretch, and each part is searched again: binary
segmentation, whose blindness to a change that is soon undone the windows cure. At the end every
change is tested once more between its neighbours, moved to where it is clearest, and dropped if
it does not hold any longer or is below the threshold.

Runs are taken to be exchangeable as long as nothing changes. A machine that drifts for weeks is
not like that; its drift shows as changes, which are real, if not of the software.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from suite.analysis.intervals import rank_sum_counts, shift_interval

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

FAMILY_ERROR = 0.05
INTERVAL_LEVEL = 0.95
NEAREST = 50
"""Runs on each side of a change that its size is taken from: the nearest say most of it."""

_TESTS = 4  # of each place: three windows, and the whole stretch
_WIDEST = 64
# From so many runs a side on, the normal approximation of the far tail is too large, never too small.
_LEAST_APPROXIMATE = 20


@dataclass(frozen=True)
class Change:
    """One change of level.

    Attributes:
        at: number of the first run after it.
        shift: of the logarithm, by Hodges-Lehmann between the nearest runs on both sides.
        low: lower end of its 95% interval; None where there are too few runs for one.
        high: upper end.
        before: median logarithm of the runs between the change before it and this one.
        after: likewise, up to the next change.
    """

    at: int
    shift: float
    low: float | None
    high: float | None
    before: float
    after: float


def find_changes(logs: Sequence[float], series: int, threshold: float) -> list[Change]:
    """The changes of level of one series, oldest first.

    Args:
        logs: logarithm of the figure of each run, oldest run first.
        series: judged together with this one, itself included.
        threshold: the least change that is worth telling, as a fraction.
    """
    values = np.asarray(logs, dtype=np.float64)
    if len(values) < 2:
        return []
    probability = FAMILY_ERROR / (max(1, series) * (len(values) - 1) * _TESTS)
    places = _split(values, 0, len(values), probability)
    places = _settled(values, places, probability, math.log1p(threshold))
    edges = [0, *places, len(values)]
    return [_change(values, *three) for three in zip(edges, edges[1:], edges[2:], strict=False)]


def _split(values: Floats, start: int, end: int, probability: float) -> list[int]:
    """Splits a stretch at its clearest place, and the parts again."""
    place = _clearest(values[start:end], probability)
    if place is None:
        return []
    middle = start + place
    return [
        *_split(values, start, middle, probability),
        middle,
        *_split(values, middle, end, probability),
    ]


def _settled(values: Floats, places: list[int], probability: float, least: float) -> list[int]:
    """Moves each change to where it is clearest between its neighbours; drops those that do not hold."""
    found = [0, *places, len(values)]
    for n in range(1, len(found) - 1):
        start, end = found[n - 1], found[n + 1]
        found[n] = start + int(np.argmax(_standardised(values[start:end]))) + 1
    while len(found) > 2:
        weakest, n = min(
            (abs(_shift(values, *three)), n)
            for n, three in enumerate(zip(found, found[1:], found[2:], strict=False), start=1)
        )
        doubtful = [
            n
            for n, (a, b, c) in enumerate(zip(found, found[1:], found[2:], strict=False), start=1)
            if not _differ(values[max(a, b - NEAREST) : b], values[b : min(c, b + NEAREST)], probability)
        ]
        if weakest >= least and not doubtful:
            break
        del found[n if weakest < least else doubtful[0]]
    return found[1:-1]


def _change(values: Floats, start: int, place: int, end: int) -> Change:
    before, after = _sides(values, start, place, end)
    interval = shift_interval(before, after, INTERVAL_LEVEL)
    return Change(
        at=place,
        shift=_shift(values, start, place, end),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        before=float(np.median(values[start:place])),
        after=float(np.median(values[place:end])),
    )


def _sides(values: Floats, start: int, place: int, end: int) -> tuple[list[float], list[float]]:
    before = values[max(start, place - NEAREST) : place].tolist()
    return before, values[place : min(end, place + NEAREST)].tolist()


def _shift(values: Floats, start: int, place: int, end: int) -> float:
    """The median of all differences between the runs nearest to a place."""
    before, after = _sides(values, start, place, end)
    return float(np.median(np.subtract.outer(after, before)))


def _differ(before: Floats, after: Floats, probability: float) -> bool:
    larger = int((after[:, None] >= before).sum())
    smaller = int((after[:, None] <= before).sum())
    most = _most_pairs(len(before), len(after), probability)
    return min(larger, smaller) <= most


def _clearest(values: Floats, probability: float) -> int | None:
    """The place of a stretch whose sides differ most; None where no test holds at `probability`."""
    n = len(values)
    best: tuple[float, int] | None = None
    for width in _windows(probability):
        before, after = np.minimum(np.arange(1, n), width), np.minimum(np.arange(n - 1, 0, -1), width)
        pairs = _pairs_against(values, width)
        clear = (before * after / 2 - pairs) / np.sqrt(before * after * (before + after + 1) / 12)
        clear[pairs > _most_pairs_at(before, after, probability)] = -math.inf
        best = max(filter(None, (best, _largest(clear))), default=None)
        if width >= n - 1:
            break
    if n >= 2 * _LEAST_APPROXIMATE:
        clear = _standardised(values)
        clear[: _LEAST_APPROXIMATE - 1] = clear[n - _LEAST_APPROXIMATE :] = -math.inf
        clear[clear < -NormalDist().inv_cdf(probability / 2)] = -math.inf
        best = max(filter(None, (best, _largest(clear))), default=None)
    return None if best is None else best[1]


def _largest(clear: Floats) -> tuple[float, int] | None:
    place = int(np.argmax(clear))
    return (float(clear[place]), place + 1) if math.isfinite(clear[place]) else None


def _windows(probability: float) -> Iterator[int]:
    """Three widths, the first just wide enough for two windows that do not overlap in value to count."""
    width = next(k for k in itertools.count(2) if 2 / math.comb(2 * k, k) <= probability) + 1
    yield from (width, min(2 * width, _WIDEST), min(4 * width, _WIDEST))


def _pairs_against(values: Floats, width: int) -> Integers:
    """At each place, in how many pairs the side that is higher in most is not the higher one.

    Ties count against it: so the probability that goes with it is too large, never too small.

    Returns:
        For the places 1 to n - 1, between up to `width` runs before and after them.
    """
    n = len(values)
    places = np.arange(1, n)
    all_pairs = np.minimum(places, width) * np.minimum(n - places, width)
    lower = _pairs_not_below(values, width)
    tied = len(np.unique(values)) < n
    return np.minimum(lower, _pairs_not_below(-values, width) if tied else all_pairs - lower)


def _pairs_not_below(values: Floats, width: int) -> Integers:
    """At each place, the pairs of a run before it and one after it in which the later is not the lower."""
    n = len(values)
    total = np.zeros(n - 1, dtype=np.int64)
    # Running sums with room on both sides, so that windows that reach beyond an end need no care.
    sums = np.zeros(n + 2 * width + 1, dtype=np.int64)
    for lag in range(1, min(2 * width, n)):
        end = width + 1 + n - lag
        np.cumsum(values[lag:] >= values[:-lag], out=sums[width + 1 : end])
        sums[end:] = sums[end - 1]
        # Of the pairs (i, i + lag), those around place t begin from i = t - min(width, lag) on, and up
        # to i = t - max(1, lag - width + 1).
        first, last = width + 1 - min(width, lag), width + 2 - max(1, lag - width + 1)
        total += sums[last : last + n - 1]
        total -= sums[first : first + n - 1]
    return total


def _standardised(values: Floats) -> Floats:
    """For each place from 1, |U - mean| / deviation of the runs before it against those after it."""
    n = len(values)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    places = np.arange(1, n)
    u = np.cumsum(ranks)[:-1] - places * (places + 1) / 2
    clear: Floats = np.abs(u - places * (n - places) / 2) / np.sqrt(places * (n - places) * (n + 1) / 12)
    return clear


@lru_cache(maxsize=100_000)
def _most_pairs(before: int, after: int, probability: float) -> int:
    """How many pairs may speak against a difference at this probability, two-sided; -1 for not one."""
    small, large = sorted((before, after))
    allowed = probability / 2 * math.comb(before + after, after)
    if allowed < 1:
        return -1
    if small >= _LEAST_APPROXIMATE:
        z = -NormalDist().inv_cdf(probability / 2)
        deviation = math.sqrt(before * after * (before + after + 1) / 12)
        return math.floor(before * after / 2 - z * deviation - 0.5)
    reached, most = 0, -1
    for most, count in enumerate(rank_sum_counts(small, large)):
        reached += count
        if reached > allowed:
            return most - 1
    return most


def _most_pairs_at(before: Integers, after: Integers, probability: float) -> Integers:
    """`_most_pairs` at each place; all but those near an end have the same."""
    widest = int(np.max(after)) + 1
    sizes, which = np.unique(before * widest + after, return_inverse=True)
    most = [_most_pairs(*divmod(size, widest), probability) for size in sizes.tolist()]
    return np.array(most, dtype=np.int64)[which]
