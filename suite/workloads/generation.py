"""The two steps of a model that writes: reading a prompt, and adding one token to every sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from suite.models.precision import Policy
from suite.workloads.base import Workload
from suite.workloads.network import Network, State
from suite.workloads.training import array_of

PyTree = Any
Batch = Mapping[str, Any]
HostBatch = dict[str, Any]


class Decoder(Protocol):
    """What a network's model must do besides predicting at every position at once."""

    def cache(self, batch: int, slots: int) -> PyTree:
        """Returns an empty cache for `batch` sequences of up to `slots` tokens."""

    def read(self, tokens_bs: jax.Array, cache: PyTree, position: jax.Array | int) -> tuple[Any, PyTree]:
        """Reads tokens from `position` on; returns predictions of what follows the last, and the cache."""


class PrefillState(NamedTuple):
    """Parameters in the compute dtype, and the cache that a prompt fills."""

    params: State
    cache: PyTree


class DecodeState(NamedTuple):
    """Parameters in the compute dtype, the cache, and the slot of the next token (int32 scalar)."""

    params: State
    cache: PyTree
    position: jax.Array


def prefill(
    network: Network,
    *,
    policy: Policy,
    batch: Callable[[np.random.Generator], HostBatch],
    shape: tuple[int, int],
) -> Workload:
    """Returns the workload whose step reads the prompts in 'inputs' of the batch, tokens of shape (B, S).

    It fills a cache of S slots in place. The outputs are the predictions of what follows the last
    token alone, as a server needs them: logits (B, V) in the compute dtype.
    """

    def init(key: jax.Array) -> PrefillState:
        params, cache = _fresh(network, policy, shape, key)
        return PrefillState(params, cache)

    def step(state: PrefillState, batch: Batch) -> tuple[PrefillState, Any]:
        predicted, cache = _model(network, state.params).read(batch["inputs"], state.cache, 0)
        return PrefillState(state.params, cache), predicted

    return _workload(init, step, batch)


def decode(
    network: Network,
    *,
    policy: Policy,
    batch: Callable[[np.random.Generator], HostBatch],
    shape: tuple[int, int],
) -> Workload:
    """Returns the workload whose step adds one token to every sequence.

    'inputs' of the batch, tokens of shape (B, C), says what the sequences are; a step takes the column at
    its position. Were a sequence to go on with what the model finds likeliest, the rounding of
    another chip could choose another token, and all that follows would differ. Slot `position` of
    a cache with C slots is written in place and the token sees all slots, later ones masked: the
    work is the same at every position. After the last slot the position is 0 again and the
    sequences begin anew. The outputs are logits (B, V) in the compute dtype.
    """

    def init(key: jax.Array) -> DecodeState:
        return DecodeState(*_fresh(network, policy, shape, key), jnp.zeros((), jnp.int32))

    def step(state: DecodeState, batch: Batch) -> tuple[DecodeState, Any]:
        tokens_bc, at = batch["inputs"], state.position
        token_b1 = lax.dynamic_slice_in_dim(tokens_bc, at, 1, axis=1)
        predicted, cache = _model(network, state.params).read(token_b1, state.cache, at)
        after = jnp.where(at + 1 < tokens_bc.shape[1], at + 1, 0)
        return DecodeState(state.params, cache, after), predicted

    return _workload(init, step, batch)


def _fresh(network: Network, policy: Policy, shape: tuple[int, int], key: jax.Array) -> tuple[State, PyTree]:
    """Returns parameters and an empty cache with a slot for every token."""
    params = policy.stored(network.init(key)[0])
    return params, _model(network, params).cache(*shape)


def _model(network: Network, params: State) -> Decoder:
    model: Decoder = nnx.merge(network.graphdef, params)
    return model


def _workload(
    init: Callable[[jax.Array], Any],
    step: Callable[[Any, Batch], tuple[Any, Any]],
    batch: Callable[[np.random.Generator], HostBatch],
) -> Workload:
    def forward(state: Any, batch: Batch) -> jax.Array:
        return array_of(step(state, batch)[1])

    def inputs_only(rng: np.random.Generator) -> HostBatch:
        return {"inputs": batch(rng)["inputs"]}

    return Workload(init=init, step=step, batch=inputs_only, forward=forward)
