"""Faults of the vision transformer: patches, positions, the class token, attention and residuals."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from suite.models import vit
from suite.models.attention import causal_attention
from suite.models.precision import Policy
from tests.models.faults_adam import adam_without_bias_correction

EVERY = ("fp32", "default", "bf16", "fp16")


def vit_cuts_columns_first(patch: pytest.MonkeyPatch) -> None:
    right = vit.cut
    patch.setattr(vit, "cut", lambda images, size: right(images.swapaxes(1, 2), size))


def vit_classifies_the_last_token(patch: pytest.MonkeyPatch) -> None:
    def call(self: vit.ViT, images: jax.Array) -> jax.Array:
        patches = self.patches(vit.cut(images, self.patch))
        token = jnp.broadcast_to(self.policy.cast(self.class_token[...]), (len(images), 1, patches.shape[-1]))
        x = jnp.concatenate([token, patches], axis=1) + self.policy.cast(self.positions[...])
        return self.head(self.norm(self.blocks(x)[:, -1]))

    patch.setattr(vit.ViT, "__call__", call)


def vit_positions_off_by_one(patch: pytest.MonkeyPatch) -> None:
    right = vit.ViT.__call__

    def call(self: vit.ViT, images: jax.Array) -> jax.Array:
        self.positions[...] = jnp.roll(self.positions[...], 1, axis=0)
        logits = right(self, images)
        self.positions[...] = jnp.roll(self.positions[...], -1, axis=0)
        return logits

    patch.setattr(vit.ViT, "__call__", call)


def vit_sees_the_past_alone(patch: pytest.MonkeyPatch) -> None:
    def full_attention(q: jax.Array, k: jax.Array, v: jax.Array, *, policy: Policy) -> jax.Array:
        return causal_attention(q, k, v, None, policy=policy)

    patch.setattr(vit, "full_attention", full_attention)


def vit_scores_unscaled(patch: pytest.MonkeyPatch) -> None:
    right = vit.full_attention

    def full_attention(q: jax.Array, k: jax.Array, v: jax.Array, **rest: object) -> jax.Array:
        return right(q * q.shape[-1] ** 0.5, k, v, **rest)

    patch.setattr(vit, "full_attention", full_attention)


def vit_drops_attention_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: vit.Block, x: jax.Array) -> jax.Array:
        x = self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))

    patch.setattr(vit.Block, "__call__", call)


def vit_without_gelu(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(vit, "exact_gelu", lambda x: x)


INFER = {
    "vit": {
        vit_cuts_columns_first: EVERY,
        vit_classifies_the_last_token: EVERY,
        vit_positions_off_by_one: EVERY,
        vit_sees_the_past_alone: EVERY,
        vit_scores_unscaled: EVERY,
        vit_drops_attention_residual: EVERY,
        vit_without_gelu: EVERY,
    }
}
TRAIN = {"vit": {adam_without_bias_correction: EVERY, vit_drops_attention_residual: ("bf16",)}}
