"""Faults of BERT."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from suite.models import bert

EVERY = ("fp32", "default", "bf16", "fp16")
# Where the outputs differ by 14%, which is not three times what 8 bits may.
FINE = ("fp32", "fp16")


def norm_comes_first(patch: pytest.MonkeyPatch) -> None:
    def call(self: bert.Block, x: jax.Array) -> jax.Array:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))

    patch.setattr(bert.Block, "__call__", call)


def drops_attention_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: bert.Block, x: jax.Array) -> jax.Array:
        x = self.attention_norm(self.attention(x))
        return self.feed_forward_norm(x + self.feed_forward(x))

    patch.setattr(bert.Block, "__call__", call)


def drops_feed_forward_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: bert.Block, x: jax.Array) -> jax.Array:
        x = self.attention_norm(x + self.attention(x))
        return self.feed_forward_norm(self.feed_forward(x))

    patch.setattr(bert.Block, "__call__", call)


def forgets_token_types(patch: pytest.MonkeyPatch) -> None:
    right = bert.Encoder.__call__
    patch.setattr(
        bert.Encoder, "__call__", lambda self, tokens, types: right(self, tokens, jnp.zeros_like(types))
    )


def attends_to_itself(patch: pytest.MonkeyPatch) -> None:
    def own(q: jax.Array, k: jax.Array, v: jax.Array, *, policy: bert.Policy) -> jax.Array:
        return v.reshape(*v.shape[:2], -1)

    patch.setattr(bert, "full_attention", own)


def pools_the_last_token(patch: pytest.MonkeyPatch) -> None:
    def call(self: bert.Pooled, tokens: jax.Array, types: jax.Array) -> bert.Encoded:
        hidden = self.encoder(tokens, types)
        return bert.Encoded(hidden, jnp.tanh(self.pooler(hidden[:, -1])))

    patch.setattr(bert.Pooled, "__call__", call)


def predicts_the_tokens_beside(patch: pytest.MonkeyPatch) -> None:
    right = bert.MaskedLanguageModel.__call__
    patch.setattr(
        bert.MaskedLanguageModel,
        "__call__",
        lambda self, tokens, types, masked: right(self, tokens, types, (masked + 1) % tokens.shape[1]),
    )


def head_without_norm(patch: pytest.MonkeyPatch) -> None:
    right = bert.MaskedLanguageModel.__call__

    def call(self: bert.MaskedLanguageModel, *inputs: jax.Array) -> jax.Array:
        self.norm = lambda x: x
        return right(self, *inputs)

    patch.setattr(bert.MaskedLanguageModel, "__call__", call)


INFER = {
    "bert": {
        norm_comes_first: FINE,
        drops_attention_residual: EVERY,
        drops_feed_forward_residual: EVERY,
        forgets_token_types: EVERY,
        attends_to_itself: EVERY,
        pools_the_last_token: EVERY,
    }
}
TRAIN = {
    "bert": {
        predicts_the_tokens_beside: EVERY,
        head_without_norm: EVERY,
        drops_attention_residual: ("bf16",),
    }
}
