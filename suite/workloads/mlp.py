"""A multilayer perceptron that learns random classes of standard normal vectors."""

from __future__ import annotations

import numpy as np
import optax
from flax import nnx

from suite.models.mlp import MLP
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of an 'mlp' case."""
    dims, size, policy = preset.dims, batch_of(case), POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> MLP:
        return MLP(
            features=dims["features"],
            width=dims["width"],
            depth=dims["depth"],
            classes=dims["classes"],
            scan=case.layers == "scan",
            policy=policy,
            rngs=rngs,
        )

    def batch(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {
            "inputs": rng.standard_normal((size, dims["features"]), dtype=np.float32),
            "targets": rng.integers(0, dims["classes"], (size,), dtype=np.int32),
        }

    network = Network.of(make)
    if case.mode == "infer":
        return inference(network, policy=policy, batch=batch)
    return training(network, optimiser=optax.adam(1e-3), policy=policy, batch=batch)
