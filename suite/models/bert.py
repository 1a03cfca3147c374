"""BERT: a transformer encoder in which every token sees all others.

Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers (2018). Norms come after
attention and MLP and their residuals (post-norm), biases are everywhere, positions and the two
token types are learned, GELU is exact. There is no dropout: a benchmark's step must be the same
function every time. Sequences are full: no token is padding, so attention has no mask.

Shapes: B batch, S tokens, M tokens to predict, D width, H heads, K head size (D = H K), V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.attention import full_attention
from suite.models.layers import LayerNorm, dense, embedding, exact_gelu, initial_stddev, unembed
from suite.models.precision import Policy
from suite.models.stack import Stack

NORM_EPSILON = 1e-12
TOKEN_TYPES = 2


class Attention(nnx.Module):
    """Self-attention in which every token sees all tokens."""

    def __init__(self, width: int, heads: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.heads, self.policy = heads, policy
        self.qkv = dense(width, 3 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.out = dense(width, width, initial_stddev(width), policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Mixes tokens; maps (B, S, D) to (B, S, D)."""
        batch, tokens, width = x_bsd.shape
        qkv_bs3hk = self.qkv(x_bsd).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q_bshk, k_bshk, v_bshk = (qkv_bs3hk[:, :, i] for i in range(3))
        out_bsd: jax.Array = self.out(full_attention(q_bshk, k_bshk, v_bshk, policy=self.policy))
        return out_bsd


class FeedForward(nnx.Module):
    """Two dense layers, four times as wide between them, with GELU."""

    def __init__(self, width: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.up = dense(width, 4 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.down = dense(4 * width, width, initial_stddev(width), policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Transforms each token on its own; maps (B, S, D) to (B, S, D)."""
        out_bsd: jax.Array = self.down(exact_gelu(self.up(x_bsd)))
        return out_bsd


class Block(nnx.Module):
    """Attention and feed-forward, each added to what came in and normalised then."""

    def __init__(self, width: int, heads: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.attention = Attention(width, heads, policy=policy, rngs=rngs)
        self.attention_norm = norm(width, policy=policy, rngs=rngs)
        self.feed_forward = FeedForward(width, policy=policy, rngs=rngs)
        self.feed_forward_norm = norm(width, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Maps (B, S, D) to (B, S, D)."""
        x_bsd = self.attention_norm(x_bsd + self.attention(x_bsd))
        out_bsd: jax.Array = self.feed_forward_norm(x_bsd + self.feed_forward(x_bsd))
        return out_bsd


class Encoder(nnx.Module):
    """Embeddings of tokens, positions and token types, a norm, and `depth` blocks."""

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
        self.policy = policy
        self.tokens = embedding(vocab, width, policy=policy, rngs=rngs)
        self.positions = embedding(context, width, policy=policy, rngs=rngs)
        self.types = embedding(TOKEN_TYPES, width, policy=policy, rngs=rngs)
        self.norm = norm(width, policy=policy, rngs=rngs)
        self.blocks = Stack(
            lambda rngs: Block(width, heads, policy=policy, rngs=rngs),
            depth=depth,
            scan=scan,
            remat=remat,
            rngs=rngs,
        )

    def __call__(self, tokens_bs: jax.Array, types_bs: jax.Array) -> jax.Array:
        """Maps tokens and their types, S up to the context, to hidden states (B, S, D)."""
        positions = jnp.arange(tokens_bs.shape[1])
        x_bsd = self.tokens(tokens_bs) + self.positions(positions) + self.types(types_bs)
        hidden_bsd: jax.Array = self.blocks(self.norm(x_bsd))
        return hidden_bsd


class Encoded(NamedTuple):
    """What the encoder gives: hidden states (B, S, D) and the pooled first token (B, D)."""

    hidden: jax.Array
    pooled: jax.Array


class Pooled(nnx.Module):
    """The encoder, and a dense layer with tanh on its first token."""

    def __init__(self, encoder: Encoder, *, width: int, policy: Policy, rngs: nnx.Rngs) -> None:
        self.encoder = encoder
        self.pooler = dense(width, width, initial_stddev(width), policy=policy, rngs=rngs)

    def __call__(self, tokens_bs: jax.Array, types_bs: jax.Array) -> Encoded:
        """Encodes tokens (B, S) of these types, in the compute dtype."""
        hidden_bsd = self.encoder(tokens_bs, types_bs)
        return Encoded(hidden_bsd, jnp.tanh(self.pooler(hidden_bsd[:, 0])))


class MaskedLanguageModel(nnx.Module):
    """The encoder, and the head that predicts some of its tokens: the embedding again as last layer."""

    def __init__(self, encoder: Encoder, *, vocab: int, width: int, policy: Policy, rngs: nnx.Rngs) -> None:
        self.policy, self.encoder = policy, encoder
        self.transform = dense(width, width, initial_stddev(width), policy=policy, rngs=rngs)
        self.norm = norm(width, policy=policy, rngs=rngs)
        self.bias = nnx.Param(jnp.zeros((vocab,)))

    def __call__(self, tokens_bs: jax.Array, types_bs: jax.Array, masked_bm: jax.Array) -> jax.Array:
        """Returns logits (B, M, V) of the tokens at these positions, in the compute dtype.

        Taken out before the head, which is most of the work where all of them are predicted.
        """
        hidden_bsd = self.encoder(tokens_bs, types_bs)
        x_bmd = jnp.take_along_axis(hidden_bsd, masked_bm[..., None], axis=1)
        x_bmd = self.norm(exact_gelu(self.transform(x_bmd)))
        return unembed(x_bmd, self.encoder.tokens, policy=self.policy) + self.policy.cast(self.bias[...])


def norm(width: int, *, policy: Policy, rngs: nnx.Rngs) -> LayerNorm:
    """Returns a layer norm with BERT's epsilon."""
    return LayerNorm(width, epsilon=NORM_EPSILON, policy=policy, rngs=rngs)
