"""Residual networks against torchvision's and timm's, trained by `torch.optim.SGD`, on small images.

PyTorch's running variance is that of a sample (over n - 1 values), ours that of the batch (over n), which is
also what both normalise by. Theirs is brought to ours before comparing.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
import torch

from suite.spec import catalogue
from suite.spec.catalogue.resnet import STAGES
from suite.workloads import resnet
from suite.workloads.regenerate import start
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import (
    OUTPUTS_WITHIN,
    in_our_layout,
    named,
    relative_error,
    timm,
    torchvision,
    with_values,
)

IMAGE, BATCH = 64, 4
# A step changes a weight in its last digits, which float32 rounds.
UPDATES_WITHIN = 2e-3
NAMES = {
    False: {"first": ("conv1", "bn1"), "second": ("conv2", "bn2")},
    True: {"down": ("conv1", "bn1"), "conv": ("conv2", "bn2"), "up": ("conv3", "bn3")},
}


def ours(preset: str, mode: str, stages: Sequence[int]) -> tuple[Any, Any, Any]:
    case = catalogue.resolve("resnet", preset=preset, mode=mode, precision="fp32", batch=BATCH)
    size = catalogue.preset_of(case)
    dims = {**size.dims, "image": IMAGE, **dict(zip(STAGES, stages, strict=True))}
    workload = resnet.build(case, replace(size, dims=dims))
    return workload, *start(workload)


def prepared(theirs: torch.nn.Module) -> Any:
    """Gives the norms values that would show if one were mistaken for another, and computes in float64."""
    for norm in theirs.modules():
        if isinstance(norm, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
            torch.nn.init.normal_(norm.bias, std=0.1)
            torch.nn.init.normal_(norm.running_mean, std=0.1)
            torch.nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return theirs.double()


def pairs_of(theirs: Any) -> dict[str, tuple[Any, Any]]:
    """Their convolutions and norms, by our names."""
    pairs = {"stem": (theirs.conv1, theirs.bn1)}
    blocks = [block for stage in range(1, 5) for block in getattr(theirs, f"layer{stage}")]
    for index, block in enumerate(blocks):
        for name, (conv, norm) in NAMES[hasattr(block, "conv3")].items():
            pairs[f"blocks.layers.{index}.{name}"] = getattr(block, conv), getattr(block, norm)
        if block.downsample is not None:
            pairs[f"blocks.layers.{index}.shortcut"] = block.downsample[0], block.downsample[1]
    return pairs


def parameters_of(theirs: Any) -> dict[str, np.ndarray]:
    values = {"head.kernel": in_our_layout(theirs.fc.weight), "head.bias": in_our_layout(theirs.fc.bias)}
    for name, (conv, norm) in pairs_of(theirs).items():
        values[f"{name}.conv.kernel"] = in_our_layout(conv.weight)
        values[f"{name}.norm.scale"] = in_our_layout(norm.weight)
        values[f"{name}.norm.bias"] = in_our_layout(norm.bias)
    return values


def statistics_of(theirs: Any) -> dict[str, np.ndarray]:
    values = {}
    for name, (_, norm) in pairs_of(theirs).items():
        values[f"{name}.norm.mean"] = in_our_layout(norm.running_mean)
        values[f"{name}.norm.var"] = in_our_layout(norm.running_var)
    return values


def step_of_theirs(theirs: Any, batch: Any) -> tuple[torch.Tensor, dict[str, np.ndarray]]:
    """Trains one step; returns the loss and the running statistics as the batch's own variance moves them."""
    before, values_in = statistics_of(theirs), {}
    hooks = [
        norm.register_forward_hook(
            lambda _, inputs, __, name=name: values_in.update({name: inputs[0].numel() // inputs[0].shape[1]})
        )
        for name, (_, norm) in pairs_of(theirs).items()
    ]
    targets = torch.from_numpy(batch["targets"]).long()
    logits = theirs.train()(images_of(batch))
    for hook in hooks:
        hook.remove()
    loss = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=LABEL_SMOOTHING)
    loss.backward()
    torch.optim.SGD(theirs.parameters(), lr=0.02, momentum=0.9).step()
    after = statistics_of(theirs)
    for name, count in values_in.items():
        kept, var = 0.9 * before[f"{name}.norm.var"], f"{name}.norm.var"
        after[var] = kept + (after[var] - kept) * (count - 1) / count
    return loss, after


def images_of(batch: Any) -> torch.Tensor:
    return torch.from_numpy(batch["inputs"]).double().permute(0, 3, 1, 2)


# Of the bottleneck one block a stage: 50 layers deep, with norms like these, float32 leaves the gradient of
# the first layer wrong by 1%, in PyTorch as in ours.
@pytest.mark.parametrize(
    ("preset", "block", "stages"), [("18", "BasicBlock", (2, 2, 2, 2)), ("50", "Bottleneck", (1, 1, 1, 1))]
)
def test_outputs_and_one_step_of_training(preset: str, block: str, stages: Sequence[int]) -> None:
    workload, state, batch = ours(preset, "train", stages)
    library = torchvision("torchvision.models.resnet")
    theirs = prepared(library.ResNet(getattr(library, block), stages))
    before = parameters_of(theirs)
    state = state._replace(
        params=with_values(state.params, before), stats=with_values(state.stats, statistics_of(theirs))
    )
    with torch.no_grad():
        both = [copy.deepcopy(theirs).train(mode)(images_of(batch)) for mode in (True, False)]
    by_batch, by_statistics = jax.jit(workload.forward)(state, batch)
    assert relative_error(by_batch, both[0]) < OUTPUTS_WITHIN
    assert relative_error(by_statistics, both[1]) < OUTPUTS_WITHIN

    loss, statistics = step_of_theirs(theirs, batch)
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    moved = named(new_state.stats)
    for name, expected in statistics.items():
        assert relative_error(moved[name], expected) < OUTPUTS_WITHIN, name
    updated = named(new_state.params)
    for name, expected in parameters_of(theirs).items():
        assert relative_error(updated[name], expected) < OUTPUTS_WITHIN, name
        moved_by = relative_error(updated[name] - before[name], expected - before[name])
        assert moved_by < UPDATES_WITHIN, name


def test_outputs_of_the_deepest() -> None:
    workload, state, batch = ours("152", "infer", (3, 8, 36, 3))
    theirs = prepared(timm().create_model("resnet152", pretrained=False)).eval()
    state = state._replace(
        params=with_values(state.params, parameters_of(theirs)),
        stats=with_values(state.stats, statistics_of(theirs)),
    )
    with torch.no_grad():
        logits = theirs(images_of(batch))
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN
