"""AlexNet against torchvision's, trained by `torch.optim.SGD`; dropout is off, as ours has none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jax
import numpy as np
import torch

from suite.spec import catalogue
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import (
    OUTPUTS_WITHIN,
    dense,
    in_our_layout,
    named,
    ours,
    relative_error,
    torchvision,
    with_values,
)

SMOKE = catalogue.resolve("alexnet", preset="smoke", mode="train", precision="fp32")
PUBLISHED = catalogue.resolve("alexnet", preset="2012", mode="infer", precision="fp32", batch=1)
# A step changes a weight in its last digits, which float32 rounds.
UPDATES_WITHIN = 1e-3
DENSE = {"dense1": 1, "dense2": 4, "head": 6}


def their_alexnet(case: catalogue.Case) -> Any:
    """Theirs with layers of our widths; it has no setting for them."""
    dims = catalogue.preset_of(case).dims
    theirs = torchvision("torchvision.models").alexnet(num_classes=dims["classes"], dropout=0.0)
    if case.preset != "smoke":
        return theirs
    channels = 3
    for index, layer in enumerate(theirs.features):
        if isinstance(layer, torch.nn.Conv2d):
            outputs = layer.out_channels * dims["width"] // 64
            shape = (layer.kernel_size, layer.stride, layer.padding)
            theirs.features[index] = torch.nn.Conv2d(channels, outputs, *shape)
            channels = outputs
    # It would stretch what leaves the convolutions, 2x2 here, to 6x6.
    theirs.avgpool = torch.nn.Identity()
    sizes = [2 * 2 * channels, dims["hidden"], dims["hidden"], dims["classes"]]
    for index, shape in zip(DENSE.values(), pairwise(sizes), strict=True):
        theirs.classifier[index] = torch.nn.Linear(*shape)
    return theirs


def in_our_names(theirs: Any) -> dict[str, np.ndarray]:
    convolutions = [layer for layer in theirs.features if isinstance(layer, torch.nn.Conv2d)]
    layers = {f"conv{number}": layer for number, layer in enumerate(convolutions, start=1)}
    layers |= {name: theirs.classifier[index] for name, index in DENSE.items()}
    values = {f"{name}.kernel": in_our_layout(layer.weight) for name, layer in layers.items()}
    values |= {f"{name}.bias": in_our_layout(layer.bias) for name, layer in layers.items()}
    # Theirs flattens channels first, ours channels last.
    weight, channels = theirs.classifier[1].weight, convolutions[-1].out_channels
    side = int((weight.shape[1] // channels) ** 0.5)
    by_pixel = weight.reshape(-1, channels, side, side).permute(0, 2, 3, 1).reshape(weight.shape)
    return values | {"dense1.kernel": dense(by_pixel)}


def test_outputs_and_one_step_of_training() -> None:
    workload, state, batch = ours(SMOKE)
    theirs = their_alexnet(SMOKE)
    before = in_our_names(theirs)
    state = state._replace(params=with_values(state.params, before))
    targets = torch.from_numpy(batch["targets"]).long()
    logits = theirs(torch.from_numpy(batch["inputs"]).permute(0, 3, 1, 2))
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN

    loss = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=LABEL_SMOOTHING)
    loss.backward()
    torch.optim.SGD(theirs.parameters(), lr=0.001, momentum=0.9, weight_decay=5e-4).step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in in_our_names(theirs).items():
        assert relative_error(updated[name], expected) < OUTPUTS_WITHIN, name
        moved = relative_error(updated[name] - before[name], expected - before[name])
        assert moved < UPDATES_WITHIN, name


def test_outputs_at_full_size() -> None:
    workload, state, batch = ours(PUBLISHED)
    theirs = their_alexnet(PUBLISHED)
    state = state._replace(params=with_values(state.params, in_our_names(theirs)))
    with torch.no_grad():
        logits = theirs(torch.from_numpy(batch["inputs"]).permute(0, 3, 1, 2))
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN
