"""How often `jaxmark ab` says that something changed when both sides are the same.

Part of `make simulate`. A trial measures 32 pairs of each case and goes through the code that `ab`
goes through, looks included: a false alarm is a trial in which any case, at any of its looks, is
called regressed or improved.

    log step time = case + hour + second + process + step

    hour     a random walk over the pairs, shared by both of a pair: the machine gets warm or busy
    second   what the second process of a pair costs by being the second
    process  normal, or Student's t with 3 degrees of freedom, for each process
    step     AR(1) over the blocks of a process, as in `simulation`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from suite.analysis.looks import LOOKS, Look, latest_look
from suite.run.pairs import order_of
from tests.analysis.simulation_noise import median_of_blocks, t3

PAIRS = LOOKS[-1]
_NOTHING = 0.0001
"""A threshold that allows for nothing, so that every mistake of the interval is a false alarm."""


@dataclass(frozen=True)
class PairSetting:
    """A kind of machine and comparison; the deviations are those of log step time.

    Attributes:
        slower: by which new is slower than base, in truth, on a log scale.
        ordered: base always runs first, as `ab` does not do it.
    """

    name: str
    cases: int = 4
    hour: float = 0.03
    process: float = 0.02
    step: float = 0.02
    second: float = 0.0
    heavy: bool = False
    ordered: bool = False
    slower: float = 0.0
    threshold: float = _NOTHING


PAIR_SETTINGS = (
    PairSetting("one case", cases=1),
    PairSetting("two cases", cases=2),
    PairSetting("ten cases", cases=10),
    PairSetting("the machine drifts", hour=0.2),
    PairSetting("processes differ widely", process=0.15),
    PairSetting("heavy tails of processes", process=0.05, heavy=True),
    PairSetting("the second of a pair is 5% slower", second=0.05),
    PairSetting("steps vary wildly", step=0.3),
    PairSetting("truly at the threshold", slower=float(np.log1p(0.05)), threshold=0.05),
)
PAIRS_BEYOND = (PairSetting("base always first, the second 5% slower", second=0.05, ordered=True),)

Array = npt.NDArray[np.float64]
Looks = Callable[[Sequence[float], float, int], Look | None]


@dataclass(frozen=True)
class FoundByPairs:
    """What so many trials of a setting gave.

    Attributes:
        alarms: trials in which any case was called regressed or improved.
        slowdown: that 95% of the cases would have been called regressed for at a 5% threshold, by the last
            look, as a fraction.
    """

    alarms: int
    slowdown: float


def pair_differences(setting: PairSetting, rng: np.random.Generator) -> Array:
    """Log of new over base [cases, pairs]."""
    shape = (setting.cases, PAIRS, 2)
    hour = setting.hour / np.sqrt(PAIRS) * rng.normal(0, 1, (setting.cases, PAIRS, 1)).cumsum(axis=1)
    of_process = t3(shape, rng) if setting.heavy else rng.normal(0, 1, shape)
    logs = hour + setting.process * of_process + median_of_blocks(setting.step, shape, rng)
    order = order_of([str(case) for case in range(setting.cases)], int(rng.integers(2**31)))
    for case in range(setting.cases):
        for pair in range(PAIRS):
            base_first = setting.ordered or order[str(case)][pair] == "base"
            logs[case, pair, 1 if base_first else 0] += setting.second
    found: Array = logs[:, :, 1] - logs[:, :, 0] + setting.slower
    return found


def simulate_pairs(
    setting: PairSetting, trials: int, seed: int = 0, looks: Looks = latest_look
) -> FoundByPairs:
    """Runs so many trials; `looks` stands in for `suite.analysis.looks.latest_look`."""
    rng = np.random.default_rng(seed)
    alarms = 0
    needed: list[float] = []
    for _ in range(trials):
        outcomes = []
        for case in pair_differences(setting, rng):
            found = looks(case.tolist(), setting.threshold, setting.cases)
            assert found is not None
            outcomes.append(found.verdict.outcome)
            low = found.verdict.ratio.low
            if low is not None and found.pairs == PAIRS:
                needed.append(1.05 * math.exp(setting.slower) / low - 1)
        alarms += "regressed" in outcomes or "improved" in outcomes
    return FoundByPairs(alarms, float(np.percentile(needed, 95)) if needed else float("nan"))


def report_pairs(trials: int, seed: int = 100) -> float:
    """Prints a line for each setting; returns the worst share of those that are promised."""
    print(f"\n{trials} times `ab` of a thing with itself, looks after {', '.join(map(str, LOOKS))} pairs\n")
    print("  wrong  found in 95%  setting")
    worst = 0.0
    for settings, counts in ((PAIR_SETTINGS, True), (PAIRS_BEYOND, False)):
        for number, setting in enumerate(settings):
            found = simulate_pairs(setting, trials, seed + number)
            share = found.alarms / trials
            outside = "" if counts else " (not as ab does it)"
            print(f"{share:7.2%} {found.slowdown:+13.1%}  {setting.name}{outside}", flush=True)
            worst = max(worst, share) if counts else worst
    print(
        "\nwrong: any case called regressed or improved at any look. found in 95%: the slowdown of one case"
        "\nthat 95% call regressed by the last look, with the default threshold of 5%."
    )
    return worst
