"""DLRM: a recommendation model whose parameters are tables, of which a sample reads a row each.

Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation Systems
(2019), one row per table and sample, dot interactions without the diagonal, as
facebookresearch/dlrm has it. All tables lie in one, so that a batch is looked up in one gather.

Shapes: B batch, F numbers of a sample, T tables, D width of a row, N vectors that interact (T + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from suite.models.precision import Policy


class Table(nnx.Param[jax.Array]):
    """Rows to look up: trained like other parameters, but a step reads and writes few of them."""


class Perceptron(nnx.Module):
    """Dense layers of these widths with ReLU between them and, if asked, after the last."""

    def __init__(self, widths: Sequence[int], *, last_relu: bool, policy: Policy, rngs: nnx.Rngs) -> None:
        self.last_relu = last_relu
        self.layers = nnx.Sequential(
            *(_dense(inputs, outputs, policy=policy, rngs=rngs) for inputs, outputs in pairwise(widths))
        )

    def __call__(self, x_bi: jax.Array) -> jax.Array:
        """Maps (B, first width) to (B, last width)."""
        *hidden, last = self.layers.layers
        for layer in hidden:
            x_bi = nnx.relu(layer(x_bi))
        x_bi = last(x_bi)
        return nnx.relu(x_bi) if self.last_relu else x_bi


class DLRM(nnx.Module):
    """Numbers through dense layers, rows from tables, their dot products, and dense layers again."""

    def __init__(
        self,
        *,
        tables: Sequence[int],
        bottom: Sequence[int],
        top: Sequence[int],
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.policy, self.tables = policy, tuple(tables)
        self.rows = Table(_draw_rows(rngs.params(), self.tables, bottom[-1]))
        self.bottom = Perceptron(bottom, last_relu=True, policy=policy, rngs=rngs)
        self.top = Perceptron(top, last_relu=False, policy=policy, rngs=rngs)

    def __call__(self, features_bf: jax.Array, indices_bt: jax.Array) -> jax.Array:
        """Maps numbers (B, F) and a row of each table (B, T) to logits (B,) of a click."""
        return self.predict(features_bf, self.look_up(indices_bt))

    def where(self, indices_bt: jax.Array) -> jax.Array:
        """Returns where rows of the single tables lie in the one that holds them all, (B, T)."""
        first_t = [0, *accumulate(self.tables)][:-1]
        return indices_bt + jnp.asarray(first_t, dtype=indices_bt.dtype)

    def look_up(self, indices_bt: jax.Array) -> jax.Array:
        """Returns the rows (B, T, D) in the dtype that they are stored in."""
        rows_btd: jax.Array = self.rows[...].at[self.where(indices_bt)].get(mode="promise_in_bounds")
        return rows_btd

    def predict(self, features_bf: jax.Array, rows_btd: jax.Array) -> jax.Array:
        """Maps numbers (B, F) and rows that have been looked up (B, T, D) to logits (B,)."""
        x_bd = self.bottom(features_bf)
        vectors_bnd = jnp.concatenate([x_bd[:, None], self.policy.cast(rows_btd)], axis=1)
        dots_bnn = jnp.einsum("bnd,bmd->bnm", vectors_bnd, vectors_bnd, precision=self.policy.matmul)
        # Each pair once: what is below the diagonal.
        one, other = np.tril_indices(vectors_bnd.shape[1], k=-1)
        logits_b1 = self.top(jnp.concatenate([x_bd, dots_bnn[:, one, other]], axis=1))
        return logits_b1[:, 0]


def _draw_rows(key: jax.Array, tables: Sequence[int], width: int) -> jax.Array:
    """Draws each table evenly from within the root of 1 / rows on either side of zero."""
    bounds_t = jnp.asarray([1 / math.sqrt(rows) for rows in tables], dtype=jnp.float32)
    bounds_r = jnp.repeat(bounds_t, np.asarray(tables), total_repeat_length=sum(tables))
    return bounds_r[:, None] * jax.random.uniform(key, (sum(tables), width), minval=-1, maxval=1)


def _dense(inputs: int, outputs: int, *, policy: Policy, rngs: nnx.Rngs) -> nnx.Linear:
    return nnx.Linear(
        inputs,
        outputs,
        dtype=policy.compute_dtype,
        precision=policy.matmul,
        kernel_init=nnx.initializers.normal(math.sqrt(2 / (inputs + outputs))),
        bias_init=nnx.initializers.normal(math.sqrt(1 / outputs)),
        rngs=rngs,
    )
