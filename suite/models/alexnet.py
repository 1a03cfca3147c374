"""AlexNet: five convolutions and three dense layers, in a single tower, channels last.

Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks (2012), in the
widths of Krizhevsky, One weird trick for parallelizing convolutional neural networks (2014), as
torchvision has it. There is no dropout: a benchmark's step must be the same function every time.

Shapes: B batch, H height, W width, C channels, D width of a dense layer, K classes.
"""

from __future__ import annotations

from functools import partial

import jax
from flax import nnx

from suite.models.convolution import convolution, lecun_normal
from suite.models.precision import Policy


class AlexNet(nnx.Module):
    """Convolutions that see ever less of the image's detail, then dense layers that see all of it.

    There are no norms. Weights are drawn half as varied as those before a ReLU mostly are: what that
    loses, the pooling of maxima puts in again, and larger ones make the first steps unstable.
    """

    def __init__(
        self, *, width: int, side: int, hidden: int, classes: int, policy: Policy, rngs: nnx.Rngs
    ) -> None:
        """Makes the layers; `side` is the height and width, in pixels, of what leaves the last pooling."""
        conv = partial(convolution, init=lecun_normal, policy=policy, rngs=rngs)
        dense = partial(
            nnx.Linear,
            dtype=policy.compute_dtype,
            precision=policy.matmul,
            kernel_init=lecun_normal,
            rngs=rngs,
        )
        self.conv1 = conv(3, width, kernel=11, stride=4, padding=2)
        self.conv2 = conv(width, 3 * width, kernel=5, padding=2)
        self.conv3 = conv(3 * width, 6 * width, kernel=3, padding=1)
        self.conv4 = conv(6 * width, 4 * width, kernel=3, padding=1)
        self.conv5 = conv(4 * width, 4 * width, kernel=3, padding=1)
        self.dense1 = dense(side * side * 4 * width, hidden)
        self.dense2 = dense(hidden, hidden)
        self.head = dense(hidden, classes)

    def __call__(self, images_bhwc: jax.Array) -> jax.Array:
        """Maps images (B, H, W, 3) to logits (B, K), in the policy's compute dtype."""
        x_bhwc = pool(nnx.relu(self.conv1(images_bhwc)))
        x_bhwc = pool(nnx.relu(self.conv2(x_bhwc)))
        x_bhwc = nnx.relu(self.conv3(x_bhwc))
        x_bhwc = nnx.relu(self.conv4(x_bhwc))
        x_bhwc = pool(nnx.relu(self.conv5(x_bhwc)))
        x_bd = nnx.relu(self.dense1(flatten(x_bhwc)))
        x_bd = nnx.relu(self.dense2(x_bd))
        logits_bk: jax.Array = self.head(x_bd)
        return logits_bk


def pool(x_bhwc: jax.Array) -> jax.Array:
    """Takes the maximum of windows of 3x3 that overlap by one; maps H to (H - 1) / 2, rounded down."""
    pooled_bhwc: jax.Array = nnx.max_pool(x_bhwc, (3, 3), strides=(2, 2))
    return pooled_bhwc


def flatten(x_bhwc: jax.Array) -> jax.Array:
    """Maps (B, H, W, C) to (B, H W C), the channels of a pixel side by side."""
    return x_bhwc.reshape(x_bhwc.shape[0], -1)
