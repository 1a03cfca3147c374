"""LSTM: a recurrent language model.

Zaremba et al., Recurrent Neural Network Regularization (2014), without dropout: a benchmark's step
must be the same function every time. Gates come in the order of torch.nn.LSTM and cuDNN: input,
forget, cell, output; one bias for the two products. Every sequence starts from a zero state.

What depends on the input alone is one product for all positions. Only the product with the
output of the step before is inside the loop over time, and of its gradient only what the earlier
step waits for: the gradient of the recurrent weights is again one product for all positions, where
differentiating the loop would add up S matrices in the compute dtype.

Shapes: S positions, B batch, D width, G gates (4 D), V vocabulary. Time comes first inside.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from suite.models.precision import Policy
from suite.models.stack import Stack


def cell(gates_bg: jax.Array, cell_bd: jax.Array) -> tuple[jax.Array, jax.Array]:
    """One step of the recurrence, given the sum of its products.

    Args:
        gates_bg: (B, 4 D), any float dtype.
        cell_bd: (B, D) float32.

    Returns:
        (output in the dtype of the gates, new cell in float32), both (B, D).
    """
    inp, forget, new, out = jnp.split(gates_bg.astype(jnp.float32), 4, axis=-1)
    cell_bd = jax.nn.sigmoid(forget) * cell_bd + jax.nn.sigmoid(inp) * jnp.tanh(new)
    return (jax.nn.sigmoid(out) * jnp.tanh(cell_bd)).astype(gates_bg.dtype), cell_bd


Residuals = tuple[jax.Array, jax.Array, jax.Array, jax.Array]


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def recur(inputs_sbg: jax.Array, kernel_dg: jax.Array, precision: lax.Precision | None) -> jax.Array:
    """Runs the recurrence from a zero state.

    Args:
        inputs_sbg: (S, B, 4 D), what the inputs give to the gates.
        kernel_dg: (D, 4 D), from the output of the step before to the gates; of the same dtype.
        precision: of the products.

    Returns:
        Outputs of every step (S, B, D).
    """
    return _recur(inputs_sbg, kernel_dg, precision)[0]


def _recur(
    inputs_sbg: jax.Array, kernel_dg: jax.Array, precision: lax.Precision | None
) -> tuple[jax.Array, Residuals]:
    batch, width = inputs_sbg.shape[1], kernel_dg.shape[0]
    zero_bd = jnp.zeros((batch, width), inputs_sbg.dtype)

    def advance(
        carry: tuple[jax.Array, jax.Array], inputs_bg: jax.Array
    ) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, ...]]:
        before_bd, cell_bd = carry
        gates_bg = inputs_bg + jnp.dot(before_bd, kernel_dg, precision=precision)
        after_bd, new_cell_bd = cell(gates_bg, cell_bd)
        return (after_bd, new_cell_bd), (after_bd, gates_bg, before_bd, cell_bd)

    start = zero_bd, zero_bd.astype(jnp.float32)
    _, (outputs_sbd, gates_sbg, before_sbd, cells_sbd) = lax.scan(advance, start, inputs_sbg)
    return outputs_sbd, (gates_sbg, before_sbd, cells_sbd, kernel_dg)


def _recur_gradient(
    precision: lax.Precision | None, residuals: Residuals, gradient_sbd: jax.Array
) -> tuple[jax.Array, jax.Array]:
    gates_sbg, before_sbd, cells_sbd, kernel_dg = residuals

    def go_back(
        carry: tuple[jax.Array, jax.Array], step: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        output_grad_bd, cell_grad_bd = carry
        gates_bg, cell_bd, gradient_bd = step
        _, pull = jax.vjp(cell, gates_bg, cell_bd)
        gates_grad_bg, cell_grad_bd = pull((output_grad_bd + gradient_bd, cell_grad_bd))
        output_grad_bd = jnp.dot(gates_grad_bg, kernel_dg.T, precision=precision)
        return (output_grad_bd, cell_grad_bd), gates_grad_bg

    start = jnp.zeros_like(gradient_sbd[0]), jnp.zeros_like(cells_sbd[0])
    _, gates_grad_sbg = lax.scan(go_back, start, (gates_sbg, cells_sbd, gradient_sbd), reverse=True)
    kernel_grad_dg = jnp.einsum("sbd,sbg->dg", before_sbd, gates_grad_sbg, precision=precision)
    return gates_grad_sbg, kernel_grad_dg


recur.defvjp(_recur, _recur_gradient)


class Layer(nnx.Module):
    """One LSTM layer, as wide as its input."""

    def __init__(self, width: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.policy = policy
        self.inputs = _dense(width, 4 * width, policy=policy, rngs=rngs)
        self.recurrent = nnx.Param(_uniform(width)(rngs.params(), (width, 4 * width)))

    def __call__(self, x_sbd: jax.Array) -> jax.Array:
        """Maps (S, B, D) to the outputs of every step (S, B, D)."""
        return recur(self.inputs(x_sbd), self.policy.cast(self.recurrent[...]), self.policy.matmul)


class LSTM(nnx.Module):
    """A token embedding, `depth` layers, and a dense layer onto the vocabulary."""

    def __init__(
        self, *, vocab: int, width: int, depth: int, scan: bool, policy: Policy, rngs: nnx.Rngs
    ) -> None:
        init = nnx.initializers.normal(1.0)
        self.tokens = nnx.Embed(vocab, width, dtype=policy.compute_dtype, embedding_init=init, rngs=rngs)
        self.layers = Stack(
            lambda rngs: Layer(width, policy=policy, rngs=rngs), depth=depth, scan=scan, rngs=rngs
        )
        self.head = _dense(width, vocab, policy=policy, rngs=rngs)

    def __call__(self, tokens_bs: jax.Array) -> jax.Array:
        """Maps tokens (B, S) to logits (B, S, V) in the compute dtype."""
        x_sbd = self.layers(self.tokens(tokens_bs.T))
        logits_bsv: jax.Array = self.head(x_sbd.swapaxes(0, 1))
        return logits_bsv


def _uniform(width: int) -> nnx.Initializer:
    """Draws evenly from within the root of 1 / width on either side of zero, as torch.nn.LSTM does."""
    bound = 1 / math.sqrt(width)

    def draw(key: jax.Array, shape: tuple[int, ...], dtype: jax.typing.DTypeLike = jnp.float32) -> jax.Array:
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return draw


def _dense(inputs: int, outputs: int, *, policy: Policy, rngs: nnx.Rngs) -> nnx.Linear:
    return nnx.Linear(
        inputs,
        outputs,
        dtype=policy.compute_dtype,
        precision=policy.matmul,
        kernel_init=_uniform(inputs),
        rngs=rngs,
    )
