"""Shifts and their intervals against SciPy and published examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from suite.analysis import student
from suite.analysis.intervals import (
    highest_level,
    hodges_lehmann,
    processes_needed,
    rank_sum_counts,
    shift_interval,
)

# Hollander and Wolfe, Nonparametric Statistical Methods, table 4.1: permeability of the human chorioamnion.
TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]


def test_the_published_example() -> None:
    shift = shift_interval(EARLY, TERM, 0.95)
    assert shift is not None
    assert shift.estimate == pytest.approx(0.305, abs=1e-9)
    assert (shift.low, shift.high) == pytest.approx((-0.15, 0.76), abs=1e-9)
    # P(U <= 7) is 60 of the 3,003 orders of 15 values.
    assert shift.level == pytest.approx(1 - 2 * 60 / 3003, abs=1e-12)
    below = rank_sum_counts(10, 5)
    # The published one-sided P(U >= 35) is 0.1272.
    assert round(sum(below[:16]) / math.comb(15, 5), 4) == 0.1272


@pytest.mark.parametrize(("base", "new"), [(1, 1), (2, 5), (5, 5), (7, 7), (6, 11), (20, 8), (25, 25)])
def test_the_counts_are_scipys(base: int, new: int) -> None:
    counts = rank_sum_counts(base, new)
    assert sum(counts) + sum(counts[: base * new - len(counts) + 1]) == math.comb(base + new, new)
    total = math.comb(base + new, new)
    for u in range(0, base * new // 2, max(1, base * new // 12)):
        # u pairs with the new value below: u of them for the smallest new value alone.
        x, y = _samples(base, new, u)
        exact = scipy_stats.mannwhitneyu(y, x, alternative="less", method="exact")
        assert sum(counts[: u + 1]) / total == pytest.approx(exact.pvalue, abs=1e-9)


def _samples(base: int, new: int, u: int) -> tuple[list[float], list[float]]:
    """Base and new values with U = u for new."""
    x = [float(n) for n in range(base)]
    whole, rest = divmod(u, base)
    y = [base + k - 0.25 for k in range(whole)]
    y += [rest - 0.5] if whole < new else []
    y += [-1.0 - k for k in range(new - len(y))]
    return x, y


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-1000, 1000), min_size=5, max_size=12, unique=True),
    st.lists(st.integers(-1000, 1000), min_size=5, max_size=12, unique=True),
    st.sampled_from([0.9, 0.95, 0.99, 0.995]),
)
def test_the_interval_holds_the_shifts_that_the_test_does_not_reject(
    base: list[int], new: list[int], level: float
) -> None:
    shift = shift_interval(base, new, level)
    if shift is None:
        assert highest_level(len(base), len(new)) < level
        return
    assert shift.low <= shift.estimate <= shift.high
    assert shift.level >= level
    for end, inside in ((shift.low, 1), (shift.high, -1)):
        # Differences are whole numbers: half of one further is between two of them, without ties.
        kept = np.array(new) - end - inside * 0.5
        dropped = np.array(new) - end + inside * 0.5
        assert scipy_stats.mannwhitneyu(kept, base, method="exact").pvalue > 1 - shift.level
        assert scipy_stats.mannwhitneyu(dropped, base, method="exact").pvalue <= 1 - shift.level + 1e-12


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.lists(st.floats(-5, 5), min_size=1, max_size=9))
def test_the_estimate_is_the_median_of_all_differences(base: list[float], new: list[float]) -> None:
    differences = np.subtract.outer(np.array(new), np.array(base))
    assert hodges_lehmann(base, new) == pytest.approx(np.median(differences), abs=1e-9)


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert shift_interval([2.0] * 5, [3.0] * 5, 0.95) == (1.0, 1.0, 1.0, pytest.approx(0.968, abs=1e-3))


def test_too_few_have_none() -> None:
    assert shift_interval([], [1.0], 0.95) is None
    assert shift_interval([1.0], [2.0], 0.95) is None
    assert shift_interval([1, 2, 3], [4, 5, 6], 0.95) is None
    assert shift_interval([1, 2, 3, 4], [5, 6, 7, 8], 0.95) is not None


@pytest.mark.parametrize(("cases", "needed"), [(1, 5), (6, 5), (7, 6), (23, 6), (24, 7), (85, 7), (86, 8)])
def test_how_many_processes_so_many_verdicts_need(cases: int, needed: int) -> None:
    level = 1 - 0.05 / cases
    assert processes_needed(level) == needed
    assert highest_level(needed, needed) >= level


def test_many_processes_use_the_normal_distribution_and_agree_with_the_count() -> None:
    rng = np.random.default_rng(0)
    base, new = rng.normal(0, 1, 170).tolist(), rng.normal(1, 1, 170).tolist()
    exact = shift_interval(base[:155], new[:155], 0.95)
    rough = shift_interval(base, new, 0.95)
    assert exact is not None
    assert rough is not None
    assert exact.level != 0.95
    assert rough.level == 0.95
    assert rough.high - rough.low == pytest.approx((exact.high - exact.low) * math.sqrt(155 / 170), rel=0.1)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 6, 9, 30, 201])
def test_students_t_is_scipys(degrees: int) -> None:
    for probability in (0.5, 0.6, 0.95, 0.975, 0.9995, 0.99999):
        found = student.quantile(probability, degrees)
        assert found == pytest.approx(scipy_stats.t.ppf(probability, degrees), rel=1e-9, abs=1e-9)
        assert student.cumulative(-found, degrees) == pytest.approx(1 - probability, abs=1e-12)


def test_students_t_as_printed_in_tables() -> None:
    assert student.quantile(0.975, 6) == pytest.approx(2.446912, abs=1e-6)
    assert student.quantile(0.95, 10) == pytest.approx(1.812461, abs=1e-6)
    with pytest.raises(ValueError, match="degrees"):
        student.cumulative(1.0, 0)
    with pytest.raises(ValueError, match="probability"):
        student.quantile(0.3, 5)
