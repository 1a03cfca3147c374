"""GPT-2: a decoder-only transformer with learned positions and a tied embedding.

Radford et al., Language Models are Unsupervised Multitask Learners (2019). Norms come before
attention and MLP (pre-norm), biases are everywhere, GELU is the tanh form. There is no dropout:
a benchmark's step must be the same function every time.

Shapes: B batch, S positions, D width, H heads, K head size (D = H K), V vocabulary.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.precision import Policy
from suite.models.stack import Stack

NORM_EPSILON = 1e-5


def initial_stddev(width: int, *, residual_depth: int | None = None) -> float:
    """Returns the deviation that a model of this width draws its weights with.

    GPT-2 takes 0.02 at width 768. Scaled by the root of the width, every preset starts alike, and
    in the smallest a fault in one block still shows in the logits. A layer whose output is added
    to the residual stream starts smaller by the root of the number of additions, two for each of
    `residual_depth` blocks.
    """
    stddev = 0.02 * math.sqrt(768 / width)
    return stddev if residual_depth is None else stddev / math.sqrt(2 * residual_depth)


def causal_mask(positions: int) -> jax.Array:
    """Returns (S, S) booleans: query q sees key k where k is not later than q."""
    return jnp.tril(jnp.ones((positions, positions), dtype=bool))


class LayerNorm(nnx.Module):
    """Layer normalisation in float32, cast back to the compute dtype."""

    def __init__(self, width: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.policy = policy
        self.norm = nnx.LayerNorm(width, epsilon=NORM_EPSILON, dtype=jnp.float32, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Normalises over the last axis; keeps the shape."""
        return self.policy.cast(self.norm(x_bsd))


class Attention(nnx.Module):
    """Causal self-attention.

    The products are plain einsums, so that they compile on every accelerator: the fused kernels
    ask for accumulations that some GPUs lack in bfloat16.
    """

    def __init__(self, width: int, heads: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.heads, self.policy = heads, policy
        small = initial_stddev(width, residual_depth=depth)
        self.qkv = _dense(width, 3 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.out = _dense(width, width, small, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Mixes positions; maps (B, S, D) to (B, S, D)."""
        batch, positions, width = x_bsd.shape
        head_size = width // self.heads
        qkv_bs3hk = self.qkv(x_bsd).reshape(batch, positions, 3, self.heads, head_size)
        q_bshk, k_bshk, v_bshk = (qkv_bs3hk[:, :, i] for i in range(3))
        precision = self.policy.matmul
        # Scaled before the product, which in float16 could overflow otherwise.
        scores_bhqk = jnp.einsum("bqhd,bkhd->bhqk", q_bshk * head_size**-0.5, k_bshk, precision=precision)
        masked_bhqk = jnp.where(causal_mask(positions), scores_bhqk.astype(jnp.float32), -jnp.inf)
        weights_bhqk = self.policy.cast(jax.nn.softmax(masked_bhqk, axis=-1))
        mixed_bshk = jnp.einsum("bhqk,bkhd->bqhd", weights_bhqk, v_bshk, precision=precision)
        out_bsd: jax.Array = self.out(mixed_bshk.reshape(batch, positions, width))
        return out_bsd


class FeedForward(nnx.Module):
    """Two dense layers, four times as wide between them, with GELU."""

    def __init__(self, width: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        small = initial_stddev(width, residual_depth=depth)
        self.up = _dense(width, 4 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.down = _dense(4 * width, width, small, policy=policy, rngs=rngs)

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

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Maps (B, S, D) to (B, S, D)."""
        x_bsd = x_bsd + self.attention(self.attention_norm(x_bsd))
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
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.policy = policy
        self.tokens = _embedding(vocab, width, policy=policy, rngs=rngs)
        self.positions = _embedding(context, width, policy=policy, rngs=rngs)
        self.blocks = Stack(
            lambda rngs: Block(width, heads, depth, policy=policy, rngs=rngs),
            depth=depth,
            scan=scan,
            rngs=rngs,
        )
        self.norm = LayerNorm(width, policy=policy, rngs=rngs)

    def __call__(self, tokens_bs: jax.Array) -> jax.Array:
        """Maps tokens (B, S), S up to the context, to logits (B, S, V) in the compute dtype."""
        positions = jnp.arange(tokens_bs.shape[1])
        x_bsd = self.blocks(self.tokens(tokens_bs) + self.positions(positions))
        # nnx.Embed.attend takes no precision, so the tied product is written out.
        table_vd = self.policy.cast(self.tokens.embedding[...])
        return jnp.einsum("bsd,vd->bsv", self.norm(x_bsd), table_vd, precision=self.policy.matmul)


def _dense(inputs: int, outputs: int, stddev: float, *, policy: Policy, rngs: nnx.Rngs) -> nnx.Linear:
    return nnx.Linear(
        inputs,
        outputs,
        dtype=policy.compute_dtype,
        precision=policy.matmul,
        kernel_init=nnx.initializers.normal(stddev),
        rngs=rngs,
    )


def _embedding(rows: int, width: int, *, policy: Policy, rngs: nnx.Rngs) -> nnx.Embed:
    init = nnx.initializers.normal(initial_stddev(width))
    return nnx.Embed(rows, width, dtype=policy.compute_dtype, embedding_init=init, rngs=rngs)
