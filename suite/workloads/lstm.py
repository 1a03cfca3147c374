"""An LSTM language model that learns the successors in random token sequences."""

from __future__ import annotations

import numpy as np
import optax
from flax import nnx

from suite.models.lstm import LSTM
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of, dims_of
from suite.spec.workload import Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of an 'lstm' case; `params` may set 'seq', the tokens per sequence."""
    dims, size, policy = dims_of(case, preset), batch_of(case), POLICIES[case.precision]

    def make(rngs: nnx.Rngs) -> LSTM:
        return LSTM(
            vocab=dims["vocab"],
            width=dims["width"],
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
    # Zaremba's rate and threshold, 1 and 5, are for a loss that is summed over 20 positions: 20 and 0.25
    # for their mean. Both lower here, so that the first steps are clipped in every size.
    optimiser = optax.chain(optax.clip_by_global_norm(0.1), optax.sgd(10.0))
    return training(network, optimiser=optimiser, policy=policy, batch=batch)
