"""Attention, and the cache that lets a decoder read every token once.

Shapes: B batch, S tokens read now, C slots of the cache, H query heads, G heads of keys and values
(H = G R: each serves R query heads), K head size.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from suite.models.precision import Policy


class Cache(NamedTuple):
    """Keys and values of the tokens read so far, in the compute dtype.

    Attributes:
        keys: (B, G, C, K) of one layer, (L, B, G, C, K) of a stack of L: what is multiplied lies
            together, so that no step has to move the cache around before its products.
        values: the same.
    """

    keys: jax.Array
    values: jax.Array


def empty_cache(shape: tuple[int, ...], policy: Policy) -> Cache:
    """Returns a cache of this shape that no token has been written to."""
    return Cache(jnp.zeros(shape, policy.compute_dtype), jnp.zeros(shape, policy.compute_dtype))


class Memory:
    """A cache as one layer's attention sees it.

    It lives while the step is traced: attention adds what it has read, and the stack then takes
    `cache` from it. Slots are written in place, whether the cache is the layer's own or that of
    all layers, which a scan carries along: given to a scan layer by layer, it would be copied.

    Args:
        cache: of the layer, or of the whole stack.
        position: the slot of the first token read now, an int32 scalar; earlier ones are full.
        layer: the layer's place in the stack's cache; None where the cache is its own.
    """

    def __init__(self, cache: Cache, position: jax.Array | int, layer: jax.Array | None = None) -> None:
        self.cache, self.position, self.layer = cache, position, layer

    def add(self, k_bgsk: jax.Array, v_bgsk: jax.Array) -> Cache:
        """Writes the keys and values of tokens; returns all slots of the layer, (B, G, C, K)."""
        self.cache = Cache(self._write(self.cache.keys, k_bgsk), self._write(self.cache.values, v_bgsk))
        return Cache(self._read(self.cache.keys), self._read(self.cache.values))

    def _write(self, slots: jax.Array, new_bgsk: jax.Array) -> jax.Array:
        if self.layer is None:
            return lax.dynamic_update_slice(slots, new_bgsk, (0, 0, self.position, 0))
        return lax.dynamic_update_slice(slots, new_bgsk[None], (self.layer, 0, 0, self.position, 0))

    def _read(self, slots: jax.Array) -> jax.Array:
        if self.layer is None:
            return slots
        own: jax.Array = lax.dynamic_index_in_dim(slots, self.layer, keepdims=False)
        return own


def positions(tokens: int, start: jax.Array | int) -> jax.Array:
    """Returns where tokens stand in their sequence, the first of them at `start`: (S,) int32."""
    return start + jnp.arange(tokens, dtype=jnp.int32)


def causal_mask(positions_s: jax.Array, slots: int) -> jax.Array:
    """Returns (S, C) booleans: a query sees the slots up to its own position, later ones never."""
    return positions_s[:, None] >= jnp.arange(slots, dtype=jnp.int32)


def causal_attention(
    q_bshk: jax.Array, k_bsgk: jax.Array, v_bsgk: jax.Array, memory: Memory | None, *, policy: Policy
) -> jax.Array:
    """Mixes the values that each query may see; returns (B, S, H K).

    Without a memory the tokens see each other, with one also what it holds.
    """
    k_bgck, v_bgck = k_bsgk.swapaxes(1, 2), v_bsgk.swapaxes(1, 2)
    if memory is not None:
        k_bgck, v_bgck = memory.add(k_bgck, v_bgck)
    at_s = positions(q_bshk.shape[1], 0 if memory is None else memory.position)
    return _mix(q_bshk, k_bgck, v_bgck, causal_mask(at_s, k_bgck.shape[2]), policy)


def full_attention(q_bshk: jax.Array, k_bsgk: jax.Array, v_bsgk: jax.Array, *, policy: Policy) -> jax.Array:
    """Mixes the values of all tokens for each query; returns (B, S, H K)."""
    return _mix(q_bshk, k_bsgk.swapaxes(1, 2), v_bsgk.swapaxes(1, 2), None, policy)


def _mix(
    q_bshk: jax.Array, k_bgck: jax.Array, v_bgck: jax.Array, visible_sc: jax.Array | None, policy: Policy
) -> jax.Array:
    """The products are plain einsums, so that they compile on every accelerator: the fused kernels
    ask for accumulations that some GPUs lack in bfloat16. Keys and values that several query heads
    share are an axis of the product and never repeated.
    """
    batch, tokens, heads, size = q_bshk.shape
    groups = k_bgck.shape[1]
    # Scaled before the product, which in float16 could overflow otherwise.
    q_bsgrk = (q_bshk * size**-0.5).reshape(batch, tokens, groups, heads // groups, size)
    scores_bgrsc = jnp.einsum("bsgrk,bgck->bgrsc", q_bsgrk, k_bgck, precision=policy.matmul)
    scores_bgrsc = scores_bgrsc.astype(jnp.float32)
    if visible_sc is not None:
        scores_bgrsc = jnp.where(visible_sc, scores_bgrsc, -jnp.inf)
    weights_bgrsc = policy.cast(jax.nn.softmax(scores_bgrsc, axis=-1))
    mixed_bsgrk = jnp.einsum("bgrsc,bgck->bsgrk", weights_bgrsc, v_bgck, precision=policy.matmul)
    return mixed_bsgrk.reshape(batch, tokens, heads * size)
