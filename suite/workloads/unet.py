"""A U-Net that learns to tell the noise in images, or takes it away from pure noise step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from suite.models.precision import POLICIES, Policy
from suite.models.unet import UNet
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.catalogue.unet import widths_of
from suite.spec.workload import Preset
from suite.workloads import diffusion
from suite.workloads.base import Workload
from suite.workloads.diffusion import Sampling, Schedule
from suite.workloads.network import Network, State
from suite.workloads.training import Batch, training


class SampleState(NamedTuple):
    """Parameters in the compute dtype, and the images on their way."""

    params: State
    sampling: Sampling


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'unet' case."""
    dims, size, policy = preset.dims, batch_of(case), POLICIES[case.precision]
    shape, schedule = (size, dims["image"], dims["image"], 3), Schedule.of(dims["steps"])

    def make(rngs: nnx.Rngs) -> UNet:
        return UNet(
            image=dims["image"],
            widths=widths_of(dims),
            layers=dims["layers"],
            attention_image=dims["attention_image"],
            groups=dims["groups"],
            policy=policy,
            rngs=rngs,
        )

    def batch(rng: np.random.Generator) -> dict[str, Any]:
        images = rng.uniform(-1, 1, shape).astype(np.float32)
        noise = rng.standard_normal(shape, dtype=np.float32)
        levels = rng.integers(0, diffusion.LEVELS, (size,), dtype=np.int32)
        return {"inputs": (diffusion.noised(images, noise, levels), levels), "targets": noise}

    network = Network.of(make)
    if case.mode == "sample":
        return sampling(network, policy=policy, shape=shape, schedule=schedule)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-4))
    return training(network, optimiser=optimiser, policy=policy, batch=batch, loss=noise_error)


def noise_error(predicted: jax.Array, batch: Batch) -> jax.Array:
    """Returns the mean squared error of the noise that the network sees, in float32."""
    return jnp.mean(jnp.square(predicted.astype(jnp.float32) - batch["targets"]))


def sampling(network: Network, *, policy: Policy, shape: tuple[int, ...], schedule: Schedule) -> Workload:
    """Returns the workload whose step is one step of the sampling loop.

    It reads no batch: the images are in the state, and begin anew from fresh noise when they are
    done. The outputs are the images that the step came to.
    """

    def init(key: jax.Array) -> SampleState:
        params_key, noise_key = jax.random.split(key)
        params, _ = network.init(params_key)
        return SampleState(policy.stored(params), diffusion.begin(noise_key, shape, schedule))

    def noise_seen(state: SampleState) -> jax.Array:
        level = jnp.broadcast_to(jnp.asarray(schedule.level)[state.sampling.step], shape[:1])
        inputs = (state.sampling.images, level)
        noise: jax.Array = network.apply(state.params, nnx.State({}), inputs, train=False)[0]
        return noise.astype(jnp.float32)

    def step(state: SampleState, batch: Batch) -> tuple[SampleState, jax.Array]:
        following, images = diffusion.denoise(state.sampling, noise_seen(state), schedule)
        return SampleState(state.params, following), images

    def forward(state: SampleState, batch: Batch) -> jax.Array:
        return jnp.stack([noise_seen(state), step(state, batch)[1]])

    return Workload(init=init, step=step, batch=lambda rng: {}, forward=forward)
