"""The numerics check as a worker makes it: a fast wrong answer is no result."""

from __future__ import annotations

import pytest

from suite.measurement import checks
from suite.measurement.failure import StepFailedError
from suite.models.linear import Linear
from suite.record.schema import Checks
from suite.run import verify
from suite.run.protocol import Job
from suite.spec import catalogue
from suite.spec.settings import MeasureSettings
from suite.workloads import reference


def job(**changes: object) -> Job:
    case = catalogue.resolve("linear", preset="1k", precision="bf16")
    fields = {
        "case": case,
        "index": 0,
        "platform": "cpu",
        "seed": 5,
        "settings": MeasureSettings(),
        "verify": True,
    }
    return Job(**(fields | changes))


def test_a_larger_preset_is_vouched_for_by_its_smoke_preset() -> None:
    found = Checks()
    verify.complete(found, job())
    assert found.reference is not None
    assert found.reference.passed
    assert found.reference.preset == "smoke"
    assert found.reference.tolerance == reference.TOLERANCES["bf16"]


def test_a_model_that_computes_something_else_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Linear.__call__
    monkeypatch.setattr(Linear, "__call__", lambda self, x: honest(self, x) * 1.2)
    with pytest.raises(StepFailedError, match="disagrees with its reference") as caught:
        verify.complete(Checks(), job())
    assert caught.value.status == "wrong"


def test_where_there_is_no_check_the_reason_is_said() -> None:
    later, own = Checks(), Checks()
    verify.complete(later, job(verify=False))
    verify.complete(own, job(source="my_model.py:make"))
    assert (later.reference, own.reference) == (None, None)
    assert "first process" in later.reference_reason
    assert "one's own" in own.reference_reason


def test_the_check_takes_as_many_losses_as_the_reference_holds() -> None:
    assert checks.LOSS_STEPS == reference.STEPS


def test_a_step_without_a_loss_that_moves_its_state_is_followed_as_far_as_the_reference_was() -> None:
    check = verify.against_reference(
        catalogue.resolve("gpt", preset="smoke", mode="decode", precision="fp32")
    )
    assert check is not None
    assert check.passed, check
