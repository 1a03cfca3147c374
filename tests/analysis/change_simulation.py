"""How often `jaxmark history` is wrong, and what it finds: `python -m tests.analysis.change_simulation`.

Whole runs whose logarithms differ by 2% (standard deviation) by themselves, through the function
that the command uses, with its default threshold and with none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from suite.analysis.changes import Floats, find_changes

SPREAD = 0.02


def runs(kind: str, count: int, random: np.random.Generator) -> Floats:
    """Runs in which nothing changes."""
    if kind == "heavy tails":
        return random.standard_t(2, count) * SPREAD
    if kind == "ties":
        return np.round(random.normal(0, 1, count)) * SPREAD
    noise = random.normal(0, SPREAD, count)
    memory = {"each depends on the last, 0.3": 0.3, "each depends on the last, 0.6": 0.6}.get(kind, 0.0)
    for n in range(1, count):
        noise[n] = memory * noise[n - 1] + noise[n] * (1 - memory**2) ** 0.5
    return noise


KINDS = ("normal", "heavy tails", "ties", "each depends on the last, 0.3", "each depends on the last, 0.6")


def share(trials: int, trial: Callable[[np.random.Generator], bool]) -> float:
    """Of so many trials, in percent."""
    return 100 * sum(trial(np.random.default_rng(seed)) for seed in range(trials)) / trials


def wrong(kind: str, count: int, cases: int, threshold: float) -> Callable[[np.random.Generator], bool]:
    """Whether a history of nothing but noise shows a change of any case."""
    return lambda random: any(find_changes(runs(kind, count, random), cases, threshold) for _ in range(cases))


def found(before: int, after: int, cases: int, size: float) -> Callable[[np.random.Generator], bool]:
    """Whether a change of one among so many cases is found, within two runs, and nothing else."""

    def trial(random: np.random.Generator) -> bool:
        values = runs("normal", before + after, random)
        values[before:] += np.log1p(size)
        changes = find_changes(values, cases, 0.05)
        return len(changes) == 1 and abs(changes[0].at - before) <= 2

    return trial


def main() -> None:
    """Prints both tables."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("  30 runs  100 runs   no threshold, 1 case: histories without a change that show one")
    for kind in KINDS:
        few, many = (share(trials, wrong(kind, count, 1, 0.0)) for count in (30, 100))
        print(f"{few:8.2f}%{many:9.2f}%   {kind}")
    print("   1 case  50 cases   a slowdown of 10%, found within two runs and alone")
    for before, after in ((26, 4), (24, 6), (20, 10), (90, 10)):
        of = [share(trials, found(before, after, cases, 0.1)) for cases in (1, 50)]
        print(f"{of[0]:8.1f}%{of[1]:9.1f}%   {before} runs before, {after} after")


if __name__ == "__main__":
    main()
