"""Faults of the experts and their router; what moe shares with llama and gpt is planted there."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from suite.models import moe
from suite.models.attention import Memory
from tests.models import faults_decoders
from tests.models.faults_adam import adam_without_bias_correction
from tests.models.faults_decoders import EVERY, Faults

Routed = tuple[jax.Array, jax.Array, jax.Array]


def drops_experts_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: moe.Block, stream: moe.Stream, memory: Memory | None = None) -> moe.Stream:
        x, before = stream
        x = x + self.attention(self.attention_norm(x), memory)
        answer, routing = self.experts(self.experts_norm(x), memory)
        return moe.Stream(answer, jax.tree.map(jnp.add, before, routing))

    patch.setattr(moe.Block, "__call__", call)


def changed_route(patch: pytest.MonkeyPatch, change: object) -> None:
    right = moe.Experts.route
    patch.setattr(moe.Experts, "route", lambda self, x: change(*right(self, x)))


def weights_not_renormalised(patch: pytest.MonkeyPatch) -> None:
    def change(probability: jax.Array, weight: jax.Array, expert: jax.Array) -> Routed:
        return probability, jnp.take_along_axis(probability, expert, axis=-1), expert

    changed_route(patch, change)


def weights_swapped(patch: pytest.MonkeyPatch) -> None:
    changed_route(patch, lambda probability, weight, expert: (probability, weight[:, ::-1], expert))


def next_expert(patch: pytest.MonkeyPatch) -> None:
    changed_route(patch, lambda probability, weight, expert: (probability, weight, (expert + 1) % 8))


def slots_off_by_one(patch: pytest.MonkeyPatch) -> None:
    right = moe.places

    def places(expert: jax.Array, experts: int, slots: int) -> jax.Array:
        return jnp.minimum(right(expert, experts, slots) + 1, experts * slots)

    patch.setattr(moe, "places", places)


def capacity_of_half(patch: pytest.MonkeyPatch) -> None:
    right = moe.Experts.slots
    patch.setattr(moe.Experts, "slots", lambda self, tokens: right(self, tokens) // 2)


# The experts' part in the smoke preset is small, so that a token which rounding sends elsewhere is no fault.
# What touches only how their answers are mixed, or some of the tokens, hides in the coarse precisions.
FINE = ("fp32", "fp16")
PREFILL: Faults = {
    "moe": {
        drops_experts_residual: EVERY,
        next_expert: EVERY,
        weights_not_renormalised: FINE,
        capacity_of_half: FINE,
    }
}
DECODE: Faults = {
    "moe": {
        next_expert: EVERY,
        weights_not_renormalised: FINE,
        weights_swapped: FINE,
        faults_decoders.writes_the_next_slot: EVERY,
        faults_decoders.forgets: EVERY,
    }
}
TRAIN: Faults = {"moe": {adam_without_bias_correction: FINE, slots_off_by_one: FINE}}
