"""Faults of the LSTM."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from suite.models import lstm

EVERY = ("fp32", "default", "bf16", "fp16")


def gates_in_another_order(patch: pytest.MonkeyPatch) -> None:
    right = lstm.cell

    def cell(gates: jax.Array, state: jax.Array) -> tuple[jax.Array, jax.Array]:
        inp, forget, new, out = jnp.split(gates, 4, axis=-1)
        return right(jnp.concatenate([inp, forget, out, new], axis=-1), state)

    patch.setattr(lstm, "cell", cell)


def forgets_everything(patch: pytest.MonkeyPatch) -> None:
    right = lstm.cell
    patch.setattr(lstm, "cell", lambda gates, state: right(gates, jnp.zeros_like(state)))


def reads_backwards(patch: pytest.MonkeyPatch) -> None:
    right = lstm.recur
    patch.setattr(lstm, "recur", lambda x, kernel, precision: right(x[::-1], kernel, precision)[::-1])


def drops_recurrent_product(patch: pytest.MonkeyPatch) -> None:
    right = lstm.recur
    patch.setattr(lstm, "recur", lambda x, kernel, precision: right(x, jnp.zeros_like(kernel), precision))


def recurrent_gradient_off_by_one(patch: pytest.MonkeyPatch) -> None:
    def gradient(precision: Any, residuals: Any, grad: jax.Array) -> tuple[jax.Array, jax.Array]:
        gates, before, cells, kernel = residuals
        return lstm._recur_gradient(precision, (gates, jnp.roll(before, -1, axis=0), cells, kernel), grad)

    recur = jax.custom_vjp(lambda x, kernel, precision: lstm._recur(x, kernel, precision)[0], (2,))
    recur.defvjp(lstm._recur, gradient)
    patch.setattr(lstm, "recur", recur)


def no_clipping(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(optax, "clip_by_global_norm", lambda limit: optax.identity())


INFER = {
    "lstm": {
        gates_in_another_order: EVERY,
        forgets_everything: EVERY,
        reads_backwards: EVERY,
        drops_recurrent_product: EVERY,
    }
}
# The gradient of the recurrent weights is too small a part of five steps to show in 8 bits: it is compared
# with JAX's own in test_lstm.py.
TRAIN = {"lstm": {recurrent_gradient_off_by_one: ("fp32",), no_clipping: EVERY, reads_backwards: ("bf16",)}}
