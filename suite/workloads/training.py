"""The training step of every workload: forward, gradient, optimiser update."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from suite.models.precision import Policy
from suite.workloads import loss_scale
from suite.workloads.base import Checks, Workload
from suite.workloads.loss_scale import LossScale
from suite.workloads.network import Network, State

Batch = Mapping[str, Any]
HostBatch = dict[str, Any]
Outputs = dict[str, jax.Array]
Loss = Callable[[Any, Batch], jax.Array]
Report = Callable[[Any], Outputs]

# A measurement takes thousands of steps on one batch. Learnt by heart without smoothing, its
# gradients become exact zeros, on which chips draw less power and run faster than in training.
LABEL_SMOOTHING = 0.1


class TrainState(NamedTuple):
    """Everything that a training step reads and replaces.

    Attributes:
        params: trainable parameters, float32.
        stats: BatchNorm's running statistics; empty without BatchNorm.
        optimiser: the state of the optax transformation.
        scale: dynamic loss scale; None where the precision needs none.
    """

    params: State
    stats: State
    optimiser: Any
    scale: LossScale | None


def classification(logits: jax.Array, batch: Batch) -> jax.Array:
    """Returns the mean cross-entropy of logits (..., classes) with the batch's integer 'targets' (...)."""
    return cross_entropy(logits, batch["targets"])


def training(
    network: Network,
    *,
    optimiser: optax.GradientTransformation,
    policy: Policy,
    batch: Callable[[np.random.Generator], HostBatch],
    loss: Loss = classification,
    report: Report | None = None,
) -> Workload:
    """Returns the workload whose step trains `network` on one fixed batch.

    The batch holds the network's 'inputs', an array or several in a tuple, and what the loss
    reads, which is called as loss(predictions, batch) and gives a float32 scalar. The outputs are
    {'loss': float32 scalar}, from before the update, and what `report` makes of the predictions.
    """

    def init(key: jax.Array) -> TrainState:
        params, stats = network.init(key)
        scale = loss_scale.initial() if policy.loss_scaling else None
        return TrainState(params, stats, optimiser.init(params), scale)

    def objective(
        params: State, stats: State, batch: Batch, factor: jax.Array | float
    ) -> tuple[jax.Array, tuple[Outputs, State]]:
        predicted, new_stats = network.apply(params, stats, batch["inputs"], train=True)
        value = loss(predicted, batch)
        outputs = {"loss": value} | (report(predicted) if report else {})
        return value * factor, (outputs, new_stats)

    def step(state: TrainState, batch: Batch) -> tuple[TrainState, Outputs]:
        factor = state.scale.factor if state.scale else 1.0
        differentiate = jax.grad(objective, has_aux=True)
        grads, (outputs, stats) = differentiate(state.params, state.stats, batch, factor)
        if state.scale:
            grads = loss_scale.unscale(grads, state.scale)
        updates, optimiser_state = optimiser.update(grads, state.optimiser, state.params)
        params = optax.apply_updates(state.params, updates)
        new = TrainState(params, stats, optimiser_state, state.scale)
        if state.scale:
            finite = loss_scale.all_finite(grads)
            new = loss_scale.keep_if(finite, new, state)
            new = new._replace(scale=loss_scale.adjust(state.scale, finite))
        return new, outputs

    def forward(state: TrainState, batch: Batch) -> jax.Array:
        return predictions(network, state, batch["inputs"])

    checks = Checks(loss=lambda outputs: outputs["loss"], loss_falls=True)
    return Workload(init=init, step=step, batch=batch, checks=checks, forward=forward)


def cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Returns the mean cross-entropy in nats with smoothed labels, computed in float32.

    A target counts for all but `LABEL_SMOOTHING`, which is shared by all classes alike. Written
    with the normaliser apart, so that the log-probabilities of every class are never stored.

    Args:
        logits: (..., classes), any float dtype.
        targets: (...), integer classes.
    """
    logits = logits.astype(jnp.float32)
    right = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    expected = (1 - LABEL_SMOOTHING) * right + LABEL_SMOOTHING * jnp.mean(logits, axis=-1)
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - expected)


def predictions(network: Network, state: TrainState, inputs: Any) -> jax.Array:
    """Returns the network's predictions in float32, as the numerics check compares them.

    A network with BatchNorm predicts twice, (2, ...): normalised by the batch as in training,
    and by the running statistics, which show whether the training steps moved them.
    """
    modes = (True, False) if jax.tree.leaves(state.stats) else (True,)
    found = [network.apply(state.params, state.stats, inputs, train=mode)[0] for mode in modes]
    stacked = jnp.stack([array_of(each) for each in found])
    return stacked if len(modes) > 1 else stacked[0]


def array_of(predicted: Any) -> jax.Array:
    """Returns predictions in float32: an array, or 'logits' among what a network gives."""
    array: jax.Array = getattr(predicted, "logits", predicted)
    return array.astype(jnp.float32)
