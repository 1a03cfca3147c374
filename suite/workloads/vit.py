"""A vision transformer that learns random classes of standard normal images."""

from __future__ import annotations

import numpy as np
import optax
from flax import nnx

from suite.models.precision import POLICIES
from suite.models.vit import ViT
from suite.spec.case import Case
from suite.spec.catalogue import batch_of, dims_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'vit' case; `params` may set 'remat'."""
    dims, size, policy = dims_of(case, preset), batch_of(case), POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> ViT:
        return ViT(
            image=dims["image"],
            patch=dims["patch"],
            classes=dims["classes"],
            width=dims["width"],
            heads=dims["heads"],
            depth=dims["depth"],
            scan=case.layers == "scan",
            remat=bool(dims["remat"]),
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
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(5e-4, b1=0.9, b2=0.999, weight_decay=0.05)
    )
    return training(network, optimiser=optimiser, policy=policy, batch=batch)
