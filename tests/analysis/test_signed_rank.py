"""Centres of paired differences against SciPy and published examples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from suite.analysis.signed_rank import (
    centre_interval,
    highest_level,
    pairs_needed,
    signed_rank_counts,
    walsh_averages,
)

# Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: Hamilton depression scale before and
# after a tranquilliser. It is also the example of R's wilcox.test.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
CHANGES = [after - before for before, after in zip(BEFORE, AFTER, strict=True)]


def test_the_published_example() -> None:
    shift = centre_interval(CHANGES, 0.95)
    assert shift is not None
    # Their examples 3.3 and 3.4: -0.46, and (-0.786, -0.010) at 96.1%.
    assert shift.estimate == pytest.approx(-0.46, abs=1e-9)
    assert (shift.low, shift.high) == pytest.approx((-0.786, -0.010), abs=1e-9)
    assert shift.level == pytest.approx(1 - 2 * 10 / 512, abs=1e-12)
    # R prints V = 40, p-value = 0.01953 for the one-sided test of before against after.
    assert sum(signed_rank_counts(9)[40:]) / 2**9 == pytest.approx(0.01953125, abs=1e-12)


@pytest.mark.parametrize("pairs", [1, 2, 5, 8, 12, 16, 32])
def test_the_counts_are_scipys(pairs: int) -> None:
    counts = signed_rank_counts(pairs)
    top = pairs * (pairs + 1) // 2
    assert len(counts) == top + 1
    assert sum(counts) == 2**pairs
    for total in range(0, top + 1, max(1, top // 9)):
        signs = _signs(pairs, total)
        exact = scipy_stats.wilcoxon(signs, alternative="less", method="exact")
        assert sum(counts[: total + 1]) / 2**pairs == pytest.approx(exact.pvalue, abs=1e-9)


def _signs(pairs: int, total: int) -> np.ndarray:
    """Differences of sizes 1 to n whose positive ones add up to `total`."""
    left, values = total, []
    for rank in range(pairs, 0, -1):
        positive = rank <= left
        left -= rank * positive
        values.append(rank if positive else -rank)
    assert left == 0
    return np.array(values, dtype=float)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-3000, 3000), min_size=6, max_size=14, unique=True),
    st.sampled_from([0.9, 0.95, 0.98, 0.99]),
)
def test_the_interval_holds_the_centres_that_the_test_does_not_reject(
    values: list[int], level: float
) -> None:
    shift = centre_interval(values, level)
    if shift is None:
        assert highest_level(len(values)) < level
        return
    assert shift.low <= shift.estimate <= shift.high
    assert shift.level >= level
    for end, inside in ((shift.low, 1), (shift.high, -1)):
        # Walsh averages are halves of whole numbers: a quarter further is between two, without ties of zero.
        kept = np.array(values) - end - inside * 0.2
        dropped = np.array(values) - end + inside * 0.2
        assert _p(kept) > 1 - shift.level
        assert _p(dropped) <= 1 - shift.level + 1e-12


def _p(differences: np.ndarray) -> float:
    """By brute force over all signs, so that equal sizes are no matter."""
    sizes = scipy_stats.rankdata(np.abs(differences))
    if len(set(sizes)) == len(sizes):
        return float(scipy_stats.wilcoxon(differences, method="exact").pvalue)
    signs = np.array(list(itertools.product((0, 1), repeat=len(sizes))), dtype=float)
    sums, seen = signs @ sizes, sizes[differences > 0].sum()
    return min(1.0, 2 * min((sums <= seen + 1e-9).mean(), (sums >= seen - 1e-9).mean()))


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9))
def test_the_averages_are_those_of_all_pairs(values: list[float]) -> None:
    grid = np.add.outer(np.array(values), np.array(values)) / 2
    expected = np.sort(grid[np.tril_indices(len(values))])
    assert walsh_averages(values) == pytest.approx(expected.tolist(), abs=1e-9)


def test_equal_differences_have_an_interval_of_no_width() -> None:
    assert centre_interval([0.25] * 8, 0.95) == (0.25, 0.25, 0.25, pytest.approx(1 - 2 * 5 / 256))


def test_too_few_have_none() -> None:
    assert centre_interval([], 0.5) is None
    assert centre_interval([1.0] * 5, 0.9) is None
    assert centre_interval([1.0] * 6, 0.95) is not None
    assert centre_interval([1.0] * 8, 0.995) is None


@pytest.mark.parametrize(("cases", "needed"), [(1, 7), (2, 8), (3, 9), (50, 13)])
def test_how_many_pairs_so_many_cases_need_at_a_look(cases: int, needed: int) -> None:
    level = 1 - 0.05 / 3 / cases
    assert pairs_needed(level) == needed
    assert highest_level(needed) >= level
