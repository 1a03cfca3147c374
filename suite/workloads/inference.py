"""An inference step: predictions out, state unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from suite.models.precision import Policy
from suite.workloads.base import Checks, Workload
from suite.workloads.network import Network, State

Batch = Mapping[str, Any]
HostBatch = dict[str, Any]


class InferState(NamedTuple):
    """Parameters in the compute dtype and float32 BatchNorm statistics of a network that only predicts."""

    params: State
    stats: State


def inference(
    network: Network,
    *,
    policy: Policy,
    batch: Callable[[np.random.Generator], HostBatch],
    compared: Callable[[Any], jax.Array] = lambda predictions: predictions,
) -> Workload:
    """Returns the workload whose step is one forward pass over 'inputs' of the batch.

    The outputs are the predictions themselves, in the model's compute dtype: a step that gave
    only a scalar of them would let the compiler skip work. Where they are several arrays,
    `compared` picks the one that the numerics check compares.
    """

    def init(key: jax.Array) -> InferState:
        params, stats = network.init(key)
        return InferState(policy.stored(params), stats)

    def step(state: InferState, batch: Batch) -> tuple[InferState, Any]:
        predictions, _ = network.apply(state.params, state.stats, batch["inputs"], train=False)
        return state, predictions

    def forward(state: InferState, batch: Batch) -> jax.Array:
        return compared(step(state, batch)[1]).astype(jnp.float32)

    def inputs_only(rng: np.random.Generator) -> HostBatch:
        return {"inputs": batch(rng)["inputs"]}

    return Workload(init=init, step=step, batch=inputs_only, checks=Checks(), forward=forward)
