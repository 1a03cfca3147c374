"""Change points: found where they are, and rarely where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suite.analysis import changes
from suite.analysis.changes import Floats, find_changes
from tests.analysis import change_simulation


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def steps(seed: int, *levels: tuple[int, float], noise: float = 0.02) -> Floats:
    """Runs at one level after the other, with normal noise on the logarithm."""
    values = np.concatenate([np.full(count, level) for count, level in levels])
    return values + rng(seed).normal(0, noise, len(values))


def test_a_change_is_found_with_its_size() -> None:
    (found,) = find_changes(steps(1, (20, 0.0), (20, 0.1)), series=10, threshold=0.05)
    assert found.at == 20
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.1 < found.high
    assert found.shift == pytest.approx(0.1, abs=0.02)
    assert (found.before, found.after) == (pytest.approx(0, abs=0.02), pytest.approx(0.1, abs=0.02))


def test_a_change_that_is_undone_is_two() -> None:
    found = find_changes(steps(2, (25, 0.0), (14, 0.1), (25, 0.0)), series=10, threshold=0.05)
    assert [change.at for change in found] == [25, 39]
    assert found[0].shift > 0 > found[1].shift


def test_several_changes() -> None:
    levels = (30, 0.0), (30, 0.2), (30, 0.5), (30, 0.1)
    assert [change.at for change in find_changes(steps(3, *levels), 50, 0.05)] == [30, 60, 90]


def test_a_change_below_the_threshold_is_not_told() -> None:
    values = steps(4, (100, 0.0), (100, 0.03), noise=0.005)
    assert find_changes(values, 1, 0.05) == []
    assert [change.at for change in find_changes(values, 1, 0.02)] == [100]


@pytest.mark.parametrize("spike", [1.0, -1.0])
def test_one_or_two_wild_runs_are_no_change(spike: float) -> None:
    values = steps(5, (40, 0.0))
    values[20:22] += spike
    assert find_changes(values, 1, 0.05) == []


def test_equal_runs_and_few_runs() -> None:
    assert find_changes([1.0] * 500, 1, 0.0) == []
    for values in ([], [1.0], [1.0, 9.0], [1.0, 1.0, 9.0]):
        assert find_changes(values, 1, 0.0) == []


def test_the_fewest_runs_after_a_change() -> None:
    """Of one case among thirty runs four say enough; of fifty cases it takes six."""
    for series, fewest in ((1, 4), (50, 6)):
        for after in range(1, 9):
            values = [0.001 * (n % 7) for n in range(30 - after)] + [0.5 + 0.001 * n for n in range(after)]
            assert len(find_changes(values, series, 0.05)) == (after >= fewest), (series, after)


def brute(values: Floats, width: int) -> list[int]:
    found = []
    for t in range(1, len(values)):
        before, after = values[max(0, t - width) : t], values[t : t + width]
        found.append(min((after[:, None] >= before).sum(), (after[:, None] <= before).sum()))
    return found


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=40), st.integers(1, 20))
def test_the_pairs_of_every_window(values: list[int], width: int) -> None:
    floats = np.array(values, dtype=float)
    assert changes._pairs_against(floats, width).tolist() == brute(floats, width)


@pytest.mark.parametrize("sizes", [(4, 26), (8, 8), (12, 30), (19, 60), (25, 40)])
@pytest.mark.parametrize("probability", [1e-2, 1e-4, 1e-6])
def test_a_place_counts_when_scipy_says_so(sizes: tuple[int, int], probability: float) -> None:
    before, after = sizes
    most = changes._most_pairs(before, after, probability)
    for pairs in (most, most + 1):
        if not 0 <= pairs < before * after / 2:
            continue
        # Two samples in which so many pairs speak against the difference.
        low, order = np.arange(before, dtype=float), np.full(after, before + 1.0)
        whole, rest = divmod(pairs, before)
        order[:whole] = -1.0 - np.arange(whole)
        if rest:
            order[whole] = before - rest - 0.5
        order[whole + bool(rest) :] += np.arange(after - whole - bool(rest))
        p = stats.mannwhitneyu(low, order, method="exact").pvalue
        if pairs == most:
            assert p <= probability * (1 + 1e-9)
        elif min(sizes) < changes._LEAST_APPROXIMATE:
            assert p > probability


def simulated(kind: str, runs: int, seed: int) -> Floats:
    random = rng(seed)
    if kind == "normal":
        return random.normal(0, 0.02, runs)
    if kind == "heavy tails":
        return random.standard_t(2, runs) * 0.02
    if kind == "ties":
        return np.round(random.normal(0, 1, runs)) * 0.02
    noise, values = random.normal(0, 0.02, runs), np.zeros(runs)
    for n in range(runs):
        values[n] = 0.3 * values[n - 1] * (n > 0) + noise[n]
    return values


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "ties"])
@pytest.mark.parametrize("runs", [30, 200])
def test_where_nothing_changed_nothing_is_told(kind: str, runs: int) -> None:
    """Allowed are 5% of histories; by Bonferroni over everything that is tried it is far less."""
    trials = 300
    wrong = sum(bool(find_changes(simulated(kind, runs, seed), 1, 0.0)) for seed in range(trials))
    assert wrong <= 0.03 * trials


def test_what_changed_is_found_nearly_always() -> None:
    found = [find_changes(steps(seed, (40, 0.0), (10, 0.1)), 50, 0.05) for seed in range(50)]
    right = sum(len(one) == 1 and abs(one[0].at - 40) <= 2 for one in found)
    assert right >= 45


def test_the_documented_simulation_runs() -> None:
    assert change_simulation.share(20, change_simulation.wrong("normal", 30, 1, 0.0)) <= 5
    assert change_simulation.share(20, change_simulation.found(20, 10, 50, 0.1)) >= 80
    assert {len(change_simulation.runs(kind, 9, rng(1))) for kind in change_simulation.KINDS} == {9}
