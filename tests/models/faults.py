"""Faults that a port to new hardware, or a careless change, could bring: each planted for real.

Every fault takes pytest's MonkeyPatch and changes the model or the optimiser underneath the
workload that is built next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

from suite.models import gpt, resnet
from suite.workloads.reference import TOLERANCES
from tests.models import faults_lstm

Fault = Callable[[pytest.MonkeyPatch], None]


def gpt_drops_attention_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: gpt.Block, x: jax.Array) -> jax.Array:
        x = self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))

    patch.setattr(gpt.Block, "__call__", call)


def gpt_drops_feed_forward_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: gpt.Block, x: jax.Array) -> jax.Array:
        x = x + self.attention(self.attention_norm(x))
        return self.feed_forward(self.feed_forward_norm(x))

    patch.setattr(gpt.Block, "__call__", call)


def gpt_sees_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gpt, "causal_mask", lambda positions: jnp.ones((positions, positions), dtype=bool))


def gpt_sees_one_ahead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gpt, "causal_mask", lambda positions: jnp.tri(positions, k=1, dtype=bool))


def gpt_mask_transposed(patch: pytest.MonkeyPatch) -> None:
    right = gpt.causal_mask
    patch.setattr(gpt, "causal_mask", lambda positions: right(positions).T)


def resnet_drops_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: resnet.Basic, x: jax.Array) -> jax.Array:
        return nnx.relu(self.second(nnx.relu(self.first(x))))

    patch.setattr(resnet.Basic, "__call__", call)


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


def batch_norm_in_the_other_mode(patch: pytest.MonkeyPatch) -> None:
    right = nnx.BatchNorm.__call__

    def call(self: nnx.BatchNorm, x: jax.Array) -> jax.Array:
        return right(self, x, use_running_average=not self.use_running_average)

    patch.setattr(nnx.BatchNorm, "__call__", call)


def batch_norm_never_moves(patch: pytest.MonkeyPatch) -> None:
    right = nnx.BatchNorm.__call__

    def call(self: nnx.BatchNorm, x: jax.Array) -> jax.Array:
        mean, var = self.mean[...], self.var[...]
        y = right(self, x)
        self.mean[...], self.var[...] = mean, var
        return y

    patch.setattr(nnx.BatchNorm, "__call__", call)


EVERY = tuple(TOLERANCES)
# Workload -> fault -> the precisions to plant it in. What is wrong with the forward pass shows in
# either mode, and inference compiles in no time: training repeats it in one precision.
INFER: dict[str, dict[Fault, tuple[str, ...]]] = {
    "gpt": {
        gpt_drops_attention_residual: EVERY,
        gpt_drops_feed_forward_residual: EVERY,
        gpt_sees_everything: EVERY,
        gpt_sees_one_ahead: EVERY,
        gpt_mask_transposed: EVERY,
    },
    "resnet": {resnet_drops_residual: EVERY, batch_norm_in_the_other_mode: EVERY},
}
TRAIN: dict[str, dict[Fault, tuple[str, ...]]] = {
    "mlp": {adam_without_bias_correction: EVERY},
    "gpt": {
        adam_without_bias_correction: EVERY,
        gpt_drops_feed_forward_residual: ("bf16",),
        gpt_sees_one_ahead: ("bf16",),
    },
    "resnet": {
        batch_norm_in_the_other_mode: EVERY,
        batch_norm_never_moves: EVERY,
        resnet_drops_residual: ("bf16",),
    },
}
# Other workloads have a file of their own.
for _module in (faults_lstm,):
    INFER |= _module.INFER
    TRAIN |= _module.TRAIN
