"""Verdicts from hand-made samples."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.analysis.verdict import Margin, assumed_margin, judge, level_for, measured_margin, ratio_of

SEVEN = [math.log(x) for x in (1.00, 1.01, 1.02, 0.99, 0.98, 1.005, 0.995)]


FIVE = Margin(0.05, "threshold")


def times(factor: float) -> list[float]:
    return [value + math.log(factor) for value in SEVEN]


@pytest.mark.parametrize(
    ("factor", "outcome"),
    [
        (1.0, "equivalent"),
        (1.01, "equivalent"),
        (0.99, "equivalent"),
        (1.05, "inconclusive"),
        (1 / 1.05, "inconclusive"),
        (1.08, "regressed"),
        (1 / 1.08, "improved"),
    ],
)
def test_where_the_interval_lies_decides(factor: float, outcome: str) -> None:
    verdict = judge(SEVEN, times(factor), FIVE, 0.95)
    assert verdict.outcome == outcome
    assert verdict.ratio.value == pytest.approx(factor)
    assert (verdict.needs is not None) == (outcome == "inconclusive" and abs(math.log(factor)) < 0.0487)


def test_the_margin_is_the_same_both_ways() -> None:
    for factor in (1.01, 1.04, 1.06, 1.09):
        there = judge(SEVEN, times(factor), FIVE, 0.95)
        back = judge(times(factor), SEVEN, FIVE, 0.95)
        swapped = {"regressed": "improved", "improved": "regressed"}
        assert back.outcome == swapped.get(there.outcome, there.outcome)


def test_the_interval_itself_and_not_the_estimate_must_be_beyond() -> None:
    wild = [math.log(x) for x in (0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)]
    verdict = judge(SEVEN, wild, FIVE, 0.95)
    assert verdict.ratio.value > 1.05
    assert verdict.outcome == "inconclusive"
    assert verdict.needs is not None
    assert verdict.needs > 7


def test_so_many_processes_do_settle_it() -> None:
    verdict = judge(SEVEN, times(1.035), FIVE, 0.95)
    assert verdict.outcome == "inconclusive"
    assert verdict.needs is not None
    copies = math.ceil(verdict.needs / 7)
    assert judge(SEVEN * copies, times(1.035) * copies, FIVE, 0.95).outcome == "equivalent"


@pytest.mark.parametrize(("cases", "needs"), [(1, 5), (10, 6), (50, 7)])
def test_too_few_processes_say_how_many_are_needed(cases: int, needs: int) -> None:
    verdict = judge(SEVEN[:4], times(3.0)[:4], FIVE, level_for(cases))
    assert verdict.outcome == "inconclusive", "four a side, however large the change"
    assert verdict.needs == needs
    assert verdict.ratio.low is None
    assert verdict.ratio.value == pytest.approx(3.0, rel=0.05)


def test_a_single_process_gives_a_ratio_and_no_more() -> None:
    verdict = judge([0.0], [math.log(10)], FIVE, 0.95)
    assert (verdict.outcome, verdict.needs) == ("inconclusive", 5)
    assert verdict.ratio.value == pytest.approx(10)


def test_equal_samples_are_settled() -> None:
    same = [math.log(5.0)] * 7
    assert judge(same, same, FIVE, 0.99).outcome == "equivalent"
    assert judge(same, [x + 0.2 for x in same], FIVE, 0.99).outcome == "regressed"
    assert judge(same, [x - 0.2 for x in same], FIVE, 0.99).outcome == "improved"


def test_more_verdicts_together_ask_for_a_wider_interval() -> None:
    one, many = (ratio_of(SEVEN, times(1.1), level_for(m)) for m in (1, 50))
    assert one.low is not None
    assert many.low is not None
    assert many.low < one.low
    assert one.level >= 0.95
    assert many.level >= 0.999


@given(
    st.lists(st.floats(0.5, 2), min_size=5, max_size=9),
    st.lists(st.floats(0.5, 2), min_size=5, max_size=9),
    st.floats(0.01, 0.5),
)
def test_verdict_and_interval_never_disagree(base: list[float], new: list[float], margin: float) -> None:
    verdict = judge(
        [math.log(x) for x in base], [math.log(x) for x in new], Margin(margin, "threshold"), 0.95
    )
    low, high = verdict.ratio.low, verdict.ratio.high
    assert low is not None
    assert high is not None
    tiny = 1e-9
    if verdict.outcome == "regressed":
        assert low > 1 + margin - tiny
    elif verdict.outcome == "improved":
        assert high < 1 / (1 + margin) + tiny
    elif verdict.outcome == "equivalent":
        assert 1 / (1 + margin) - tiny <= low <= high <= 1 + margin + tiny
    else:
        assert low < 1 + margin + tiny
        assert high > 1 / (1 + margin) - tiny


@pytest.mark.parametrize(
    ("threshold", "platform", "margin"),
    [
        (0.05, "cpu", Margin(0.10, "assumed")),
        (0.05, "cuda", Margin(0.05, "assumed")),
        (0.20, "cpu", Margin(0.20, "threshold")),
    ],
)
def test_without_a_floor_one_is_assumed(threshold: float, platform: str, margin: Margin) -> None:
    assert assumed_margin(threshold, platform) == margin


def test_the_larger_of_threshold_and_floor_is_the_margin() -> None:
    assert measured_margin(0.05, 0.03, 0.04, 8, "cpu") == Margin(0.05, "threshold", 8, 0.04, 0.05)
    assert measured_margin(0.05, 0.07, 0.09, 8, "cpu") == Margin(0.07, "measured", 8, 0.09, 0.07)


@pytest.mark.parametrize(("factor", "outcome"), [(1.19, "inconclusive"), (1.21, "regressed")])
def test_an_estimate_within_what_whole_runs_do_is_no_regression(factor: float, outcome: str) -> None:
    margin = measured_margin(0.05, 0.03, 0.20, 8, "cpu")
    there, back = judge(SEVEN, times(factor), margin, 0.95), judge(times(factor), SEVEN, margin, 0.95)
    assert there.outcome == outcome
    assert back.outcome == {"regressed": "improved"}.get(outcome, outcome)
    assert there.margin.source == "measured"
    assert 0.15 < there.margin.fraction < 0.20, "the limit less the reach of the interval"
    assert there.ratio.low is not None
    assert (there.ratio.low > 1 + there.margin.fraction) == (outcome == "regressed")


def test_a_limit_below_the_margin_changes_nothing() -> None:
    loose, strict = (measured_margin(0.05, 0.03, limit, 8, "cpu") for limit in (0.0, 0.06))
    for factor in (1.0, 1.04, 1.07, 1.09, 1.2):
        assert judge(SEVEN, times(factor), loose, 0.95).outcome == (
            judge(SEVEN, times(factor), strict, 0.95).outcome
        )


@pytest.mark.parametrize(
    ("factor", "outcome", "within_noise"),
    [
        (1.02, "equivalent", False),
        (1.09, "inconclusive", False),
        (1.5, "inconclusive", True),
        (3.0, "inconclusive", True),
        (5.0, "regressed", False),
    ],
)
def test_a_noisy_machine_makes_nothing_equivalent(factor: float, outcome: str, within_noise: bool) -> None:
    margin = measured_margin(0.05, 2.0, 3.0, 8, "cpu")
    verdict = judge(SEVEN, times(factor), margin, 0.95)
    assert (verdict.outcome, verdict.within_noise) == (outcome, within_noise)
    assert (verdict.needs is not None) == (factor == 1.09)
    if outcome == "equivalent":
        assert verdict.held_against == 0.10, "what would be assumed of a CPU, and not the floor of 200%"


def test_the_platform_decides_how_far_a_floor_widens_what_is_equivalent() -> None:
    assert [measured_margin(0.01, 2.0, 3.0, 8, name).equivalent for name in ("cpu", "cuda")] == [0.10, 0.05]
    assert measured_margin(0.30, 2.0, 3.0, 8, "cpu").equivalent == 0.30
    assert measured_margin(0.01, 0.02, 0.03, 8, "cpu").equivalent == 0.02
