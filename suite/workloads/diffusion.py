"""Denoising diffusion: noise added to images, and taken away again step by step.

Ho et al., Denoising Diffusion Probabilistic Models (2020), section 2: level t adds noise of variance
`beta_t`, so that of the image's own variance 1 - `beta_t` is left, and `kept_t` (in the paper alpha with
a bar) after all levels up to t:

    x_t = sqrt(kept_t) image + sqrt(1 - kept_t) noise,    noise ~ N(0, 1)

Shapes: B batch, H height, W width; images are (B, H, W, 3) with values from -1 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

FIRST_BETA, LAST_BETA = 1e-4, 0.02
LEVELS = 1_000


@dataclass(frozen=True)
class Schedule:
    """The levels of noise that a sampling loop goes through, from the lowest.

    The paper's are a thousand. Fewer are taken evenly from those (Nichol and Dhariwal, Improved
    Denoising Diffusion Probabilistic Models, 2021), each step then adding or taking more.

    Attributes:
        level: that the network is told, (steps,) int32, from 0 to `LEVELS` - 1.
        kept: share of the image's variance that is left there, (steps,) float64.
        kept_before: the same one step nearer to the image, where 1 is all of it.
    """

    level: np.ndarray
    kept: np.ndarray
    kept_before: np.ndarray

    @classmethod
    def of(cls, steps: int) -> Schedule:
        """Returns the paper's schedule, cut into this number of steps; its betas grow linearly."""
        level = np.arange(steps, dtype=np.int32) * (LEVELS // steps)
        kept = np.cumprod(1 - np.linspace(FIRST_BETA, LAST_BETA, LEVELS))[level]
        return cls(level, kept, np.concatenate([[1.0], kept[:-1]]))


def noised(images: np.ndarray, noise: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Returns float32 images (B, H, W, 3), each with noise of its own of `levels` (B,)."""
    kept = Schedule.of(LEVELS).kept[levels][:, None, None, None]
    return np.asarray(np.sqrt(kept) * images + np.sqrt(1 - kept) * noise, dtype=np.float32)


class Sampling(NamedTuple):
    """Images on their way from noise.

    Attributes:
        images: (B, H, W, 3) float32.
        step: int32 scalar, the place in the schedule of the noise in them; 0 is the last to go.
        key: what noise is drawn from next: the two uint32 of a threefry key.
    """

    images: jax.Array
    step: jax.Array
    key: jax.Array


def begin(key: jax.Array, shape: tuple[int, ...], schedule: Schedule) -> Sampling:
    """Returns pure noise of this shape, at the highest level of the schedule."""
    key, noise_key = jax.random.split(key)
    images = jax.random.normal(noise_key, shape)
    return Sampling(images, jnp.asarray(len(schedule.level) - 1, jnp.int32), jax.random.key_data(key))


def denoise(now: Sampling, noise_seen: jax.Array, schedule: Schedule) -> tuple[Sampling, jax.Array]:
    """Takes one step of the sampling loop, given the noise that the network sees in the images.

    The image that is left without that noise is clipped to -1 .. 1. The step goes to the mean of
    what may have come before it (equation 7), and adds noise of variance beta. At step 0 there is
    none to add: the images are done, and the draw is what the next ones begin from.

    Returns:
        The state of the next step, and the images that this one came to.
    """
    tables = np.stack([schedule.kept, schedule.kept_before], axis=1)
    kept, kept_before = jnp.asarray(tables, jnp.float32)[now.step]
    beta = 1 - kept / kept_before
    image_seen = jnp.clip((now.images - jnp.sqrt(1 - kept) * noise_seen) / jnp.sqrt(kept), -1, 1)
    of_seen = jnp.sqrt(kept_before) * beta / (1 - kept)
    of_images = jnp.sqrt(1 - beta) * (1 - kept_before) / (1 - kept)
    mean = of_seen * image_seen + of_images * now.images
    key, noise_key = jax.random.split(jax.random.wrap_key_data(now.key, impl="threefry2x32"))
    noise = jax.random.normal(noise_key, mean.shape)
    done = now.step == 0
    images = jnp.where(done, mean, mean + jnp.sqrt(beta) * noise)
    step = jnp.where(done, len(schedule.level) - 1, now.step - 1)
    return Sampling(jnp.where(done, noise, images), step, jax.random.key_data(key)), images
