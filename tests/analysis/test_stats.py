"""The statistics against independent implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from suite.analysis.stats import autocorrelation, drift, median, median_interval, percentile

values = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=60)


@given(values, st.floats(0, 100))
def test_percentile_is_numpys_default(xs: list[float], percent: float) -> None:
    assert percentile(xs, percent) == pytest.approx(np.percentile(xs, percent), rel=1e-12)
    assert median(xs) == pytest.approx(np.median(xs), rel=1e-12)


def test_percentile_by_hand() -> None:
    assert percentile([40, 10, 30, 20], 50) == 25
    assert percentile([40, 10, 30, 20], 95) == pytest.approx(38.5)
    assert percentile([7], 95) == 7
    assert percentile([1, 2], 0) == 1
    assert percentile([1, 2], 100) == 2


@pytest.mark.parametrize(("xs", "percent"), [([], 50), ([1.0], -1), ([1.0], 100.5)])
def test_percentile_of_nothing(xs: list[float], percent: float) -> None:
    with pytest.raises(ValueError, match="expected values"):
        percentile(xs, percent)


@pytest.mark.parametrize("n", range(6, 200))
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_intervals_level_is_the_binomials(n: int, level: float) -> None:
    interval = median_interval(list(range(n)), level)
    if interval is None:
        assert 1 - 2 * scipy_stats.binom.cdf(0, n, 0.5) < level
        return
    k = round(interval.low) + 1  # the values are their own ranks
    assert interval.high == n - k
    assert interval.level == pytest.approx(1 - 2 * scipy_stats.binom.cdf(k - 1, n, 0.5), abs=1e-12)
    assert interval.level >= level
    assert 1 - 2 * scipy_stats.binom.cdf(k, n, 0.5) < level, "a narrower one would have done"


def test_six_values_are_the_least_for_95_percent() -> None:
    assert median_interval([1, 2, 3, 4, 5]) is None
    assert median_interval([]) is None
    assert median_interval([6, 5, 4, 3, 2, 1]) == (1, 6, 1 - 2 / 64)
    assert median_interval([7, 6, 5, 4, 3, 2, 1]) == (1, 7, 1 - 2 / 128)


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    samples = rng.lognormal(0, 0.1, (4000, 9))
    intervals = [median_interval(list(row)) for row in samples]
    covered = np.mean([i is not None and i.low <= 1.0 <= i.high for i in intervals])
    level = 1 - 2 * scipy_stats.binom.cdf(1, 9, 0.5)
    assert abs(covered - level) < 4 * math.sqrt(level * (1 - level) / 4000)


@given(st.lists(st.floats(1, 100), min_size=3, max_size=40))
def test_autocorrelation_is_numpys(xs: list[float]) -> None:
    found = autocorrelation(xs)
    deviations = np.array(xs) - np.mean(xs)
    if found is None:
        assert np.ptp(xs) == pytest.approx(0, abs=1e-9)
    elif np.ptp(xs) > 1e-6:
        assert found == pytest.approx(
            np.sum(deviations[:-1] * deviations[1:]) / np.sum(deviations**2), rel=1e-6, abs=1e-6
        )


def test_autocorrelation_by_hand() -> None:
    assert autocorrelation([1, -1, 1, -1]) == -0.75
    assert autocorrelation([1, 2]) is None
    assert autocorrelation([5, 5, 5]) is None


def test_drift_by_hand() -> None:
    assert drift([10, 10, 11, 11]) == pytest.approx(0.1)
    assert drift([10, 10, 99, 5, 5]) == pytest.approx(-0.5)
    assert drift([1, 2, 3]) is None
