"""A fault that every workload trained with Adam can have."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest


def adam_without_bias_correction(patch: pytest.MonkeyPatch) -> None:
    def scale_by_adam(b1: float, b2: float, eps: float, **_: Any) -> optax.GradientTransformation:
        def update(grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
            mu = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mu, grads)
            nu = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state.nu, grads)
            updates = jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + eps), mu, nu)
            return updates, state._replace(count=state.count + 1, mu=mu, nu=nu)

        return optax.GradientTransformation(optax.scale_by_adam(b1, b2, eps).init, update)

    def adam(rate: float, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
        return optax.chain(scale_by_adam(b1, b2, eps), optax.scale(-rate))

    def adamw(rate: float, *, b1: float, b2: float, weight_decay: float) -> Any:
        decay = optax.add_decayed_weights(weight_decay)
        return optax.chain(scale_by_adam(b1, b2, 1e-8), decay, optax.scale(-rate))

    patch.setattr(optax, "adam", adam)
    patch.setattr(optax, "adamw", adamw)
