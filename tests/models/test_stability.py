"""The same batch, over and over: a measurement takes thousands of chained steps."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tests.models.running import initial, step

STEPS = 1_050


@pytest.mark.parametrize("precision", ["default", "fp16"])
@pytest.mark.parametrize("workload_name", ["mlp", "resnet", "gpt"])
def test_over_a_thousand_steps_stay_finite(workload_name: str, precision: str) -> None:
    case = (workload_name, "train", precision, "unroll")
    state, batch = initial(*case)
    losses = []
    for _ in range(STEPS):
        state, outputs = step(*case)(state, batch)
        losses.append(outputs["loss"])
    assert np.isfinite(losses).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("workload_name", ["mlp", "resnet", "gpt"])
def test_gradients_do_not_become_zeros_when_the_batch_is_learnt(workload_name: str) -> None:
    case = (workload_name, "train", "default", "unroll")
    state, batch = initial(*case)
    for _ in range(STEPS):
        state, _ = step(*case)(state, batch)
    moments = [leaf for leaf in jax.tree.leaves(state.optimiser) if leaf.ndim > 1]
    zeros = sum(int((leaf == 0).sum()) for leaf in moments) / sum(leaf.size for leaf in moments)
    assert zeros < 0.2, f"{zeros:.0%} of the optimiser's moments are zero"
