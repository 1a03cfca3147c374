"""What the campaign measures: steps whose amount of work is one number.

JAXMARK_CAMPAIGN_EXTRA is the share of work that a slowed arm does on top: real work in the step,
more passes of the same loop, and no sleep.
"""

from __future__ import annotations

import os

import jax
import jax.numpy as jnp

import suite

EXTRA = "JAXMARK_CAMPAIGN_EXTRA"


def _passes(usual: int) -> int:
    return round(usual * (1 + float(os.environ.get(EXTRA, "0"))))


def _repeated(body, passes: int, state, batch) -> suite.Step:
    def step(state, batch):
        state = jax.lax.fori_loop(0, passes, lambda _, x: body(x, batch), state)
        return state, state.sum()

    return suite.Step(step, state, batch)


def matmul() -> suite.Step:
    """Bound by products: 128 x 128 by 128 x 128, 200 times."""
    weights = jax.random.normal(jax.random.key(0), (128, 128)) / 128**0.5
    return _repeated(lambda x, w: jnp.tanh(x @ w), _passes(200), jnp.ones((128, 128)), weights)


def elementwise() -> suite.Step:
    """Bound by memory and simple arithmetic: 4 MB, 20 times."""
    ones = jnp.ones(2**20)
    return _repeated(lambda x, shift: 0.99 * x + 0.01 * jnp.abs(shift - x), _passes(20), 0.5 * ones, ones)
