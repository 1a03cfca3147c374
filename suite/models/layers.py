"""What transformers are made of besides attention: dense layers, embeddings and norms."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.precision import Policy

NORM_EPSILON = 1e-5


def initial_stddev(width: int, *, residual_depth: int | None = None) -> float:
    """Returns the deviation that a model of this width draws its weights with.

    GPT-2 takes 0.02 at width 768. Scaled by the root of the width, every preset starts alike, and
    in the smallest a fault in one block still shows in the logits. A layer whose output is added
    to the residual stream starts smaller by the root of the number of additions, two for each of
    `residual_depth` blocks.
    """
    stddev = 0.02 * math.sqrt(768 / width)
    return stddev if residual_depth is None else stddev / math.sqrt(2 * residual_depth)


def dense(
    inputs: int, outputs: int, stddev: float, *, bias: bool = True, policy: Policy, rngs: nnx.Rngs
) -> nnx.Linear:
    """Returns a dense layer in the policy's numbers, its weights drawn with `stddev`."""
    return nnx.Linear(
        inputs,
        outputs,
        use_bias=bias,
        dtype=policy.compute_dtype,
        precision=policy.matmul,
        kernel_init=nnx.initializers.normal(stddev),
        rngs=rngs,
    )


def embedding(rows: int, width: int, *, policy: Policy, rngs: nnx.Rngs) -> nnx.Embed:
    """Returns a table of `rows` vectors, read in the policy's numbers."""
    init = nnx.initializers.normal(initial_stddev(width))
    return nnx.Embed(rows, width, dtype=policy.compute_dtype, embedding_init=init, rngs=rngs)


def unembed(x_bsd: jax.Array, table: nnx.Embed, *, policy: Policy) -> jax.Array:
    """Returns logits (B, S, V): the products with every row of an embedding that is also the head.

    nnx.Embed.attend takes no precision, so the product is written out.
    """
    table_vd = policy.cast(table.embedding[...])
    return jnp.einsum("bsd,vd->bsv", x_bsd, table_vd, precision=policy.matmul)


@jax.custom_vjp
def exact_gelu(x: jax.Array) -> jax.Array:
    """GELU with the error function, in float32 and cast back.

    Its gradient keeps nothing but `x`, in whatever dtype that is: differentiated as it stands, it
    would keep float32 values of the largest activation there is.
    """
    return jax.nn.gelu(x.astype(jnp.float32), approximate=False).astype(x.dtype)


def _gelu_gradient(x: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
    _, pull = jax.vjp(lambda x: jax.nn.gelu(x, approximate=False), x.astype(jnp.float32))
    return (pull(gradient.astype(jnp.float32))[0].astype(x.dtype),)


exact_gelu.defvjp(lambda x: (exact_gelu(x), x), _gelu_gradient)


class LayerNorm(nnx.Module):
    """Layer normalisation in float32, cast back to the compute dtype."""

    def __init__(self, width: int, *, epsilon: float = NORM_EPSILON, policy: Policy, rngs: nnx.Rngs) -> None:
        self.policy = policy
        self.norm = nnx.LayerNorm(width, epsilon=epsilon, dtype=jnp.float32, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalises over the last axis; keeps the shape."""
        return self.policy.cast(self.norm(x))


class RMSNorm(nnx.Module):
    """Division by the root of the mean square, in float32, cast back to the compute dtype."""

    def __init__(self, width: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.policy = policy
        self.norm = nnx.RMSNorm(width, epsilon=NORM_EPSILON, dtype=jnp.float32, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalises over the last axis; keeps the shape."""
        return self.policy.cast(self.norm(x))
