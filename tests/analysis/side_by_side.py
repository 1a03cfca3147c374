"""False alarms and misses of jaxmark, pytest-benchmark and pyperf on the same raw samples.

    python -m venv build/pyperf && build/pyperf/bin/pip install pyperf
    python -m tests.analysis.side_by_side --pyperf build/pyperf/bin/python

The samples are simulated, since only then is it known what is true: the machines of `simulation`,
each process with its 20 autocorrelated blocks. Every comparison is given to each tool in the tool's
own files, and the tool's own code decides: pytest-benchmark's check of `--benchmark-compare-fail
mean:5%`, and `python -m pyperf compare_to --min-speed 5`.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pytest_benchmark.utils import parse_compare_fail

from suite.analysis.looks import latest_look
from suite.analysis.noise import LEAST_RUNS, floor_from, margin
from suite.analysis.sides import Source
from suite.analysis.verdict import assumed_margin, judge, level_for
from suite.bridges.exporting import export
from suite.record.schema import ResultFile
from tests.analysis.simulation_ab import PairSetting, pair_differences
from tests.analysis.simulation_noise import Array, blocks
from tests.builders import case, process
from tests.sides import run_of

PROCESSES = 7
THRESHOLD = 0.05
STEP_NS = 4e6
WRITER = Path(__file__).with_name("pyperf_file.py")


@dataclass(frozen=True)
class Machine:
    """Deviations of log step time: between whole runs, between processes of a run, between blocks."""

    name: str
    run: float
    process: float
    step: float


MACHINES = (
    Machine("quiet", 0.003, 0.01, 0.01),
    Machine("usual", 0.015, 0.02, 0.03),
    Machine("shared", 0.04, 0.05, 0.05),
)
SLOWER = (0.0, 0.10, 0.20)


@dataclass(frozen=True)
class Trials:
    """Raw samples of many comparisons.

    Attributes:
        floor: log step times of earlier whole runs [trials, runs], the median over their processes.
        base: block times in nanoseconds [trials, processes, blocks].
        new: likewise.
    """

    floor: Array
    base: Array
    new: Array


def draw(machine: Machine, slower: float, trials: int, rng: np.random.Generator) -> Trials:
    """Comparisons of which `slower` is the truth, as a fraction."""

    def logs(runs: int) -> Array:
        of_run = machine.run * rng.normal(0, 1, (trials, runs, 1, 1))
        of_process = machine.process * rng.normal(0, 1, (trials, runs, PROCESSES, 1))
        found: Array = of_run + of_process + blocks(machine.step, (trials, runs, PROCESSES), rng)
        return found

    earlier = np.median(np.median(logs(LEAST_RUNS), axis=-1), axis=-1)
    base, new = (STEP_NS * np.exp(logs(1)[:, 0]) for _ in range(2))
    return Trials(earlier, np.round(base), np.round(new * (1 + slower)))


def by_jaxmark(trials: Trials) -> list[str]:
    """`jaxmark compare` with a noise floor from 7 earlier runs."""
    return _judged(
        trials,
        lambda n: margin(
            floor_from("case", "step_time", trials.floor[n].tolist(), "", ""), 1, THRESHOLD, "cpu"
        ),
    )


def by_jaxmark_without_floor(trials: Trials) -> list[str]:
    """`jaxmark compare` where nobody has measured the floor: 10% is assumed."""
    return _judged(trials, lambda n: assumed_margin(THRESHOLD, "cpu"))


def _judged(trials: Trials, margin_of: Callable[[int], object]) -> list[str]:
    base, new = (np.log(np.median(side, axis=-1)) for side in (trials.base, trials.new))
    return [
        judge(base[n].tolist(), new[n].tolist(), margin_of(n), level_for(1)).outcome  # type: ignore[arg-type]
        for n in range(len(base))
    ]


def by_pytest_benchmark(trials: Trials, processes: int = PROCESSES) -> list[str]:
    """`--benchmark-compare-fail mean:5%` on what `jaxmark export` writes; a round is a process.

    With one process, a round is a block, as where pytest-benchmark measures by itself.
    """
    check = parse_compare_fail(f"mean:{THRESHOLD:.0%}")
    sides = []
    for name, side in (("base", trials.base), ("new", trials.new)):
        if processes == 1:  # every block becomes a process of one block, so that it becomes a round
            side = side[:, 0, :, None]
        file = _file(side, name)
        exported = json.loads(export([Source(Path(f"{name}.json"), file)], "pytest-benchmark").text)
        sides.append({one["fullname"]: one["stats"] for one in exported["benchmarks"]})
    base, new = sides
    return ["regressed" if check.fails(new[key], base[key]) else "neither" for key in base]


def by_pyperf(trials: Trials, python: str) -> list[str]:
    """`pyperf compare_to --min-speed 5`: Student's t over all samples of all processes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("base.json", "new.json")]
        for path, side in zip(paths, (trials.base, trials.new), strict=True):
            content = json.dumps({f"trial-{n}": (one / 1e9).tolist() for n, one in enumerate(side)})
            subprocess.run([python, str(WRITER), path], input=content, text=True, check=True)
        command = [python, "-m", "pyperf", "compare_to", "--min-speed", str(100 * THRESHOLD), *paths]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return read_pyperf(said, len(trials.base))


def read_pyperf(said: str, trials: int) -> list[str]:
    """What `compare_to` printed: a line for each benchmark that changed, and one for those that did not."""
    found = dict(re.findall(r"^trial-(\d+): .*: [\d.]+x (slower|faster)", said, re.MULTILINE))
    same = re.findall(
        r"trial-(\d+)", "".join(re.findall(r"^Benchmarks? hidden because.*$", said, re.MULTILINE))
    )
    if len(found) + len(same) != trials:
        raise ValueError(
            f"expected a word on each of {trials} benchmarks, found {len(found)} and {len(same)}:\n"
            f"{said[-2000:]}"
        )
    words = {"slower": "regressed", "faster": "improved"}
    return [words[found[str(n)]] if str(n) in found else "neither" for n in range(trials)]


def by_ab(machine: Machine, slower: float, trials: int, rng: np.random.Generator) -> list[str]:
    """`jaxmark ab` on the same machine, with pairs of its own; what a run shares, a pair does."""
    setting = PairSetting(
        machine.name, 1, machine.run, machine.process, machine.step,
        slower=math.log1p(slower), threshold=THRESHOLD,
    )  # fmt: skip
    looks = (latest_look(pair_differences(setting, rng)[0].tolist(), THRESHOLD, 1) for _ in range(trials))
    return [look.verdict.outcome for look in looks if look is not None]


def _file(side: Array, name: str) -> ResultFile:
    """A result file with a case for each trial: the raw blocks of its processes."""
    cases = [
        (
            case(batch=n + 1),
            [process(p, steps=1, block_ns=[int(ns) for ns in one]) for p, one in enumerate(processes)],
        )
        for n, processes in enumerate(side)
    ]
    return run_of(cases, id=name)


def table(trials: int, python: str, machines: Sequence[Machine] = MACHINES) -> str:
    """False alarms without a change, and misses with one, of every tool on every machine."""
    names = (
        "jaxmark compare, floor measured",
        "jaxmark compare, 10% assumed",
        "jaxmark ab (pairs of its own)",
        "pytest-benchmark mean:5%, 7 processes",
        "pytest-benchmark mean:5%, 1 process",
        "pyperf compare_to --min-speed 5",
    )
    lines = [f"{'machine':8} {'tool':38} {'false alarms':>12} {'misses of +10%':>15} {'of +20%':>8}"]
    for number, machine in enumerate(machines):
        shares: dict[str, list[float]] = {name: [] for name in names}
        for slower in SLOWER:
            rng = np.random.default_rng([number, round(100 * slower)])
            drawn = draw(machine, slower, trials, rng)
            answers = (
                by_jaxmark(drawn),
                by_jaxmark_without_floor(drawn),
                by_ab(machine, slower, trials, rng),
                by_pytest_benchmark(drawn),
                by_pytest_benchmark(drawn, processes=1),
                by_pyperf(drawn, python),
            )
            for name, said in zip(names, answers, strict=True):
                wrong = [
                    word in ("regressed", "improved") if slower == 0 else word != "regressed" for word in said
                ]
                shares[name].append(sum(wrong) / trials)
        lines += [
            f"{machine.name:8} {name:38} {alarms:12.1%} {ten:15.1%} {twenty:8.1%}"
            for name, (alarms, ten, twenty) in shares.items()
        ]
    return "\n".join(lines)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument(
        "--pyperf", default=sys.executable, metavar="PYTHON", help="an interpreter that has pyperf"
    )
    asked = parser.parse_args()
    if subprocess.run([asked.pyperf, "-c", "import pyperf"], capture_output=True).returncode:
        print(
            f"{asked.pyperf} has no pyperf. Install it in an environment of its own:\n{__doc__}",
            file=sys.stderr,
        )
        return 2
    print(table(asked.trials, asked.pyperf))
    return 0


if __name__ == "__main__":
    sys.exit(main())
