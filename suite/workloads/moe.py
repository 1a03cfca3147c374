"""A Mixtral language model that learns the successors in random tokens, or reads and continues them."""

from __future__ import annotations

import jax
from flax import nnx

from suite.models.llama import Rotary
from suite.models.moe import MoE, Predicted
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import dims_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.language import language_model
from suite.workloads.training import Batch, cross_entropy

# Of the published model's configuration.
BALANCE_COEFFICIENT = 0.02


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'moe' case; see the catalogue's row for what `params` may set."""
    dims = dims_of(case, preset)

    def make(rngs: nnx.Rngs) -> MoE:
        return MoE(
            vocab=dims["vocab"],
            width=dims["width"],
            heads=dims["heads"],
            groups=dims["groups"],
            hidden=dims["hidden"],
            experts=dims["experts"],
            chosen=dims["chosen"],
            depth=dims["depth"],
            capacity_percent=dims["capacity"],
            rotary=Rotary(dims["theta"]),
            scan=case.layers == "scan",
            remat=bool(dims["remat"]),
            policy=POLICIES[case.precision],
            rngs=rngs,
        )

    return language_model(case, dims, make, learning_rate=3e-4, loss=balanced, report=dropped)


def balanced(predicted: Predicted, batch: Batch) -> jax.Array:
    """Returns the cross-entropy and, at 0.02 of its weight, the loss of an uneven choice of experts."""
    assert predicted.balance is not None
    return cross_entropy(predicted.logits, batch["targets"]) + BALANCE_COEFFICIENT * predicted.balance


def dropped(predicted: Predicted) -> dict[str, jax.Array]:
    """Returns how many choices found their expert full."""
    assert predicted.dropped is not None
    return {"dropped": predicted.dropped}
