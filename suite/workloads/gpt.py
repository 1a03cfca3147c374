"""A GPT-2 language model that learns the successors in random tokens, or reads and continues them."""

from __future__ import annotations

from flax import nnx

from suite.models.gpt import GPT
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import dims_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.language import language_model


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'gpt' case; see the catalogue's row for what `params` may set."""
    dims = dims_of(case, preset)

    def make(rngs: nnx.Rngs) -> GPT:
        return GPT(
            vocab=dims["vocab"],
            context=dims["context"],
            width=dims["width"],
            heads=dims["heads"],
            depth=dims["depth"],
            scan=case.layers == "scan",
            remat=bool(dims["remat"]),
            policy=POLICIES[case.precision],
            rngs=rngs,
        )

    return language_model(case, dims, make, learning_rate=6e-4)
