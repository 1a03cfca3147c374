"""An AlexNet that learns random classes of standard normal images."""

from __future__ import annotations

import numpy as np
import optax
from flax import nnx

from suite.models.alexnet import AlexNet
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.catalogue.alexnet import side_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of an 'alexnet' case."""
    dims, size, policy = preset.dims, batch_of(case), POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> AlexNet:
        return AlexNet(
            width=dims["width"],
            side=side_of(dims),
            hidden=dims["hidden"],
            classes=dims["classes"],
            policy=policy,
            rngs=rngs,
        )

    def batch(rng: np.random.Generator) -> dict[str, np.ndarray]:
        shape = (size, dims["image"], dims["image"], 3)
        return {
            "inputs": rng.standard_normal(shape, dtype=np.float32),
            "targets": rng.integers(0, dims["classes"], (size,), dtype=np.int32),
        }

    network = Network.of(make)
    if case.mode == "infer":
        return inference(network, policy=policy, batch=batch)
    optimiser = optax.chain(optax.add_decayed_weights(5e-4), optax.sgd(0.001, momentum=0.9))
    return training(network, optimiser=optimiser, policy=policy, batch=batch)
