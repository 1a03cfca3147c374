"""Does jaxmark report what a careful engineer would have measured? `make fidelity`.

In one process and interleaved, block by block in a random order, the same step is timed by
jaxmark's own measurement, by a loop written by hand, by pytest-benchmark and by the `nnx.jit`
idiom of Flax's guides. What counts is the ratio within each round: the machine's speed swings,
and a round is short.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import jax
import numpy as np
import pytest

from suite.analysis.stats import median, median_interval
from suite.measurement import timing
from suite.measurement.aot import AotStep
from suite.run.subject import initial
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.settings import MeasureSettings
from suite.workloads import build
from tests.fidelity.hand_loop import FlatLoop, TreeLoop
from tests.fidelity.idiom import IdiomLoop

pytestmark = pytest.mark.fidelity
ROUNDS = 60
REPORT = Path("build/fidelity.json")
WARM = MeasureSettings(warmup_seconds=0.5)
IDIOM_SHARE = 8  # the idiom is slower; its blocks have fewer steps, so that rounds stay short

TRAIN = {"workload": "mlp", "mode": "train", "precision": "fp32", "layers": "unroll"}
# Name, case, the most that jaxmark's step time may be above the loop written by hand, the least
# number of times that it must be faster than the idiom.
SUBJECTS = [
    ("dispatch-bound", TRAIN | {"preset": "smoke"}, 1.05, None),
    ("5 ms and more", TRAIN | {"preset": "small", "batch": 512}, 1.02, None),
    ("100 leaves and more", TRAIN | {"preset": "deep"}, None, 2.0),
]


class Rounds:
    """One step, ready to be timed by every method but pytest-benchmark, which owns the rounds."""

    def __init__(self, case: Case) -> None:
        workload = build(case)
        self.ours = AotStep(workload.step, *initial(workload, 0))
        hand = FlatLoop(workload.step, *initial(workload, 0))
        tree = TreeLoop(workload.step, *initial(workload, 0))
        dims = catalogue.dims_of(case, catalogue.preset_of(case))
        idiom = IdiomLoop(dims, case.precision, workload.batch(np.random.default_rng(0)))
        self.steps = timing.warm_up(self.ours.run, WARM, None).block_steps
        few = max(1, self.steps // IDIOM_SHARE)
        self.methods = {
            "jaxmark": lambda: timing.time_once(self.ours.run, self.steps) / self.steps,
            "by hand": lambda: hand.time_block(self.steps) / self.steps,
            "by hand, passing trees": lambda: tree.time_block(self.steps) / self.steps,
            "nnx.jit idiom": lambda: idiom.time_block(few) / few,
        }
        self.samples: dict[str, list[float]] = {name: [] for name in self.methods}
        self._order = random.Random(0)

    def take(self) -> None:
        """Times one block of each method, in a fresh random order."""
        names = list(self.methods)
        self._order.shuffle(names)
        for name in names:
            self.samples[name].append(self.methods[name]())


def ratio(over: list[float], under: list[float]) -> dict[str, float]:
    """Median ratio of the pairs with its interval, 95% at least, over log ratios."""
    logs = [math.log(a / b) for a, b in zip(over, under, strict=True)]
    interval = median_interval(logs)
    assert interval is not None
    return {"median": math.exp(median(logs)), "low": math.exp(interval.low), "high": math.exp(interval.high)}


@pytest.mark.parametrize(("name", "fields", "above", "faster"), SUBJECTS, ids=[row[0] for row in SUBJECTS])
def test_fidelity(benchmark, capsys, name, fields, above, faster) -> None:
    case = catalogue.resolve(**fields)
    rounds = Rounds(case)
    rounds.take()  # warms every method up; not counted
    rounds.samples = {method: [] for method in rounds.methods}
    with timing.no_garbage_collection():
        benchmark.pedantic(
            rounds.ours.run, setup=lambda: (rounds.take(), ((rounds.steps,), {}))[1], rounds=ROUNDS
        )
    seconds = benchmark.stats.stats.data
    samples = rounds.samples | {"pytest-benchmark": [1e9 * block / rounds.steps for block in seconds]}
    ours = samples["jaxmark"]
    found = {
        "subject": name,
        "case": case.key,
        "jax": jax.__version__,
        "rounds": ROUNDS,
        "block_steps": rounds.steps,
        "leaves": len(jax.tree.leaves(rounds.ours.state())),
        "jaxmark_step_us": median(ours) / 1e3,
        "step_time_over_jaxmark": {
            method: ratio(taken, ours) for method, taken in samples.items() if method != "jaxmark"
        },
    }
    over_hand = ratio(ours, samples["by hand"])
    if above is not None:
        found["bar"] = bar(over_hand, 2 - above, above, f"jaxmark within {above - 1:.0%} of the loop by hand")
    if faster is not None:
        assert found["leaves"] >= 100
        gain = found["step_time_over_jaxmark"]["nnx.jit idiom"]
        found["bar"] = bar(
            gain, faster, math.inf, f"the nnx.jit idiom takes {faster:g} times as long or more"
        )
    report(found, capsys)
    assert "broken" not in found["bar"]


def bar(interval: dict[str, float], least: float, most: float, what: str) -> str:
    """Whether a bar is held, broken or, with the interval across it, undecided."""
    if least <= interval["low"] and interval["high"] <= most:
        return f"{what}: held"
    outside = interval["low"] > most or interval["high"] < least
    return f"{what}: {'broken' if outside else 'undecided, this machine is too restless'}"


def report(found: dict, capsys) -> None:
    """Prints the ratios and adds them to the JSON file."""
    REPORT.parent.mkdir(exist_ok=True)
    before = json.loads(REPORT.read_text()) if REPORT.exists() else []
    kept = [entry for entry in before if entry["subject"] != found["subject"]]
    REPORT.write_text(json.dumps([*kept, found], indent=2) + "\n")
    with capsys.disabled():
        print(f"\n{found['subject']}: {found['case']}, {found['leaves']} leaves")
        print(f"  {'jaxmark':24} {found['jaxmark_step_us']:,.1f} us a step")
        for method, taken in found["step_time_over_jaxmark"].items():
            print(f"  {method:24} {taken['median']:6.3f} x that  ({taken['low']:.3f} to {taken['high']:.3f})")
        print(f"  {found['bar']}")
