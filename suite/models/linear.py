"""One dense layer.

Shapes: B batch, I inputs, O outputs.
"""

from __future__ import annotations

import jax
from flax import nnx

from suite.models.precision import Policy


class Linear(nnx.Module):
    """y = x W + b."""

    def __init__(self, inputs: int, outputs: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(
            inputs, outputs, dtype=policy.compute_dtype, precision=policy.matmul, rngs=rngs
        )

    def __call__(self, x_bi: jax.Array) -> jax.Array:
        """Maps (B, I) to (B, O), in the policy's compute dtype."""
        y_bo: jax.Array = self.dense(x_bi)
        return y_bo
