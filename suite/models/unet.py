"""U-Net that predicts the noise in an image: the network of denoising diffusion.

Ho et al., Denoising Diffusion Probabilistic Models (2020), as diffusers has it. There is no
dropout: a benchmark's step must be the same function every time.

Shapes: B batch, H height, W width, C channels, T width of the time embedding, S = H W pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.attention import full_attention
from suite.models.convolution import convolution, glorot_normal
from suite.models.precision import Policy

NORM_EPSILON = 1e-6
SLOWEST_PERIOD = 10_000
# Below and to the right alone, as the published weights have it.
HALVING = ((0, 1), (0, 1))


class GroupNorm(nnx.Module):
    """Group normalisation in float32, cast back to the compute dtype."""

    def __init__(self, channels: int, groups: int, *, policy: Policy, rngs: nnx.Rngs) -> None:
        self.policy = policy
        self.norm = nnx.GroupNorm(channels, groups, epsilon=NORM_EPSILON, dtype=jnp.float32, rngs=rngs)

    def __call__(self, x_bhwc: jax.Array) -> jax.Array:
        """Normalises each image over its pixels and the channels of a group; keeps the shape."""
        return self.policy.cast(self.norm(x_bhwc))


class Residual(nnx.Module):
    """Two 3x3 convolutions, the time added between them, and a shortcut."""

    def __init__(
        self, inputs: int, outputs: int, *, groups: int, time: int, policy: Policy, rngs: nnx.Rngs
    ) -> None:
        self.norm1 = GroupNorm(inputs, groups, policy=policy, rngs=rngs)
        self.conv1 = _conv(inputs, outputs, policy=policy, rngs=rngs)
        self.time = _dense(time, outputs, policy=policy, rngs=rngs)
        self.norm2 = GroupNorm(outputs, groups, policy=policy, rngs=rngs)
        self.conv2 = _conv(outputs, outputs, policy=policy, rngs=rngs)
        same = inputs == outputs
        self.shortcut = (
            None if same else _conv(inputs, outputs, kernel=1, padding=0, policy=policy, rngs=rngs)
        )

    def __call__(self, x_bhwc: jax.Array, time_bt: jax.Array) -> jax.Array:
        """Maps (B, H, W, inputs) to (B, H, W, outputs)."""
        y_bhwc = self.conv1(nnx.silu(self.norm1(x_bhwc)))
        y_bhwc = y_bhwc + self.time(time_bt)[:, None, None]
        y_bhwc = self.conv2(nnx.silu(self.norm2(y_bhwc)))
        return y_bhwc + (x_bhwc if self.shortcut is None else self.shortcut(x_bhwc))


class Attention(nnx.Module):
    """Self-attention between pixels, with one head, added to what came in."""

    def __init__(self, channels: int, *, groups: int, policy: Policy, rngs: nnx.Rngs) -> None:
        dense = partial(_dense, channels, channels, policy=policy, rngs=rngs)
        self.policy = policy
        self.norm = GroupNorm(channels, groups, policy=policy, rngs=rngs)
        self.query, self.key, self.value, self.out = dense(), dense(), dense(), dense()

    def __call__(self, x_bhwc: jax.Array) -> jax.Array:
        """Maps (B, H, W, C) to (B, H, W, C)."""
        batch, height, width, channels = x_bhwc.shape
        y_bsc = self.norm(x_bhwc).reshape(batch, height * width, channels)
        q_bsc, k_bsc, v_bsc = self.query(y_bsc), self.key(y_bsc), self.value(y_bsc)
        mixed_bsc = full_attention(
            q_bsc[:, :, None], k_bsc[:, :, None], v_bsc[:, :, None], policy=self.policy
        )
        return x_bhwc + self.out(mixed_bsc).reshape(x_bhwc.shape)


class Layer(nnx.Module):
    """A residual block and, at some sizes of the image, attention."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        attends: bool,
        groups: int,
        time: int,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.residual = Residual(inputs, outputs, groups=groups, time=time, policy=policy, rngs=rngs)
        self.attention = Attention(outputs, groups=groups, policy=policy, rngs=rngs) if attends else None

    def __call__(self, x_bhwc: jax.Array, time_bt: jax.Array) -> jax.Array:
        """Maps (B, H, W, inputs) to (B, H, W, outputs)."""
        x_bhwc = self.residual(x_bhwc, time_bt)
        return x_bhwc if self.attention is None else self.attention(x_bhwc)


class Down(nnx.Module):
    """The layers of one size of the image and, but for the smallest, a convolution that halves it."""

    def __init__(self, layers: Sequence[Layer], halve: nnx.Conv | None) -> None:
        self.layers, self.halve = nnx.Sequential(*layers), halve

    def __call__(self, x_bhwc: jax.Array, time_bt: jax.Array) -> list[jax.Array]:
        """Returns what leaves each layer, and the convolution."""
        found = []
        for layer in self.layers.layers:
            x_bhwc = layer(x_bhwc, time_bt)
            found.append(x_bhwc)
        return found if self.halve is None else [*found, self.halve(x_bhwc)]


class Up(nnx.Module):
    """The layers of one size of the image and, but for the largest, a convolution after doubling it."""

    def __init__(self, layers: Sequence[Layer], conv: nnx.Conv | None) -> None:
        self.layers, self.conv = nnx.Sequential(*layers), conv

    def __call__(self, x_bhwc: jax.Array, skips: list[jax.Array], time_bt: jax.Array) -> jax.Array:
        """Maps (B, H, W, inputs) to (B, 2 H, 2 W, outputs); each layer takes the last of `skips`."""
        for layer in self.layers.layers:
            x_bhwc = layer(join(x_bhwc, skips.pop()), time_bt)
        return x_bhwc if self.conv is None else self.conv(double(x_bhwc))


class UNet(nnx.Module):
    """Down to ever smaller images and wider layers, and up again, with a skip from each layer down.

    Every layer is told the noise level. The last convolution starts like the others, where the
    paper's starts at zero: a network that says zero whatever it is given shows no fault.
    """

    def __init__(
        self,
        *,
        image: int,
        widths: Sequence[int],
        layers: int,
        attention_image: int,
        groups: int,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        """Makes the layers.

        Args:
            image: height and width in pixels.
            widths: channels at each size of the image, the largest first.
            layers: on the way down at each size; on the way up there is one more.
            attention_image: the height at which layers attend; so does the middle.
            groups: of channels, in every norm.
            policy: the numbers to compute in.
            rngs: to draw the parameters from.
        """
        self.policy, self.width, time = policy, widths[0], 4 * widths[0]
        layer = partial(Layer, groups=groups, time=time, policy=policy, rngs=rngs)
        conv = partial(_conv, policy=policy, rngs=rngs)
        sizes = [(width, image >> level == attention_image) for level, width in enumerate(widths)]
        self.time1 = _dense(widths[0], time, policy=policy, rngs=rngs)
        self.time2 = _dense(time, time, policy=policy, rngs=rngs)
        self.first = conv(3, widths[0])
        self.down, skips = _down(sizes, layers, layer=layer, conv=conv)
        self.middle1 = layer(widths[-1], widths[-1], attends=True)
        self.middle2 = layer(widths[-1], widths[-1], attends=False)
        self.up = _up(sizes, layers, skips, layer=layer, conv=conv)
        self.norm = GroupNorm(widths[0], groups, policy=policy, rngs=rngs)
        self.last = conv(widths[0], 3)

    def __call__(self, images_bhwc: jax.Array, timesteps_b: jax.Array) -> jax.Array:
        """Maps noised images (B, H, W, 3) and their timesteps (B) to noise like the images.

        The noise is in the policy's compute dtype.
        """
        time_bt = self.policy.cast(time_embedding(timesteps_b, self.width))
        time_bt = nnx.silu(self.time2(nnx.silu(self.time1(time_bt))))
        skips = [self.first(images_bhwc)]
        for level in self.down.layers:
            skips += level(skips[-1], time_bt)
        x_bhwc = self.middle2(self.middle1(skips[-1], time_bt), time_bt)
        for level in self.up.layers:
            x_bhwc = level(x_bhwc, skips, time_bt)
        noise_bhwc: jax.Array = self.last(nnx.silu(self.norm(x_bhwc)))
        return noise_bhwc


def _down(
    sizes: Sequence[tuple[int, bool]],
    layers: int,
    *,
    layer: Callable[..., Layer],
    conv: Callable[..., nnx.Conv],
) -> tuple[nnx.Sequential, list[int]]:
    """Returns the way down, and the channels of each skip that it leaves.

    `sizes` has the channels at each size of the image, and whether its layers attend.
    """
    levels, skips = [], [sizes[0][0]]
    for level, (width, attends) in enumerate(sizes):
        inputs, smallest = [skips[-1], *[width] * (layers - 1)], level == len(sizes) - 1
        halve = None if smallest else conv(width, width, stride=2, padding=HALVING)
        levels.append(Down([layer(each, width, attends=attends) for each in inputs], halve))
        skips += [width] * (layers if smallest else layers + 1)
    return nnx.Sequential(*levels), skips


def _up(
    sizes: Sequence[tuple[int, bool]],
    layers: int,
    skips: list[int],
    *,
    layer: Callable[..., Layer],
    conv: Callable[..., nnx.Conv],
) -> nnx.Sequential:
    """Returns the way up, whose layers take these skips from the last to the first."""
    levels, below = [], sizes[-1][0]
    for level, (width, attends) in reversed(list(enumerate(sizes))):
        inputs = [each + skips.pop() for each in (below, *[width] * layers)]
        here = [layer(each, width, attends=attends) for each in inputs]
        levels.append(Up(here, conv(width, width) if level > 0 else None))
        below = width
    return nnx.Sequential(*levels)


def time_embedding(timesteps_b: jax.Array, width: int) -> jax.Array:
    """Maps timesteps (B) to sines, then cosines, of periods from 2 pi to 10,000 times that: (B, width)."""
    half = width // 2
    frequencies = jnp.exp(-math.log(SLOWEST_PERIOD) * jnp.arange(half, dtype=jnp.float32) / (half - 1))
    angles_bt = timesteps_b[:, None].astype(jnp.float32) * frequencies
    return jnp.concatenate([jnp.sin(angles_bt), jnp.cos(angles_bt)], axis=-1)


def double(x_bhwc: jax.Array) -> jax.Array:
    """Repeats each pixel: (B, H, W, C) to (B, 2 H, 2 W, C)."""
    return x_bhwc.repeat(2, axis=1).repeat(2, axis=2)


def join(x_bhwc: jax.Array, skip_bhwc: jax.Array) -> jax.Array:
    """Puts the channels of a skip behind those that came up."""
    return jnp.concatenate([x_bhwc, skip_bhwc], axis=-1)


def _conv(
    inputs: int,
    outputs: int,
    *,
    kernel: int = 3,
    stride: int = 1,
    padding: int | Sequence[tuple[int, int]] = 1,
    policy: Policy,
    rngs: nnx.Rngs,
) -> nnx.Conv:
    return convolution(
        inputs,
        outputs,
        kernel=kernel,
        stride=stride,
        padding=padding,
        init=glorot_normal,
        policy=policy,
        rngs=rngs,
    )


def _dense(inputs: int, outputs: int, *, policy: Policy, rngs: nnx.Rngs) -> nnx.Linear:
    return nnx.Linear(
        inputs,
        outputs,
        dtype=policy.compute_dtype,
        precision=policy.matmul,
        kernel_init=glorot_normal,
        rngs=rngs,
    )
