"""GPT-2: a decoder-only transformer with learned positions and a tied embedding.

Radford et al., Language Models are Unsupervised Multitask Learners (2019). Norms come before
attention and MLP (pre-norm), biases are everywhere, GELU is the tanh form. There is no dropout:
a benchmark's step must be the same function every time.

Shapes: B batch, S positions, D width, H heads, K head size (D = H K), V vocabulary.
"""

from __future__ import annotations

import jax
from flax import nnx

from suite.models import attention
from suite.models.attention import Memory
from suite.models.layers import LayerNorm, dense, embedding, initial_stddev, unembed
from suite.models.precision import Policy
from suite.models.stack import Caches, Stack


class Attention(nnx.Module):
    """Causal self-attention of as many key heads as query heads."""

    def __init__(self, width: int, heads: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.heads, self.policy = heads, policy
        small = initial_stddev(width, residual_depth=depth)
        self.qkv = dense(width, 3 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.out = dense(width, width, small, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array, memory: Memory | None = None) -> jax.Array:
        """Mixes positions; maps (B, S, D) to (B, S, D)."""
        batch, tokens, width = x_bsd.shape
        qkv_bs3hk = self.qkv(x_bsd).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q_bshk, k_bshk, v_bshk = (qkv_bs3hk[:, :, i] for i in range(3))
        mixed_bsd = attention.causal_attention(q_bshk, k_bshk, v_bshk, memory, policy=self.policy)
        out_bsd: jax.Array = self.out(mixed_bsd)
        return out_bsd


class FeedForward(nnx.Module):
    """Two dense layers, four times as wide between them, with GELU."""

    def __init__(self, width: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        small = initial_stddev(width, residual_depth=depth)
        self.up = dense(width, 4 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.down = dense(4 * width, width, small, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Transforms each position on its own; maps (B, S, D) to (B, S, D)."""
        out_bsd: jax.Array = self.down(nnx.gelu(self.up(x_bsd)))
        return out_bsd


class Block(nnx.Module):
    """Attention and feed-forward, each normalised first and added to what came in."""

    def __init__(self, width: int, heads: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.attention_norm = LayerNorm(width, policy=policy, rngs=rngs)
        self.attention = Attention(width, heads, depth, policy=policy, rngs=rngs)
        self.feed_forward_norm = LayerNorm(width, policy=policy, rngs=rngs)
        self.feed_forward = FeedForward(width, depth, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array, memory: Memory | None = None) -> jax.Array:
        """Maps (B, S, D) to (B, S, D)."""
        x_bsd = x_bsd + self.attention(self.attention_norm(x_bsd), memory)
        return x_bsd + self.feed_forward(self.feed_forward_norm(x_bsd))


class GPT(nnx.Module):
    """Token and position embeddings, `depth` blocks, a norm, and the embedding again as head."""

    def __init__(
        self,
        *,
        vocab: int,
        context: int,
        width: int,
        heads: int,
        depth: int,
        scan: bool,
        remat: bool = False,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.heads, self.head_size, self.policy = heads, width // heads, policy
        self.tokens = embedding(vocab, width, policy=policy, rngs=rngs)
        self.positions = embedding(context, width, policy=policy, rngs=rngs)
        self.blocks = Stack(
            lambda rngs: Block(width, heads, depth, policy=policy, rngs=rngs),
            depth=depth,
            scan=scan,
            remat=remat,
            rngs=rngs,
        )
        self.norm = LayerNorm(width, policy=policy, rngs=rngs)

    def __call__(self, tokens_bs: jax.Array) -> jax.Array:
        """Maps tokens (B, S), S up to the context, to logits (B, S, V) in the compute dtype."""
        return self._logits(self.blocks(self._embed(tokens_bs)))

    def cache(self, batch: int, slots: int) -> Caches:
        """Returns an empty cache for `batch` sequences of up to `slots` tokens."""
        return self.blocks.cache((batch, self.heads, slots, self.head_size), self.policy)

    def read(
        self, tokens_bs: jax.Array, cache: Caches, position: jax.Array | int
    ) -> tuple[jax.Array, Caches]:
        """Reads tokens (B, S) that stand at `position` and after it in their sequences.

        Returns logits (B, V) for what follows the last of them, and the cache with all of them.
        """
        x_bsd, cache = self.blocks.read(self._embed(tokens_bs, position), cache, position)
        return self._logits(x_bsd[:, -1:])[:, 0], cache

    def _embed(self, tokens_bs: jax.Array, position: jax.Array | int = 0) -> jax.Array:
        at_s = attention.positions(tokens_bs.shape[1], position)
        x_bsd: jax.Array = self.tokens(tokens_bs) + self.positions(at_s)
        return x_bsd

    def _logits(self, x_bsd: jax.Array) -> jax.Array:
        return unembed(self.norm(x_bsd), self.tokens, policy=self.policy)
