"""What a model's numbers are: the dtype and the precision of its products.

A model is told its policy and never asks which device it runs on. Whatever the policy,
parameters are float32, and so are softmax, norms and losses; only the operands of products and
convolutions change.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike


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


POLICIES = {
    "fp32": Policy(jnp.float32, matmul=lax.Precision.HIGHEST),
    "default": Policy(jnp.float32),
    "bf16": Policy(jnp.bfloat16),
    "fp16": Policy(jnp.float16, loss_scaling=True),
}
