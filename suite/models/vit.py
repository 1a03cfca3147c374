"""Vision transformer: an image as a sequence of patches, classified from a token of its own.

Dosovitskiy et al., An Image is Worth 16x16 Words (2020), as timm has it: norms come before
attention and MLP (pre-norm), biases are everywhere, positions are learned, GELU is exact. There is no
dropout or stochastic depth: a benchmark's step must be the same function every time.

Shapes: B batch, H height, W width, P side of a patch, S tokens, D width of a token, N heads, K head
size (D = N K), C classes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.attention import full_attention
from suite.models.layers import LayerNorm, dense, exact_gelu, initial_stddev
from suite.models.precision import Policy
from suite.models.stack import Stack

NORM_EPSILON = 1e-6


class Attention(nnx.Module):
    """Self-attention in which every token sees all tokens."""

    def __init__(self, width: int, heads: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.heads, self.policy = heads, policy
        small = initial_stddev(width, residual_depth=depth)
        self.qkv = dense(width, 3 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.out = dense(width, width, small, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Mixes tokens; maps (B, S, D) to (B, S, D)."""
        batch, tokens, width = x_bsd.shape
        qkv_bs3nk = self.qkv(x_bsd).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q_bsnk, k_bsnk, v_bsnk = (qkv_bs3nk[:, :, i] for i in range(3))
        out_bsd: jax.Array = self.out(full_attention(q_bsnk, k_bsnk, v_bsnk, policy=self.policy))
        return out_bsd


class FeedForward(nnx.Module):
    """Two dense layers, four times as wide between them, with GELU."""

    def __init__(self, width: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        small = initial_stddev(width, residual_depth=depth)
        self.up = dense(width, 4 * width, initial_stddev(width), policy=policy, rngs=rngs)
        self.down = dense(4 * width, width, small, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Transforms each token on its own; maps (B, S, D) to (B, S, D)."""
        out_bsd: jax.Array = self.down(exact_gelu(self.up(x_bsd)))
        return out_bsd


class Block(nnx.Module):
    """Attention and feed-forward, each normalised first and added to what came in."""

    def __init__(self, width: int, heads: int, depth: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.attention_norm = LayerNorm(width, epsilon=NORM_EPSILON, policy=policy, rngs=rngs)
        self.attention = Attention(width, heads, depth, policy=policy, rngs=rngs)
        self.feed_forward_norm = LayerNorm(width, epsilon=NORM_EPSILON, policy=policy, rngs=rngs)
        self.feed_forward = FeedForward(width, depth, policy=policy, rngs=rngs)

    def __call__(self, x_bsd: jax.Array) -> jax.Array:
        """Maps (B, S, D) to (B, S, D)."""
        x_bsd = x_bsd + self.attention(self.attention_norm(x_bsd))
        return x_bsd + self.feed_forward(self.feed_forward_norm(x_bsd))


class ViT(nnx.Module):
    """Patches embedded, a class token before them, `depth` blocks, a norm, and a dense layer.

    A convolution whose stride is its kernel is a product with the patches, and is one here: that
    is fast everywhere, and its gradient too.
    """

    def __init__(
        self,
        *,
        image: int,
        patch: int,
        classes: int,
        width: int,
        heads: int,
        depth: int,
        scan: bool,
        remat: bool = False,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.patch, self.policy = patch, policy
        tokens, pixels, stddev = 1 + (image // patch) ** 2, 3 * patch**2, initial_stddev(width)
        self.patches = dense(pixels, width, initial_stddev(pixels), policy=policy, rngs=rngs)
        self.class_token = nnx.Param(stddev * jax.random.normal(rngs.params(), (width,)))
        self.positions = nnx.Param(stddev * jax.random.normal(rngs.params(), (tokens, width)))
        self.blocks = Stack(
            lambda rngs: Block(width, heads, depth, policy=policy, rngs=rngs),
            depth=depth,
            scan=scan,
            remat=remat,
            rngs=rngs,
        )
        self.norm = LayerNorm(width, epsilon=NORM_EPSILON, policy=policy, rngs=rngs)
        self.head = dense(width, classes, stddev, policy=policy, rngs=rngs)

    def __call__(self, images_bhwc: jax.Array) -> jax.Array:
        """Maps images (B, H, W, 3) to logits (B, C), in the policy's compute dtype."""
        patches_bsd = self.patches(cut(images_bhwc, self.patch))
        batch, _, width = patches_bsd.shape
        class_b1d = jnp.broadcast_to(self.policy.cast(self.class_token[...]), (batch, 1, width))
        x_bsd = jnp.concatenate([class_b1d, patches_bsd], axis=1)
        x_bsd = self.blocks(x_bsd + self.policy.cast(self.positions[...]))
        logits_bc: jax.Array = self.head(self.norm(x_bsd[:, 0]))
        return logits_bc


def cut(images_bhwc: jax.Array, patch: int) -> jax.Array:
    """Cuts images into patches, row by row: (B, H, W, 3) to (B, H W / P^2, P P 3)."""
    batch, height, width, channels = images_bhwc.shape
    rows, columns = height // patch, width // patch
    x_brpqpc = images_bhwc.reshape(batch, rows, patch, columns, patch, channels)
    return x_brpqpc.swapaxes(2, 3).reshape(batch, rows * columns, patch * patch * channels)
