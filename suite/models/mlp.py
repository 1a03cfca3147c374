"""Multilayer perceptron.

Shapes: B batch, F features, D width, C classes.
"""

from __future__ import annotations

import jax
from flax import nnx

from suite.models.precision import Policy
from suite.models.stack import Stack


class Hidden(nnx.Module):
    """A dense layer and ReLU, initialised to keep the variance of what passes (He, 2015)."""

    def __init__(self, inputs: int, outputs: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(
            inputs,
            outputs,
            dtype=policy.compute_dtype,
            precision=policy.matmul,
            kernel_init=nnx.initializers.he_normal(),
            rngs=rngs,
        )

    def __call__(self, x_bi: jax.Array) -> jax.Array:
        """Maps (B, inputs) to (B, outputs)."""
        return nnx.relu(self.dense(x_bi))


class MLP(nnx.Module):
    """`depth` hidden layers of one width, then a dense layer onto the classes."""

    def __init__(
        self,
        *,
        features: int,
        width: int,
        depth: int,
        classes: int,
        scan: bool,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.first = Hidden(features, width, policy=policy, rngs=rngs)
        self.hidden = Stack(
            lambda rngs: Hidden(width, width, policy=policy, rngs=rngs),
            depth=depth - 1,
            scan=scan,
            rngs=rngs,
        )
        self.head = nnx.Linear(width, classes, dtype=policy.compute_dtype, precision=policy.matmul, rngs=rngs)

    def __call__(self, x_bf: jax.Array) -> jax.Array:
        """Maps features (B, F) to logits (B, C), in the policy's compute dtype."""
        x_bd = self.hidden(self.first(x_bf))
        logits_bc: jax.Array = self.head(x_bd)
        return logits_bc
