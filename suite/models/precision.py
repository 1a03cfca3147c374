"""What a model's numbers are: the dtype and the precision of its products.

A model is told its policy and never asks which device it runs on. Whatever the policy, softmax,
norms and losses are float32; only the operands of products and convolutions change. Training
keeps float32 parameters. A model that only predicts keeps them as it multiplies them, as those
who serve models do: in 16 bits it reads half the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike

PyTree = Any


@dataclass(frozen=True)
class Policy:
    """Numbers of a model.

    Attributes:
        compute_dtype: of activations and of the operands of products and convolutions.
        matmul: HIGHEST asks for true float32; None leaves the choice to the hardware, which is
            TF32 on NVIDIA GPUs since Ampere and bfloat16 passes on TPUs.
        loss_scaling: float16 gradients underflow unless the loss is scaled up first.
    """

    compute_dtype: DTypeLike
    matmul: lax.Precision | None = None
    loss_scaling: bool = False

    def cast(self, x: jax.Array) -> jax.Array:
        """Returns `x` in the compute dtype."""
        return x.astype(self.compute_dtype)

    def stored(self, params: PyTree) -> PyTree:
        """Returns parameters as a model that is not trained keeps them: in the compute dtype."""
        return jax.tree.map(self.cast, params)


POLICIES = {
    "fp32": Policy(jnp.float32, matmul=lax.Precision.HIGHEST),
    "default": Policy(jnp.float32),
    "bf16": Policy(jnp.bfloat16),
    "fp16": Policy(jnp.float16, loss_scaling=True),
}
