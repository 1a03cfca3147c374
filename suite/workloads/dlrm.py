"""A recommendation model that learns random clicks from random numbers and rows of its tables.

Training differentiates by the rows that a batch has looked up, not by the tables: a gradient as
large as the tables would be read and written in every step, nearly all of it zeros. The update
is added to these rows in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from suite.models.dlrm import DLRM, Table
from suite.models.precision import POLICIES, Policy
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.catalogue.dlrm import bottom_of, tables_of, top_of
from suite.spec.workload import Preset
from suite.workloads import loss_scale
from suite.workloads.base import Checks, Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network, State
from suite.workloads.training import (
    LABEL_SMOOTHING,
    Batch,
    HostBatch,
    Outputs,
    TrainState,
    predictions,
)

LEARNING_RATE = 0.5


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'dlrm' case."""
    dims, size, policy = preset.dims, batch_of(case), POLICIES[case.precision]
    tables = tables_of(dims)

    def make(rngs: nnx.Rngs) -> DLRM:
        return DLRM(tables=tables, bottom=bottom_of(dims), top=top_of(dims), policy=policy, rngs=rngs)

    def batch(rng: np.random.Generator) -> HostBatch:
        features = rng.standard_normal((size, dims["features"]), dtype=np.float32)
        indices = rng.integers(0, tables, (size, len(tables)), dtype=np.int32)
        return {"inputs": (features, indices), "targets": rng.integers(0, 2, (size,), dtype=np.int32)}

    network = Network.of(make)
    if case.mode == "infer":
        return inference(network, policy=policy, batch=batch)
    return sparse_training(network, policy=policy, batch=batch)


def sparse_training(
    network: Network, *, policy: Policy, batch: Callable[[np.random.Generator], HostBatch]
) -> Workload:
    """Returns the workload whose step trains a `DLRM` by SGD, its tables only in the rows looked up.

    A row that several samples ask for moves by the sum of what each gives, as a gradient of all
    rows would have it.
    """

    def init(key: jax.Array) -> TrainState:
        params, stats = network.init(key)
        return TrainState(params, stats, (), loss_scale.initial() if policy.loss_scaling else None)

    def merged(params: State, stats: State) -> DLRM:
        model: DLRM = nnx.merge(network.graphdef, params, stats)
        return model

    def step(state: TrainState, batch: Batch) -> tuple[TrainState, Outputs]:
        features, indices = batch["inputs"]
        factor = state.scale.factor if state.scale else 1.0
        table, dense = nnx.split_state(state.params, Table, ...)
        model = merged(state.params, state.stats)

        def objective(dense: State, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
            logits = merged(nnx.merge_state(table, dense), state.stats).predict(features, rows)
            value = binary_cross_entropy(logits, batch["targets"])
            return value * factor, value

        differentiate = jax.grad(objective, argnums=(0, 1), has_aux=True)
        grads, value = differentiate(dense, model.look_up(indices))
        scale = state.scale
        if scale:
            finite = loss_scale.all_finite(grads)
            grads = loss_scale.keep_if(
                finite, loss_scale.unscale(grads, scale), jax.tree.map(jnp.zeros_like, grads)
            )
            scale = loss_scale.adjust(scale, finite)
        dense = jax.tree.map(lambda weight, grad: weight - LEARNING_RATE * grad, dense, grads[0])
        table = _add_to_rows(table, model.where(indices), -LEARNING_RATE * grads[1])
        return TrainState(nnx.merge_state(table, dense), state.stats, (), scale), {"loss": value}

    def forward(state: TrainState, batch: Batch) -> jax.Array:
        return predictions(network, state, batch["inputs"])

    checks = Checks(loss=lambda outputs: outputs["loss"], loss_falls=True)
    return Workload(init=init, step=step, batch=batch, checks=checks, forward=forward)


def binary_cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Returns the mean binary cross-entropy in nats with smoothed labels, computed in float32.

    Args:
        logits: (batch,), any float dtype.
        targets: (batch,), 0 or 1.
    """
    logits = logits.astype(jnp.float32)
    wanted = (1 - LABEL_SMOOTHING) * targets + LABEL_SMOOTHING / 2
    return jnp.mean(jax.nn.softplus(logits) - wanted * logits)


def _add_to_rows(table: Any, where: jax.Array, update: jax.Array) -> Any:
    """Returns the state of the one table, (R, D), with updates (B, T, D) added to its rows `where` (B, T)."""
    return jax.tree.map(lambda rows: rows.at[where].add(update, mode="promise_in_bounds"), table)
