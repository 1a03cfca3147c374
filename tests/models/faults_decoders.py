"""Faults of decoders: in the attention, the cache and the generation that they share, and in GPT's blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from suite.models import attention, gpt
from suite.models.attention import Memory
from suite.workloads import generation
from suite.workloads.reference import TOLERANCES
from tests.models.faults_adam import adam_without_bias_correction

Fault = Callable[[pytest.MonkeyPatch], None]
# Workload -> fault -> the precisions to plant it in.
Faults = dict[str, dict[Fault, tuple[str, ...]]]
EVERY = tuple(TOLERANCES)


def drops_attention_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: gpt.Block, x: jax.Array, memory: Memory | None = None) -> jax.Array:
        x = self.attention(self.attention_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))

    patch.setattr(gpt.Block, "__call__", call)


def drops_feed_forward_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: gpt.Block, x: jax.Array, memory: Memory | None = None) -> jax.Array:
        x = x + self.attention(self.attention_norm(x), memory)
        return self.feed_forward(self.feed_forward_norm(x))

    patch.setattr(gpt.Block, "__call__", call)


def sees_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attention, "causal_mask", lambda at, slots: jnp.ones((len(at), slots), dtype=bool))


def sees_one_ahead(patch: pytest.MonkeyPatch) -> None:
    right = attention.causal_mask
    patch.setattr(attention, "causal_mask", lambda at, slots: right(at + 1, slots))


def sees_not_itself(patch: pytest.MonkeyPatch) -> None:
    right = attention.causal_mask
    patch.setattr(attention, "causal_mask", lambda at, slots: right(jnp.maximum(at - 1, 0), slots))


def mask_transposed(patch: pytest.MonkeyPatch) -> None:
    right = attention.causal_mask
    patch.setattr(attention, "causal_mask", lambda at, slots: right(at, slots).T)


def writes_the_next_slot(patch: pytest.MonkeyPatch) -> None:
    right = Memory.add

    def add(self: Memory, k: jax.Array, v: jax.Array) -> attention.Cache:
        self.position, position = self.position + 1, self.position
        try:
            return right(self, k, v)
        finally:
            self.position = position

    patch.setattr(Memory, "add", add)


def forgets(patch: pytest.MonkeyPatch) -> None:
    right = Memory.add

    def add(self: Memory, k: jax.Array, v: jax.Array) -> attention.Cache:
        kept, seen = self.cache, right(self, k, v)
        self.cache = kept
        return seen

    patch.setattr(Memory, "add", add)


def mixes_keys_and_values_up(patch: pytest.MonkeyPatch) -> None:
    right = Memory.add
    patch.setattr(Memory, "add", lambda self, k, v: right(self, v, k))


def reads_one_token_over_and_over(patch: pytest.MonkeyPatch) -> None:
    def first(tokens: jax.Array, at: Any, size: int, axis: int) -> jax.Array:
        return tokens[:, :size]

    patch.setattr(generation.lax, "dynamic_slice_in_dim", first)


def stands_still(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attention, "positions", lambda tokens, start: jnp.zeros((tokens,), jnp.int32))


# What is wrong with the forward pass shows in every mode, and the prefill compiles in no time. What hardly
# reaches the last token, all that a prefill predicts for, shows in 8 bits where more is predicted for.
PREFILL: Faults = {
    "gpt": {
        drops_attention_residual: EVERY,
        drops_feed_forward_residual: EVERY,
        sees_everything: EVERY,
        sees_one_ahead: ("fp32", "fp16"),
        mask_transposed: EVERY,
    },
}
DECODE: Faults = {
    "gpt": {
        sees_everything: EVERY,
        sees_one_ahead: EVERY,
        sees_not_itself: EVERY,
        writes_the_next_slot: EVERY,
        forgets: EVERY,
        mixes_keys_and_values_up: EVERY,
        reads_one_token_over_and_over: EVERY,
        stands_still: EVERY,
    },
}
TRAIN: Faults = {
    "gpt": {
        adam_without_bias_correction: EVERY,
        drops_feed_forward_residual: ("bf16",),
        sees_one_ahead: ("default", "bf16"),
    },
}
