"""The recurrence's own gradient against the one that JAX takes of the loop as it is written."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from suite.models import lstm


def plain(inputs_sbg: jax.Array, kernel_dg: jax.Array) -> jax.Array:
    def advance(carry, inputs_bg):
        output_bd, cell_bd = lstm.cell(inputs_bg + carry[0] @ kernel_dg, carry[1])
        return (output_bd, cell_bd), output_bd

    start = jnp.zeros((inputs_sbg.shape[1], kernel_dg.shape[0]))
    return jax.lax.scan(advance, (start, start), inputs_sbg)[1]


def test_the_gradient_is_that_of_the_loop() -> None:
    rng = np.random.default_rng(0)
    inputs, kernel, weights = (
        rng.standard_normal(shape, dtype=np.float32) for shape in ((6, 3, 20), (5, 20), (6, 3, 5))
    )
    precision = jax.lax.Precision.HIGHEST

    def ours(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
        return jnp.sum(weights * lstm.recur(inputs, kernel, precision))

    def expected(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
        return jnp.sum(weights * plain(inputs, kernel))

    for one, other in zip(
        *(jax.jit(jax.grad(loss, argnums=(0, 1)))(inputs, kernel) for loss in (ours, expected)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
