"""The same batch, over and over: a measurement takes thousands of chained steps.

They must stay finite, and stay training: chips run faster on gradients that are exact zeros.
In float16, where both are hardest.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from tests.models.running import initial, step

STEPS = 1_050


@pytest.mark.parametrize("workload_name", ["mlp", "resnet", "gpt", "llama", "moe"])
def test_over_a_thousand_steps_stay_finite(workload_name: str) -> None:
    case = (workload_name, "train", "fp16", "unroll")
    state, batch = initial(*case)
    losses = []
    for _ in range(STEPS):
        state, outputs = step(*case)(state, batch)
        losses.append(outputs["loss"])
    assert np.isfinite(losses).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))
    assert losses[-1] < losses[0]
    zeros = share_of_zeros(state.optimiser)
    assert zeros < 0.2, f"{zeros:.0%} of the optimiser's moments are zero: the gradients have died"


def share_of_zeros(optimiser: Any) -> float:
    moments = [leaf for leaf in jax.tree.leaves(optimiser) if leaf.ndim > 1]
    return sum(int((leaf == 0).sum()) for leaf in moments) / sum(leaf.size for leaf in moments)
