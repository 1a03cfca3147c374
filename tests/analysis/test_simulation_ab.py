"""A sample of the pairs of `make simulate`, small enough for every test run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from suite.analysis.looks import LOOKS, Look, judge, latest_look
from tests.analysis.simulation import allowed_share
from tests.analysis.simulation_ab import (
    PAIR_SETTINGS,
    PAIRS_BEYOND,
    PairSetting,
    pair_differences,
    simulate_pairs,
)

TRIALS = 100


@pytest.mark.parametrize(
    "setting", [s for s in PAIR_SETTINGS if s.cases <= 4], ids=lambda setting: setting.name
)
def test_false_alarms_stay_within_five_percent_over_all_looks(setting: PairSetting) -> None:
    found = simulate_pairs(setting, TRIALS, seed=7)
    assert found.alarms / TRIALS <= allowed_share(TRIALS)


def test_looking_after_every_pair_would_not_do() -> None:
    def eager(differences: Sequence[float], threshold: float, cases: int) -> Look | None:
        for pairs in range(6, 33):
            verdict = judge(differences[:pairs], threshold, 0.95)
            if verdict.outcome != "inconclusive":
                return Look(verdict, pairs)
        return Look(verdict, 32)

    assert simulate_pairs(PAIR_SETTINGS[0], TRIALS, seed=7, looks=eager).alarms / TRIALS > 0.12


def test_a_fixed_order_would_not_do() -> None:
    assert simulate_pairs(PAIRS_BEYOND[0], TRIALS, seed=7).alarms / TRIALS > 0.9


def test_alarms_are_those_of_scipys_test() -> None:
    """The same decisions by another road: SciPy's signed-rank p-values against a third of the level."""
    setting = PairSetting("wide", cases=1, process=0.1, slower=0.08)
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(60):
        (found,) = pair_differences(setting, rng)
        expected = "neither"
        for pairs in LOOKS:
            p = stats.wilcoxon(found[:pairs], method="exact").pvalue
            if p <= 0.05 / 3:
                expected = "regressed" if np.median(found[:pairs]) > 0 else "improved"
                break
        look = latest_look(found.tolist(), 1e-12, 1)
        assert look is not None
        outcome = look.verdict.outcome
        assert expected == (outcome if outcome in ("regressed", "improved") else "neither")
        seen.add(expected)
    assert {"regressed", "neither"} <= seen


def test_a_real_change_is_found_by_the_last_look() -> None:
    quiet = PairSetting("quiet", cases=4, process=0.02)
    assert simulate_pairs(quiet, TRIALS, seed=7).slowdown < 0.08
