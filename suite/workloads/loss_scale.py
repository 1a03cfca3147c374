"""Dynamic loss scaling, without which small float16 gradients become zero.

The loss is multiplied by a scale before differentiation and the gradients divided by it after.
A step whose gradients are not finite changes nothing but the scale, which is halved; after many
good steps in a row it is doubled (Micikevicius et al., Mixed Precision Training, 2018).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

INITIAL = 2.0**12
LARGEST = 2.0**24
GOOD_STEPS_TO_GROW = 2_000


class LossScale(NamedTuple):
    """The scale (float32 scalar) and the finite steps since it last changed (int32 scalar)."""

    factor: jax.Array
    good_steps: jax.Array


def initial() -> LossScale:
    """Returns the scale of the first step."""
    return LossScale(jnp.asarray(INITIAL, jnp.float32), jnp.asarray(0, jnp.int32))


def unscale(grads: Any, scale: LossScale) -> Any:
    """Returns the gradients of the loss itself, given those of the scaled loss."""
    return jax.tree.map(lambda grad: grad / scale.factor, grads)


def all_finite(tree: Any) -> jax.Array:
    """Returns whether every value of every leaf is finite (boolean scalar)."""
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(tree)]).all()


def adjust(scale: LossScale, finite: jax.Array) -> LossScale:
    """Returns the scale of the next step, given whether this step's gradients were finite."""
    grow = finite & (scale.good_steps + 1 >= GOOD_STEPS_TO_GROW)
    grown = jnp.minimum(scale.factor * 2, LARGEST)
    kept = jnp.where(grow, grown, scale.factor)
    factor = jnp.where(finite, kept, jnp.maximum(scale.factor / 2, 1.0))
    return LossScale(factor, jnp.where(finite & ~grow, scale.good_steps + 1, 0))


def keep_if(finite: jax.Array, new: Any, old: Any) -> Any:
    """Returns `new` where the step was finite, else `old`, leaf by leaf."""
    return jax.tree.map(lambda after, before: jnp.where(finite, after, before), new, old)
