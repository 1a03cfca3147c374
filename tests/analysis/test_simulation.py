"""A sample of `make simulate`, small enough for every test run."""

from __future__ import annotations

import math

import pytest

from suite.analysis.verdict import Margin, measured_margin
from suite.record.floors import Floor
from tests.analysis.simulation import SETTINGS, Setting, allowed_share, simulate

TRIALS = 100


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.cases <= 10], ids=lambda setting: setting.name)
def test_false_alarms_stay_within_five_percent(setting: Setting) -> None:
    found = simulate(setting, TRIALS, seed=7)
    assert found.alarms / TRIALS <= allowed_share(TRIALS)
    assert found.slowdown < math.inf, "a verdict that nothing can bring about would have no false alarms too"


def test_a_floor_that_ignores_how_many_cases_there_are_would_not_do() -> None:
    setting = Setting("runs differ more than processes", run=0.04, process=0.003)

    def bare(floor: Floor, verdicts: int, threshold: float, platform: str) -> Margin:
        return measured_margin(threshold, math.expm1(floor.p95), 0.0, floor.runs, platform)

    assert simulate(setting, TRIALS, seed=7).alarms / TRIALS <= allowed_share(TRIALS)
    assert simulate(setting, TRIALS, seed=7, margin_of=bare).alarms / TRIALS > 0.2


def test_no_floor_at_all_would_not_do() -> None:
    def no_floor(floor: Floor, verdicts: int, threshold: float, platform: str) -> Margin:
        return Margin(threshold, "threshold")

    setting = Setting("runs differ more than processes", run=0.04, process=0.003)
    assert simulate(setting, TRIALS, seed=7, margin_of=no_floor).alarms / TRIALS > 0.9


def test_a_quiet_machine_finds_small_changes() -> None:
    quiet = Setting("quiet", run=0.003, process=0.01, cases=4, floor_runs=12, processes=10, threshold=0.02)
    assert simulate(quiet, TRIALS, seed=7).slowdown < 0.08
