"""Llama 3: a decoder-only transformer with rotary positions, grouped-query attention and gated layers.

Grattafiori et al., The Llama 3 Herd of Models (2024). Norms by the root mean square come before
attention and MLP, there are no biases, and the head is the embedding again in the small models.

Shapes: B batch, S positions, D width, H query heads, G heads of keys and values, K head size,
F = K / 2 frequencies, M hidden width of the MLP, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from suite.models import attention
from suite.models.attention import Memory
from suite.models.layers import RMSNorm, dense, embedding, initial_stddev, unembed
from suite.models.precision import Policy
from suite.models.stack import Caches, Stack


@dataclass(frozen=True)
class Rotary:
    """How positions turn queries and keys (Su et al., RoFormer, 2021).

    Attributes:
        theta: the base of the wavelengths.
        factor: Llama 3.1 and later stretch long wavelengths by it, to reach further than the
            model was first trained for; 1 stretches none.
        trained_context: for which it was first trained. Wavelengths of which less than one fits
            into it are stretched, those of which more than four fit are not; between, in part.
    """

    theta: float
    factor: float = 1.0
    trained_context: int = 8_192

    def frequencies(self, size: int) -> np.ndarray:
        """Returns the turn per position of each pair of a head's values, in radians: (F,) float32."""
        plain_f = self.theta ** (-np.arange(0, size, 2) / size)
        fitting_f = self.trained_context * plain_f / (2 * math.pi)
        kept_f = np.clip((fitting_f - 1) / (4 - 1), 0, 1)
        return (plain_f * (kept_f + (1 - kept_f) / self.factor)).astype(np.float32)

    def turn(self, x_bshk: jax.Array, positions_s: jax.Array) -> jax.Array:
        """Turns each value of a head's first half with the one of its second half, in float32."""
        angles_sf = positions_s[:, None].astype(jnp.float32) * self.frequencies(x_bshk.shape[-1])
        cos_s1f, sin_s1f = jnp.cos(angles_sf)[:, None], jnp.sin(angles_sf)[:, None]
        first, second = jnp.split(x_bshk.astype(jnp.float32), 2, axis=-1)
        turned = (first * cos_s1f - second * sin_s1f, second * cos_s1f + first * sin_s1f)
        return jnp.concatenate(turned, axis=-1).astype(x_bshk.dtype)


class Attention(nnx.Module):
    """Causal self-attention in which each head of keys and values serves several query heads."""

    def __init__(
        self,
        width: int,
        heads: int,
        groups: int,
        depth: int,
        *,
        rotary: Rotary,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.rotary, self.policy = rotary, policy
        small = initial_stddev(width, residual_depth=depth)
        outputs = (heads + 2 * groups) * self.size
        self.qkv = dense(width, outputs, initial_stddev(width), bias=False, policy=policy, rngs=rngs)
        self.out = dense(width, width, small, bias=False, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array, memory: Memory | None = None) -> jax.Array:
        """Mixes positions; maps (B, S, D) to (B, S, D)."""
        batch, tokens, _ = x_bsd.shape
        qkv_bsnk = self.qkv(x_bsd).reshape(batch, tokens, -1, self.size)
        cuts = (self.heads, self.heads + self.groups)
        q_bshk, k_bsgk, v_bsgk = jnp.split(qkv_bsnk, cuts, axis=2)
        at_s = attention.positions(tokens, 0 if memory is None else memory.position)
        q_bshk, k_bsgk = self.rotary.turn(q_bshk, at_s), self.rotary.turn(k_bsgk, at_s)
        mixed_bsd = attention.causal_attention(q_bshk, k_bsgk, v_bsgk, memory, policy=self.policy)
        out_bsd: jax.Array = self.out(mixed_bsd)
        return out_bsd


class FeedForward(nnx.Module):
    """SwiGLU: a dense layer gated by another's SiLU, and one back (Shazeer, 2020)."""

    def __init__(self, width: int, hidden: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        small = initial_stddev(width, residual_depth=depth)
        self.gate_up = dense(width, 2 * hidden, initial_stddev(width), bias=False, policy=policy, rngs=rngs)
        self.down = dense(hidden, width, small, bias=False, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Transforms each position on its own; maps (B, S, D) to (B, S, D)."""
        gate_bsm, up_bsm = jnp.split(self.gate_up(x_bsd), 2, axis=-1)
        out_bsd: jax.Array = self.down(nnx.silu(gate_bsm) * up_bsm)
        return out_bsd


class Block(nnx.Module):
    """Attention and feed-forward, each normalised first and added to what came in."""

    def __init__(
        self,
        width: int,
        heads: int,
        groups: int,
        hidden: int,
        depth: int,
        *,
        rotary: Rotary,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.attention_norm = RMSNorm(width, policy=policy, rngs=rngs)
        self.attention = Attention(width, heads, groups, depth, rotary=rotary, policy=policy, rngs=rngs)
        self.feed_forward_norm = RMSNorm(width, policy=policy, rngs=rngs)
        self.feed_forward = FeedForward(width, hidden, depth, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array, memory: Memory | None = None) -> jax.Array:
        """Maps (B, S, D) to (B, S, D)."""
        x_bsd = x_bsd + self.attention(self.attention_norm(x_bsd), memory)
        return x_bsd + self.feed_forward(self.feed_forward_norm(x_bsd))


class Llama(nnx.Module):
    """Token embedding, `depth` blocks, a norm and a head, which may be the embedding again (`tied`)."""

    def __init__(
        self,
        *,
        vocab: int,
        width: int,
        heads: int,
        groups: int,
        hidden: int,
        depth: int,
        tied: bool,
        rotary: Rotary,
        scan: bool,
        remat: bool = False,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.groups, self.head_size, self.tied, self.policy = groups, width // heads, tied, policy
        self.tokens = embedding(vocab, width, policy=policy, rngs=rngs)
        self.blocks = Stack(
            lambda rngs: Block(width, heads, groups, hidden, depth, rotary=rotary, policy=policy, rngs=rngs),
            depth=depth,
            scan=scan,
            remat=remat,
            rngs=rngs,
        )
        self.norm = RMSNorm(width, policy=policy, rngs=rngs)
        if not tied:
            self.head = dense(width, vocab, initial_stddev(width), bias=False, policy=policy, rngs=rngs)

    def __call__(self, tokens_bs: jax.Array) -> jax.Array:
        """Maps tokens (B, S) to logits (B, S, V) in the compute dtype."""
        return self._logits(self.blocks(self.tokens(tokens_bs)))

    def cache(self, batch: int, slots: int) -> Caches:
        """Returns an empty cache for `batch` sequences of up to `slots` tokens."""
        return self.blocks.cache((batch, self.groups, slots, self.head_size), self.policy)

    def read(
        self, tokens_bs: jax.Array, cache: Caches, position: jax.Array | int
    ) -> tuple[jax.Array, Caches]:
        """Reads tokens (B, S) that stand at `position` and after it in their sequences.

        Returns logits (B, V) for what follows the last of them, and the cache with all of them.
        """
        x_bsd, cache = self.blocks.read(self.tokens(tokens_bs), cache, position)
        return self._logits(x_bsd[:, -1:])[:, 0], cache

    def _logits(self, x_bsd: jax.Array) -> jax.Array:
        if self.tied:
            return unembed(self.norm(x_bsd), self.tokens, policy=self.policy)
        logits_bsv: jax.Array = self.head(self.norm(x_bsd))
        return logits_bsv
