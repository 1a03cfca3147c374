"""How often a comparison of two runs of the same thing says that something changed.

    make simulate                                      2,000 comparisons for each setting, some minutes
    python -m tests.analysis.simulation --trials 200   a look

A trial measures the machine's noise floor with whole runs, then compares two further runs, all of
the same program. It goes through the code that `jaxmark noise` and `jaxmark compare` go through.
A false alarm is a trial in which any case is called regressed or improved.

    log step time = case + run + process + step

    run      normal: the hour, shared by all processes of a run; by case, or one for all cases
    process  normal, or Student's t with 3 degrees of freedom: memory layout, kernel choice
    step     AR(1) over the blocks of a process, with Student's t(3) innovations: heat, neighbours
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from suite.analysis.noise import LEAST_RUNS, floor_from, margin
from suite.analysis.verdict import FAMILY_ERROR, Margin, Verdict, assumed_margin, judge, level_for
from suite.record.floors import Floor
from tests.analysis.simulation_ab import report_pairs
from tests.analysis.simulation_noise import Array, median_of_blocks, t3


@dataclass(frozen=True)
class Setting:
    """A kind of machine and comparison; the deviations are those of log step time."""

    name: str
    cases: int = 10
    processes: int = 7
    floor_runs: int = LEAST_RUNS
    run: float = 0.01
    process: float = 0.01
    step: float = 0.02
    shared: bool = False
    heavy: bool = False
    heavy_run: bool = False
    measured: bool = True
    threshold: float = 0.0001


SETTINGS = (
    Setting("quiet machine, default threshold", threshold=0.05),
    Setting("no threshold: the floor alone"),
    Setting("one case", cases=1),
    Setting("fifty cases", cases=50),
    Setting("runs differ more than processes", run=0.04, process=0.003),
    Setting("processes differ more than runs", run=0.003, process=0.08),
    Setting("no difference between runs", run=0.0, process=0.03),
    Setting("all cases shift together", run=0.04, process=0.01, shared=True),
    Setting("heavy tails of processes", process=0.03, heavy=True),
    Setting("steps vary wildly", step=0.3),
    Setting("more runs behind the floor", floor_runs=20, run=0.03),
    Setting("many processes", processes=20, run=0.03),
    Setting("five processes, five cases", cases=5, processes=5),
    Setting(
        "floor assumed at 10%, default threshold", run=0.02, process=0.02, measured=False, threshold=0.05
    ),
)
BEYOND = (
    # The floor's margin rests on runs that differ normally. This shows what it costs where they do not.
    Setting("runs with heavy tails (outside the guarantee)", run=0.02, process=0.005, heavy_run=True),
)


def process_logs(setting: Setting, runs: int, rng: np.random.Generator) -> Array:
    """Log step times [runs, cases, processes], each the median of a process's blocks."""
    shape = (runs, setting.cases, setting.processes)
    shift = (runs, 1 if setting.shared else setting.cases, 1)
    of_run = t3(shift, rng) if setting.heavy_run else rng.normal(0, 1, shift)
    of_process = t3(shape, rng) if setting.heavy else rng.normal(0, 1, shape)
    logs: Array = (
        setting.run * of_run + setting.process * of_process + median_of_blocks(setting.step, shape, rng)
    )
    return logs


@dataclass(frozen=True)
class Found:
    """What so many trials of a setting gave.

    Attributes:
        alarms: trials in which any case was called regressed or improved.
        margin: median of the margins, as a fraction.
        slowdown: that 95% of the cases would have been called regressed for, as a fraction.
    """

    alarms: int
    margin: float
    slowdown: float


MarginOf = Callable[[Floor, int, float, str], Margin]


def simulate(setting: Setting, trials: int, seed: int = 0, margin_of: MarginOf = margin) -> Found:
    """Runs so many trials of a setting; `margin_of` stands in for `suite.analysis.noise.margin`."""
    rng = np.random.default_rng(seed)
    alarms = 0
    margins: list[float] = []
    slowdowns: list[float] = []
    for _ in range(trials):
        verdicts = list(_trial(setting, rng, margin_of))
        alarms += any(verdict.outcome in ("regressed", "improved") for verdict in verdicts)
        margins += [verdict.margin.fraction for verdict in verdicts]
        slowdowns += [_needed_slowdown(verdict) for verdict in verdicts]
    return Found(alarms, float(np.median(margins)), float(np.percentile(slowdowns, 95)))


def _needed_slowdown(verdict: Verdict) -> float:
    """How much slower the new run would have had to be for 'regressed', as a fraction."""
    low, margin = verdict.ratio.low, verdict.margin
    if low is None:
        return math.inf
    # Its interval must lie beyond threshold and floor, and its estimate beyond the limit.
    return max((1 + margin.fraction) / low, (1 + margin.limit) / verdict.ratio.value) - 1


def _trial(setting: Setting, rng: np.random.Generator, margin_of: MarginOf) -> Iterator[Verdict]:
    logs = process_logs(setting, setting.floor_runs + 2, rng)
    level = level_for(setting.cases)
    for case in range(setting.cases):
        *floor_runs, base, new = (run[case] for run in logs)
        if setting.measured:
            medians = [float(np.median(run)) for run in floor_runs]
            floor = floor_from("case", "step_time", medians, "", "")
            allowed = margin_of(floor, setting.cases, setting.threshold, "cpu")
        else:
            allowed = assumed_margin(setting.threshold, "cpu")
        yield judge(base.tolist(), new.tolist(), allowed, level)


def main() -> int:
    """Prints a line for each setting; 1 if one has too many false alarms to be chance."""
    parser = argparse.ArgumentParser(description="Family-wise false alarms of `jaxmark compare` and `ab`.")
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print(f"{trials} comparisons of a thing with itself for each setting; {FAMILY_ERROR:.0%} may be wrong\n")
    print("  wrong  margin  found in 95%  setting")
    worst = 0.0
    for settings, counts in ((SETTINGS, True), (BEYOND, False)):
        for number, setting in enumerate(settings):
            found = simulate(setting, trials, seed=number)
            share = found.alarms / trials
            print(f"{share:7.2%} {found.margin:7.1%}  {found.slowdown:+12.1%}  {setting.name}", flush=True)
            worst = max(worst, share) if counts else worst
    print(
        "\nwrong: any case called regressed or improved. margin: the median one. found in 95%: the slowdown"
        "\nof one case that 95% of such comparisons call regressed."
    )
    return int(max(worst, report_pairs(trials)) > allowed_share(trials))


def allowed_share(trials: int) -> float:
    """5%, and three standard errors of a share of 5% for the chance in so many trials."""
    return FAMILY_ERROR + 3 * math.sqrt(FAMILY_ERROR * (1 - FAMILY_ERROR) / trials)


if __name__ == "__main__":
    sys.exit(main())
