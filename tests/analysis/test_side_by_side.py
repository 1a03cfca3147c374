"""The comparison of tools: its data are what they are said to be, and the docs show what it printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.side_by_side import (
    MACHINES,
    STEP_NS,
    Machine,
    Trials,
    by_jaxmark_without_floor,
    by_pytest_benchmark,
    draw,
    read_pyperf,
)

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = Path(__file__).with_name("side_by_side.txt")

# As pyperf 2.11 prints it.
PYPERF = """\
trial-0: Mean +- std dev: [base] 4.01 ms +- 0.05 ms -> [new] 4.41 ms +- 0.05 ms: 1.10x slower
trial-2: Mean +- std dev: [base] 4.41 ms +- 0.05 ms -> [new] 4.01 ms +- 0.05 ms: 1.10x faster

Benchmark hidden because not significant (2): trial-1, trial-3

Geometric mean: 1.00x slower
"""


def test_the_docs_show_what_the_script_printed() -> None:
    assert OUTPUT.read_text().strip() in (ROOT / "docs/statistics.md").read_text()


def test_the_output_has_every_machine() -> None:
    rows = OUTPUT.read_text().splitlines()[1:]
    assert {row.split()[0] for row in rows} == {machine.name for machine in MACHINES}
    shares = [float(word.rstrip("%")) for row in rows for word in row.split()[-3:]]
    assert all(0 <= share <= 100 for share in shares)
    ours = [row for row in rows if "jaxmark" in row]
    assert all(float(row.split()[-3].rstrip("%")) <= 5 for row in ours), "jaxmark promises 5%"


def test_the_truth_is_in_the_samples() -> None:
    still = Machine("still", 0.0, 0.0, 0.0)
    trials = draw(still, 0.1, 3, np.random.default_rng(0))
    assert trials.base.shape == trials.new.shape == (3, 7, 20)
    assert np.all(trials.base == STEP_NS)
    assert np.all(trials.new == pytest.approx(1.1 * STEP_NS))
    noisy = draw(MACHINES[1], 0.2, 400, np.random.default_rng(0))
    ratios = np.log(np.median(noisy.new, axis=(1, 2)) / np.median(noisy.base, axis=(1, 2)))
    assert np.median(ratios) == pytest.approx(np.log(1.2), abs=0.01)


def test_what_pyperf_prints_is_read_whole() -> None:
    assert read_pyperf(PYPERF, 4) == ["regressed", "neither", "improved", "neither"]
    with pytest.raises(ValueError, match="on each of 5"):
        read_pyperf(PYPERF, 5)


def test_pytest_benchmark_decides_by_the_mean_of_what_is_exported() -> None:
    ones = np.full((3, 7, 20), STEP_NS)
    # In the second the mean over processes is 6% up, in the third only the first process is.
    new = ones * np.array([1.04, 1.06, 1.0])[:, None, None]
    new[2, 0] *= 1.3
    trials = Trials(np.zeros((3, 7)), ones, np.round(new))
    assert by_pytest_benchmark(trials) == ["neither", "regressed", "neither"]
    assert by_pytest_benchmark(trials, processes=1) == ["neither", "regressed", "regressed"]
    assert by_jaxmark_without_floor(trials)[0] == "equivalent"
