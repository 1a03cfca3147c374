"""The loss and its dynamic scaling: bad steps change nothing but the scale, and training goes on."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from suite.workloads import loss_scale
from suite.workloads.loss_scale import GOOD_STEPS_TO_GROW, LARGEST, LossScale
from suite.workloads.training import LABEL_SMOOTHING, cross_entropy
from tests.models.running import initial, step


def scale_of(factor: float, good_steps: int) -> LossScale:
    return LossScale(jnp.float32(factor), jnp.int32(good_steps))


def values(scale: LossScale) -> tuple[float, int]:
    return float(scale.factor), int(scale.good_steps)


@pytest.mark.parametrize(
    ("before", "finite", "after"),
    [
        ((1024, 3), True, (1024, 4)),
        ((1024, GOOD_STEPS_TO_GROW - 1), True, (2048, 0)),
        ((LARGEST, GOOD_STEPS_TO_GROW - 1), True, (LARGEST, 0)),
        ((1024, 3), False, (512, 0)),
        ((1024, GOOD_STEPS_TO_GROW - 1), False, (512, 0)),
        ((1, 0), False, (1, 0)),
    ],
)
def test_scale_adjusts(before, finite, after) -> None:
    assert values(loss_scale.adjust(scale_of(*before), jnp.bool_(finite))) == after


@pytest.mark.parametrize("workload_name", ["mlp", "resnet", "gpt"])
def test_a_step_that_overflows_is_skipped_and_training_recovers(workload_name: str) -> None:
    case = (workload_name, "train", "fp16", "unroll")
    state, batch = initial(*case)
    overflowing = state._replace(scale=scale_of(2.0**40, 7))

    skipped, outputs = step(*case)(overflowing, batch)
    assert np.isfinite(outputs["loss"])
    assert values(skipped.scale) == (2.0**39, 0)
    for part in ("params", "stats", "optimiser"):
        for old, new in zip(
            jax.tree.leaves(getattr(state, part)), jax.tree.leaves(getattr(skipped, part)), strict=True
        ):
            np.testing.assert_array_equal(old, new)

    losses = []
    for _ in range(25):
        skipped, outputs = step(*case)(skipped, batch)
        losses.append(float(outputs["loss"]))
    assert values(skipped.scale)[1] > 0, "no step has been finite"
    assert losses[-1] < losses[0]


def test_the_loss_is_smoothed_cross_entropy() -> None:
    logits, targets = np.random.default_rng(0).normal(size=(2, 3, 7)), np.array([[0, 6, 2], [3, 3, 1]])
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    wanted = np.full(logits.shape, LABEL_SMOOTHING / 7)
    np.put_along_axis(wanted, targets[..., None], 1 - LABEL_SMOOTHING + LABEL_SMOOTHING / 7, axis=-1)
    expected = -(wanted * log_probabilities).sum(axis=-1).mean()
    found = cross_entropy(jnp.asarray(logits, jnp.float32), jnp.asarray(targets, jnp.int32))
    assert float(found) == pytest.approx(expected, rel=1e-6)


def test_the_gradient_does_not_depend_on_the_scale() -> None:
    case = ("mlp", "train", "fp16", "unroll")
    state, batch = initial(*case)
    ends = [step(*case)(state._replace(scale=scale_of(factor, 0)), batch)[0] for factor in (2.0**8, 2.0**12)]
    for one, other in zip(*(jax.tree.leaves(end.params) for end in ends), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
