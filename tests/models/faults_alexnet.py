"""Faults of AlexNet: what a port could get wrong in pooling, padding and the step to dense layers."""

from __future__ import annotations

import jax
import pytest
from flax import nnx

from suite.models import alexnet


def alexnet_pools_means(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(alexnet, "pool", lambda x: nnx.avg_pool(x, (3, 3), strides=(2, 2)))


def alexnet_pools_without_overlap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(alexnet, "pool", lambda x: nnx.max_pool(x[:, :-1, :-1], (2, 2), strides=(2, 2)))


def alexnet_flattens_channels_first(patch: pytest.MonkeyPatch) -> None:
    def flatten(x: jax.Array) -> jax.Array:
        return x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1)

    patch.setattr(alexnet, "flatten", flatten)


def alexnet_pads_one_side_more(patch: pytest.MonkeyPatch) -> None:
    right = alexnet.convolution

    def convolution(inputs: int, outputs: int, *, kernel: int, padding: int, **rest: object) -> nnx.Conv:
        uneven = [(padding + 1, padding - 1)] * 2 if kernel == 3 else padding
        return right(inputs, outputs, kernel=kernel, padding=uneven, **rest)

    patch.setattr(alexnet, "convolution", convolution)


EVERY = ("fp32", "default", "bf16", "fp16")
INFER = {
    "alexnet": {
        alexnet_pools_means: EVERY,
        alexnet_pools_without_overlap: EVERY,
        alexnet_flattens_channels_first: EVERY,
        alexnet_pads_one_side_more: EVERY,
    }
}
TRAIN = {"alexnet": {alexnet_pools_means: ("bf16",)}}
