"""The two-dimensional convolution of every network for images, channels last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from flax import nnx
from jax.typing import DTypeLike

from suite.models.precision import Policy

Initialiser = Callable[..., jax.Array]


def convolution(
    inputs: int,
    outputs: int,
    *,
    kernel: int,
    stride: int = 1,
    padding: int | Sequence[tuple[int, int]],
    bias: bool = True,
    init: Initialiser,
    policy: Policy,
    rngs: nnx.Rngs,
) -> nnx.Conv:
    """Returns a convolution from (B, H, W, inputs) to (B, h, w, outputs), in the policy's compute dtype."""
    return nnx.Conv(
        inputs,
        outputs,
        (kernel, kernel),
        strides=stride,
        padding=padding,
        use_bias=bias,
        dtype=policy.compute_dtype,
        precision=policy.matmul,
        kernel_init=init,
        rngs=rngs,
    )


def lecun_normal(key: jax.Array, shape: Sequence[int], dtype: DTypeLike = jnp.float32) -> jax.Array:
    """Draws a kernel (..., inputs, outputs) that keeps the variance of what passes (LeCun, 1998)."""
    return _normal(key, shape, 1 / math.prod(shape[:-1]), dtype)


def he_normal_fan_out(key: jax.Array, shape: Sequence[int], dtype: DTypeLike = jnp.float32) -> jax.Array:
    """Draws a kernel (k, k, inputs, outputs) that keeps the variance of gradients (He, 2015)."""
    return _normal(key, shape, 2 / (math.prod(shape[:-2]) * shape[-1]), dtype)


def glorot_normal(key: jax.Array, shape: Sequence[int], dtype: DTypeLike = jnp.float32) -> jax.Array:
    """Draws a kernel (..., inputs, outputs) that halves the difference of the two (Glorot, 2010)."""
    return _normal(key, shape, 2 / (math.prod(shape[:-2]) * (shape[-2] + shape[-1])), dtype)


def _normal(key: jax.Array, shape: Sequence[int], variance: float, dtype: DTypeLike) -> jax.Array:
    """Draws normal numbers, flat.

    The numbers are the same, and XLA compiles random numbers of one axis several times faster
    than of four, which in a deep network is most of the time to initialise.
    """
    flat = jax.random.normal(key, (math.prod(shape),), dtype)
    return (flat * math.sqrt(variance)).reshape(shape)
