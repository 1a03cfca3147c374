"""Faults of the U-Net and of sampling: skips, time, sizes of the image, and the steps of the loop."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from suite.models import unet
from suite.workloads import diffusion
from tests.models.faults_adam import adam_without_bias_correction

EVERY = ("fp32", "default", "bf16", "fp16")


def unet_joins_in_the_other_order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unet, "join", lambda x, skip: jnp.concatenate([skip, x], axis=-1))


def unet_is_not_told_the_time(patch: pytest.MonkeyPatch) -> None:
    right = unet.time_embedding
    patch.setattr(unet, "time_embedding", lambda timesteps, width: right(jnp.zeros_like(timesteps), width))


def unet_doubles_by_tiling(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unet, "double", lambda x: jnp.tile(x, (1, 2, 2, 1)))


def unet_halves_with_the_other_padding(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unet, "HALVING", ((1, 0), (1, 0)))


def unet_drops_attention_residual(patch: pytest.MonkeyPatch) -> None:
    right = unet.Attention.__call__
    patch.setattr(unet.Attention, "__call__", lambda self, x: right(self, x) - x)


def sampling_never_clips(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jnp, "clip", lambda x, *limits: x)


def sampling_adds_no_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jax.random, "normal", lambda key, shape, *_: jnp.zeros(shape))


def sampling_goes_on_from_what_is_done(patch: pytest.MonkeyPatch) -> None:
    right = diffusion.denoise

    def denoise(now: diffusion.Sampling, *rest: Any) -> tuple[diffusion.Sampling, jax.Array]:
        following, images = right(now, *rest)
        return following._replace(images=images), images

    patch.setattr(diffusion, "denoise", denoise)


SAMPLE = {
    "unet": {
        unet_joins_in_the_other_order: EVERY,
        unet_is_not_told_the_time: EVERY,
        unet_doubles_by_tiling: EVERY,
        unet_halves_with_the_other_padding: EVERY,
        unet_drops_attention_residual: EVERY,
        sampling_never_clips: EVERY,
        sampling_adds_no_noise: EVERY,
        sampling_goes_on_from_what_is_done: EVERY,
    }
}
TRAIN = {"unet": {adam_without_bias_correction: EVERY, unet_is_not_told_the_time: ("bf16",)}}
