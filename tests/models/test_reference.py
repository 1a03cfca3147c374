"""The numerics check: honest runs pass on every version, planted faults fail in every precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, reference, regenerate
from suite.workloads.reference import Reference
from tests.models import faults
from tests.models.running import RUN, Run, check, fields, honest, ids, initial, quick_jit, smoke

PLANTED = [
    pytest.param(workload, mode, fault, precision, id=f"{workload}-{mode}-{fault.__name__}-{precision}")
    for mode, table in faults.OF_MODE.items()
    for workload, planted in table.items()
    for fault, precisions in planted.items()
    for precision in precisions
]
REGENERATED = [case for spec in catalogue.all_specs() for case in regenerate.cases(spec.name)]
KNOWN = Reference("smoke", losses=[2.0, 1.0], before=[1.0, -1.0], after=[2.0, -2.0])
RIGHT = (np.array([1.0, -1.0]), np.array([2.0, -2.0]))


@pytest.mark.parametrize("case", RUN, ids=ids(RUN))
def test_an_honest_run_passes_with_room_to_spare(case: Case) -> None:
    found = check(case, honest(case))
    print(f"{case.key}: loss {found.loss_error}, outputs {found.output_error:.2g}, of {found.tolerance}")
    assert found.passed
    assert max(found.output_error, found.loss_error or 0.0) < found.tolerance / 3


@pytest.mark.parametrize(("workload", "mode", "fault", "precision"), PLANTED)
def test_a_planted_fault_is_caught_with_room_to_spare(
    workload: str, mode: str, fault: faults.Fault, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = smoke(workload, mode, precision)
    state, batch = initial(*fields(case))
    fault(monkeypatch)
    found = check(case, Run(*regenerate.run(build(case), state, batch, quick_jit)))
    print(
        f"{fault.__name__}: loss {found.loss_error}, outputs {found.output_error:.2g}, of {found.tolerance}"
    )
    assert not found.passed
    assert max(found.output_error, found.loss_error or 0.0) > found.tolerance * 3


@pytest.mark.parametrize("case", REGENERATED, ids=ids(REGENERATED))
def test_the_committed_file_is_what_the_command_writes(case: Case) -> None:
    committed = reference.lookup(case)
    run = honest(case)
    assert committed is not None
    np.testing.assert_allclose(committed.losses or [], run.losses or [], rtol=1e-4)
    for values, predictions in ((committed.before, run.before), (committed.after, run.after)):
        np.testing.assert_allclose(values, reference.sample(predictions), rtol=1e-3, atol=1e-4)


def test_a_reference_is_of_the_smoke_preset_as_it_comes() -> None:
    assert reference.lookup(catalogue.resolve("mlp", preset="smoke", precision="bf16")) is not None
    for other in ({"preset": "small"}, {"preset": "smoke", "batch": 3}):
        assert reference.lookup(catalogue.resolve("mlp", **other)) is None
    assert reference.lookup(catalogue.resolve("gpt", preset="smoke", params={"seq": 8})) is None


def test_a_perfect_run_has_no_error() -> None:
    found = reference.compare(KNOWN, [2.0, 1.0], *RIGHT, "fp32")
    assert (found.loss_error, found.output_error, found.passed) == (0.0, 0.0, True)


def test_errors_are_relative_and_the_largest_counts() -> None:
    found = reference.compare(KNOWN, [2.0, 1.1], np.array([1.0, -1.0]), np.array([2.2, -2.0]), "bf16")
    assert found.loss_error == pytest.approx(0.1)
    assert found.output_error == pytest.approx(0.2 / math.sqrt(8), rel=1e-5)
    assert not found.passed


@pytest.mark.parametrize(
    ("losses", "before", "after"),
    [
        (None, *RIGHT),
        ([2.0], *RIGHT),
        ([2.0, None], *RIGHT),
        ([2.0, math.nan], *RIGHT),
        ([2.0, 1.0], None, RIGHT[1]),
        ([2.0, 1.0], RIGHT[0], np.array([2.0, math.nan])),
        ([2.0, 1.0], RIGHT[0], np.array([2.0, -2.0, 0.0])),
    ],
)
def test_anything_missing_or_not_finite_fails(losses, before, after) -> None:
    assert not reference.compare(KNOWN, losses, before, after, "bf16").passed


def test_a_sample_is_bounded_and_reaches_both_ends() -> None:
    predictions = np.arange(10_000, dtype=np.float32).reshape(100, 100)
    picked = reference.sample(predictions)
    assert len(picked) == reference.SAMPLES
    assert (picked[0], picked[-1]) == (0.0, 9_999.0)
