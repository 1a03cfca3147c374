"""The training loop of Flax's own guides: `nnx.jit` over a model and an optimizer."""

from __future__ import annotations

import time

import jax
import numpy as np
import optax
from flax import nnx

from suite.models.mlp import MLP
from suite.models.precision import POLICIES


@nnx.jit
def train_step(model, optimizer, batch):
    def loss_fn(model):
        logits = model(batch["inputs"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["targets"]).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


class IdiomLoop:
    """The same perceptron, precision, optimiser and batch as an 'mlp' training case."""

    def __init__(self, dims, precision: str, batch):
        self.model = MLP(**dims, scan=False, policy=POLICIES[precision], rngs=nnx.Rngs(0))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-3), wrt=nnx.Param)
        self.batch = jax.device_put({name: np.array(value) for name, value in batch.items()})
        self.time_block(2)

    def time_block(self, steps):
        """Nanoseconds of `steps` steps, one wait for the loss and all parameters at the end."""
        model, optimizer, batch = self.model, self.optimizer, self.batch
        began = time.perf_counter_ns()
        for _ in range(steps):
            loss = train_step(model, optimizer, batch)
        jax.block_until_ready((loss, nnx.state(model), nnx.state(optimizer)))
        return time.perf_counter_ns() - began
