"""A GPT-2 language model that learns the successors in random token sequences."""

from __future__ import annotations

import numpy as np
import optax
from flax import nnx

from suite.models.gpt import GPT
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of, dims_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'gpt' case; `params` may set 'seq', the tokens per sequence."""
    dims, size, policy = dims_of(case, preset), batch_of(case), POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> GPT:
        return GPT(
            vocab=dims["vocab"],
            context=dims["context"],
            width=dims["width"],
            heads=dims["heads"],
            depth=dims["depth"],
            scan=case.layers == "scan",
            policy=policy,
            rngs=rngs,
        )

    def batch(rng: np.random.Generator) -> dict[str, np.ndarray]:
        tokens = rng.integers(0, dims["vocab"], (size, dims["seq"] + 1), dtype=np.int32)
        return {"inputs": tokens[:, :-1].copy(), "targets": tokens[:, 1:].copy()}

    network = Network.of(make)
    if case.mode == "infer":
        return inference(network, policy=policy, batch=batch)
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(6e-4, b1=0.9, b2=0.95, weight_decay=0.1)
    )
    return training(network, optimiser=optimiser, policy=policy, batch=batch)
