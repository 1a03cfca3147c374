"""The U-Net against diffusers' `UNet2DModel`, trained by Adam, and sampling against its `DDPMScheduler`.

The size is jaxmark's own, small but with all there is: three sizes of the image, attention at one of them.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
import torch

from suite.spec import catalogue
from suite.spec.catalogue.unet import UNET, widths_of
from suite.spec.workload import Dims
from suite.workloads import unet
from suite.workloads.regenerate import start
from tests.reference.support import (
    OUTPUTS_WITHIN,
    in_our_layout,
    named,
    relative_error,
    torchvision,
    with_values,
)

PUBLISHED = UNET.presets["ddpm-cifar10"].dims
SMALL = {**UNET.presets["smoke"].dims, "image": 16, "level3": 2, "layers": 2, "attention_image": 8}
# One step of Adam moves every weight by about the learning rate, whatever the size of its gradient: where
# that is near zero its rounding decides the direction. So the weights are compared, not their changes.
UPDATED_WITHIN = 1e-4
# What is left of the noise is divided by as little as 0.06, the root of the image's share at first.
SAMPLED_WITHIN = 1e-4
RESIDUAL = {
    "norm1.norm": "norm1",
    "conv1": "conv1",
    "time": "time_emb_proj",
    "norm2.norm": "norm2",
    "conv2": "conv2",
    "shortcut": "conv_shortcut",
}
ATTENTION = {"norm.norm": "group_norm", "query": "to_q", "key": "to_k", "value": "to_v", "out": "to_out.0"}


def ours(mode: str) -> tuple[Any, Any, Any]:
    case = catalogue.resolve("unet", preset="smoke", mode=mode, precision="fp32")
    workload = unet.build(case, replace(UNET.presets["smoke"], dims=SMALL))
    return workload, *start(workload)


def diffusers(module: str = "diffusers") -> Any:
    torchvision()
    return importlib.import_module(module)


def their_unet(dims: Dims) -> Any:
    """Theirs with the configuration of google/ddpm-cifar10-32, in the sizes of `dims`."""
    widths = widths_of(dims)
    attends = [
        "Attn" if dims["image"] >> level == dims["attention_image"] else "" for level in range(len(widths))
    ]
    return diffusers().UNet2DModel(
        sample_size=dims["image"],
        block_out_channels=widths,
        layers_per_block=dims["layers"],
        norm_num_groups=dims["groups"],
        down_block_types=[f"{prefix}DownBlock2D" for prefix in attends],
        up_block_types=[f"{prefix}UpBlock2D" for prefix in reversed(attends)],
        time_embedding_type="positional",
        flip_sin_to_cos=False,
        freq_shift=1,
        downsample_padding=0,
        attention_head_dim=None,
        norm_eps=1e-6,
        act_fn="silu",
    )


def layer(ours: str, theirs: str, index: int) -> dict[str, str]:
    """Names of what one of our layers may have."""
    names = {f"{ours}.residual.{our}": f"{theirs}.resnets.{index}.{name}" for our, name in RESIDUAL.items()}
    return names | {
        f"{ours}.attention.{our}": f"{theirs}.attentions.{index}.{name}" for our, name in ATTENTION.items()
    }


def in_our_names(theirs: Any) -> dict[str, np.ndarray]:
    names = {"first": "conv_in", "last": "conv_out", "norm.norm": "conv_norm_out"}
    names |= {f"time{number}": f"time_embedding.linear_{number}" for number in (1, 2)}
    names |= layer("middle1", "mid_block", 0)
    names |= {f"middle2.residual.{our}": f"mid_block.resnets.1.{name}" for our, name in RESIDUAL.items()}
    for way, conv in (("down", "halve"), ("up", "conv")):
        for level, block in enumerate(getattr(theirs, f"{way}_blocks")):
            names[f"{way}.layers.{level}.{conv}"] = f"{way}_blocks.{level}.{way}samplers.0.conv"
            for index in range(len(block.resnets)):
                names |= layer(f"{way}.layers.{level}.layers.layers.{index}", f"{way}_blocks.{level}", index)
    parameters, values = dict(theirs.named_parameters()), {}
    for our, name in names.items():
        if f"{name}.weight" in parameters:
            weight = "scale" if "norm" in our.rsplit(".", 1)[-1] else "kernel"
            values[f"{our}.{weight}"] = in_our_layout(parameters.pop(f"{name}.weight"))
            values[f"{our}.bias"] = in_our_layout(parameters.pop(f"{name}.bias"))
    assert not parameters, sorted(parameters)
    return values


def channels_first(images: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(images)).permute(0, 3, 1, 2)


def channels_last(images: torch.Tensor) -> torch.Tensor:
    return images.permute(0, 2, 3, 1)


def test_outputs_and_one_step_of_training() -> None:
    workload, state, batch = ours("train")
    theirs = their_unet(SMALL)
    state = state._replace(params=with_values(state.params, in_our_names(theirs)))
    images, levels = batch["inputs"]
    noise = channels_last(theirs(channels_first(images), torch.from_numpy(levels)).sample)
    assert relative_error(jax.jit(workload.forward)(state, batch), noise) < OUTPUTS_WITHIN

    loss = torch.nn.functional.mse_loss(noise, torch.from_numpy(batch["targets"]))
    optimiser = torch.optim.Adam(theirs.parameters(), lr=2e-4)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
    optimiser.step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in in_our_names(theirs).items():
        # The bias of the keys adds the same to all scores of a query: its gradient is zero but for rounding.
        if not name.endswith("key.bias"):
            assert relative_error(updated[name], expected) < UPDATED_WITHIN, name


def test_a_sampling_loop_comes_to_the_same_images(monkeypatch: pytest.MonkeyPatch) -> None:
    workload, state, batch = ours("sample")
    theirs = their_unet(SMALL)
    state = state._replace(params=with_values(state.params, in_our_names(theirs)))
    library = diffusers("diffusers.schedulers.scheduling_ddpm")
    scheduler = library.DDPMScheduler(beta_schedule="linear", variance_type="fixed_large", clip_sample=True)
    scheduler.set_timesteps(SMALL["steps"])
    images, step = channels_first(state.sampling.images), jax.jit(workload.step)
    for timestep in scheduler.timesteps:
        _, noise_key = jax.random.split(jax.random.wrap_key_data(state.sampling.key, impl="threefry2x32"))
        noise = channels_first(jax.random.normal(noise_key, state.sampling.images.shape))
        monkeypatch.setattr(library, "randn_tensor", lambda *_, noise=noise, **__: noise)
        with torch.no_grad():
            seen = theirs(images, timestep).sample
        images = scheduler.step(seen, timestep, images).prev_sample
        state, found = step(state, batch)
        assert relative_error(found, channels_last(images)) < SAMPLED_WITHIN


def test_the_published_size_is_theirs() -> None:
    theirs = sum(parameter.numel() for parameter in their_unet(PUBLISHED).parameters())
    assert theirs == UNET.presets["ddpm-cifar10"].parameters
