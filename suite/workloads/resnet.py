"""A residual network that learns random classes of standard normal images."""

from __future__ import annotations

import numpy as np
import optax
from flax import nnx

from suite.models.precision import POLICIES
from suite.models.resnet import ResNet
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.catalogue.resnet import stages_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'resnet' case."""
    dims, size, policy = preset.dims, batch_of(case), POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> ResNet:
        return ResNet(
            stages=stages_of(dims),
            width=dims["width"],
            classes=dims["classes"],
            bottleneck=bool(dims["bottleneck"]),
            imagenet_stem=bool(dims["imagenet_stem"]),
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
    return training(network, optimiser=optax.sgd(0.02, momentum=0.9), policy=policy, batch=batch)
