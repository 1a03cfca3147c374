"""One dense layer, applied to a batch of standard normal vectors."""

from __future__ import annotations

import numpy as np
from flax import nnx

from suite.models.linear import Linear
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'linear' case."""
    inputs, outputs, size = preset.dims["inputs"], preset.dims["outputs"], batch_of(case)
    policy = POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> Linear:
        return Linear(inputs, outputs, policy=policy, rngs=rngs)

    def batch(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"inputs": rng.standard_normal((size, inputs), dtype=np.float32)}

    return inference(Network.of(make), policy=policy, batch=batch)
