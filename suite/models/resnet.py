"""Residual networks for images, channels last.

He et al., Deep Residual Learning for Image Recognition (2015). The bottleneck's stride is in its
3x3 convolution, as torchvision has it (ResNet v1.5).

Shapes: B batch, H height, W width, C channels, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.convolution import convolution, he_normal_fan_out
from suite.models.precision import Policy

MOMENTUM = 0.9
NORM_EPSILON = 1e-5


class ConvNorm(nnx.Module):
    """A convolution without bias, then BatchNorm.

    BatchNorm runs in float32 whatever the policy: it is told so, because left to itself it
    rounds its running statistics to the compute dtype in some versions of Flax.
    """

    def __init__(
        self, inputs: int, outputs: int, *, kernel: int, stride: int = 1, policy: Policy, rngs: nnx.Rngs
    ) -> None:
        self.policy = policy
        self.conv = convolution(
            inputs,
            outputs,
            kernel=kernel,
            stride=stride,
            padding=kernel // 2,
            bias=False,
            init=he_normal_fan_out,
            policy=policy,
            rngs=rngs,
        )
        self.norm = nnx.BatchNorm(
            outputs, momentum=MOMENTUM, epsilon=NORM_EPSILON, dtype=jnp.float32, rngs=rngs
        )

    def __call__(self, x_bhwc: jax.Array) -> jax.Array:
        """Maps (B, H, W, inputs) to (B, H / stride, W / stride, outputs), rounded up."""
        y_bhwc = self.conv(x_bhwc).astype(jnp.float32)
        return self.policy.cast(self.norm(y_bhwc))


class Basic(nnx.Module):
    """Two 3x3 convolutions and a shortcut."""

    expansion = 1

    def __init__(self, inputs: int, width: int, *, stride: int, policy: Policy, rngs: nnx.Rngs) -> None:
        self.first = ConvNorm(inputs, width, kernel=3, stride=stride, policy=policy, rngs=rngs)
        self.second = ConvNorm(width, width, kernel=3, policy=policy, rngs=rngs)
        self.shortcut = _shortcut(inputs, width, stride=stride, policy=policy, rngs=rngs)

    def __call__(self, x_bhwc: jax.Array) -> jax.Array:
        """Maps (B, H, W, inputs) to (B, H / stride, W / stride, width)."""
        y_bhwc = self.second(nnx.relu(self.first(x_bhwc)))
        residual_bhwc = x_bhwc if self.shortcut is None else self.shortcut(x_bhwc)
        return nnx.relu(y_bhwc + residual_bhwc)


class Bottleneck(nnx.Module):
    """1x1 down, 3x3, 1x1 up to four times the width, and a shortcut."""

    expansion = 4

    def __init__(self, inputs: int, width: int, *, stride: int, policy: Policy, rngs: nnx.Rngs) -> None:
        outputs = width * self.expansion
        self.down = ConvNorm(inputs, width, kernel=1, policy=policy, rngs=rngs)
        self.conv = ConvNorm(width, width, kernel=3, stride=stride, policy=policy, rngs=rngs)
        self.up = ConvNorm(width, outputs, kernel=1, policy=policy, rngs=rngs)
        self.shortcut = _shortcut(inputs, outputs, stride=stride, policy=policy, rngs=rngs)

    def __call__(self, x_bhwc: jax.Array) -> jax.Array:
        """Maps (B, H, W, inputs) to (B, H / stride, W / stride, 4 width)."""
        y_bhwc = self.up(nnx.relu(self.conv(nnx.relu(self.down(x_bhwc)))))
        residual_bhwc = x_bhwc if self.shortcut is None else self.shortcut(x_bhwc)
        return nnx.relu(y_bhwc + residual_bhwc)


class ResNet(nnx.Module):
    """A stem, stages of residual blocks, the mean over positions, and a dense layer.

    From the second stage on, each halves height and width and doubles the channels. The ImageNet
    stem halves twice (7x7 convolution, 3x3 maximum); the one for small images keeps the size.
    """

    def __init__(
        self,
        *,
        stages: Sequence[int],
        width: int,
        classes: int,
        bottleneck: bool,
        imagenet_stem: bool,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.imagenet_stem = imagenet_stem
        kernel, stride = (7, 2) if imagenet_stem else (3, 1)
        self.stem = ConvNorm(3, width, kernel=kernel, stride=stride, policy=policy, rngs=rngs)
        self.blocks, channels = _blocks(
            stages, width, block=Bottleneck if bottleneck else Basic, policy=policy, rngs=rngs
        )
        self.policy = policy
        self.head = nnx.Linear(
            channels, classes, dtype=policy.compute_dtype, precision=policy.matmul, rngs=rngs
        )

    def __call__(self, images_bhwc: jax.Array) -> jax.Array:
        """Maps images (B, H, W, 3) to logits (B, K), in the policy's compute dtype."""
        x_bhwc = nnx.relu(self.stem(images_bhwc))
        if self.imagenet_stem:
            x_bhwc = nnx.max_pool(x_bhwc, (3, 3), strides=(2, 2), padding=((1, 1), (1, 1)))
        x_bhwc = self.blocks(x_bhwc)
        x_bc = jnp.mean(x_bhwc, axis=(1, 2), dtype=jnp.float32)
        logits_bk: jax.Array = self.head(self.policy.cast(x_bc))
        return logits_bk


def _blocks(
    stages: Sequence[int],
    width: int,
    *,
    block: type[Basic] | type[Bottleneck],
    policy: Policy,
    rngs: nnx.Rngs,
) -> tuple[nnx.Sequential, int]:
    """Returns the residual blocks in order and the channels that leave the last."""
    blocks, channels = [], width
    for stage, count in enumerate(stages):
        stage_width = width * 2**stage
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            blocks.append(block(channels, stage_width, stride=stride, policy=policy, rngs=rngs))
            channels = stage_width * block.expansion
    return nnx.Sequential(*blocks), channels


def _shortcut(inputs: int, outputs: int, *, stride: int, policy: Policy, rngs: nnx.Rngs) -> ConvNorm | None:
    """Returns a 1x1 convolution where the block changes the shape, else nothing: the identity."""
    if stride == 1 and inputs == outputs:
        return None
    return ConvNorm(inputs, outputs, kernel=1, stride=stride, policy=policy, rngs=rngs)
