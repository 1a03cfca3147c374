"""The protocol of one process on real steps."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from suite.measurement import process
from suite.measurement.aot import AotStep
from suite.measurement.failure import StepFailedError
from suite.measurement.memory import MemoryProbe
from suite.spec.settings import MeasureSettings

BRIEF = MeasureSettings(warmup_seconds=0.02, block_seconds=0.02, latency_seconds=0.02)


def measure(step, state, batch, **plan):
    stages = []
    ready = AotStep(step, state, batch)
    memory = MemoryProbe(jax.devices()[0])
    found = process.measure(ready, memory, process.Plan(settings=BRIEF, **plan), stages.append)
    return found, stages


def descend(state, batch):
    loss, grad = jax.value_and_grad(lambda w: jnp.square(w * batch).mean())(state)
    return state - 0.1 * grad, {"loss": loss}


def test_the_stages_come_in_order_and_samples_are_kept() -> None:
    found, stages = measure(
        descend, jnp.ones((8,)), jnp.ones((8,)), loss=lambda out: out["loss"], loss_falls=True
    )
    assert stages == ["first_call", "memory", "warmup", "blocks", "latency", "checks"]
    assert len(found.block_ns) >= 5
    assert found.block_steps > 1
    assert len(found.latency_ns) >= 5
    assert len(found.warmup_ns) == len(found.warmup_steps)
    assert found.compile.first_call_ns > 0
    assert found.checks.losses == sorted(found.checks.losses, reverse=True)
    assert found.conditions.compiled_during_measurement == 0


def test_a_given_k_is_used() -> None:
    found, _ = measure(descend, jnp.ones((8,)), jnp.ones((8,)), block_steps=3)
    assert found.block_steps == 3


def test_blocks_of_one_step_stand_for_the_latency_pass() -> None:
    found, stages = measure(descend, jnp.ones((8,)), jnp.ones((8,)), block_steps=1)
    assert found.latency_ns is None
    assert "latency" not in stages


def test_a_nan_loss_is_not_finite_and_names_the_step() -> None:
    def breaks(state, batch):
        return state + 1, {"loss": jnp.where(state.sum() >= 2, jnp.nan, 1.0)}

    with pytest.raises(StepFailedError, match="loss of step 3 is nan") as caught:
        measure(breaks, jnp.zeros(()), jnp.ones(()), loss=lambda out: out["loss"])
    assert caught.value.status == "not_finite"


def test_infinite_outputs_of_inference_are_not_finite() -> None:
    with pytest.raises(StepFailedError) as caught:
        measure(lambda s, b: (s, b / s), jnp.zeros((4,)), jnp.ones((4,)))
    assert caught.value.status == "not_finite"


def test_a_loss_that_should_fall_and_does_not_is_wrong() -> None:
    with pytest.raises(StepFailedError, match="must fall") as caught:
        measure(
            lambda s, b: (s, s.sum()), jnp.ones((4,)), jnp.ones((4,)), loss=lambda out: out, loss_falls=True
        )
    assert caught.value.status == "wrong"
