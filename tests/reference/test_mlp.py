"""The perceptron against the same one of `torch.nn` modules, trained by `torch.optim.Adam`."""

from __future__ import annotations

from itertools import pairwise

import jax
import numpy as np
import torch

from suite.spec import catalogue
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import OUTPUTS_WITHIN, dense, named, ours, relative_error, with_values

# One step of Adam moves every weight by about the learning rate, whatever the size of its gradient: where
# that is near zero, its rounding decides the direction. So the weights are compared, not their changes.
CASE = catalogue.resolve("mlp", preset="smoke", mode="train", precision="fp32", layers="unroll")


def their_mlp() -> torch.nn.Sequential:
    dims = catalogue.preset_of(CASE).dims
    sizes = [dims["features"], *[dims["width"]] * dims["depth"]]
    layers: list[torch.nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], dims["classes"]))


def in_our_names(theirs: torch.nn.Sequential) -> dict[str, np.ndarray]:
    linears = [layer for layer in theirs if isinstance(layer, torch.nn.Linear)]
    hidden = [f"hidden.blocks.layers.{index}.dense" for index in range(len(linears) - 2)]
    names = ["first.dense", *hidden, "head"]
    values = {}
    for name, layer in zip(names, linears, strict=True):
        values[f"{name}.kernel"] = dense(layer.weight)
        values[f"{name}.bias"] = layer.bias.detach().numpy().copy()
    return values


def test_outputs_and_one_step_of_training() -> None:
    workload, state, batch = ours(CASE)
    theirs = their_mlp()
    state = state._replace(params=with_values(state.params, in_our_names(theirs)))
    inputs, targets = torch.from_numpy(batch["inputs"]), torch.from_numpy(batch["targets"]).long()
    logits = theirs(inputs)
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN

    loss = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=LABEL_SMOOTHING)
    optimiser = torch.optim.Adam(theirs.parameters(), lr=1e-3)
    loss.backward()
    optimiser.step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in in_our_names(theirs).items():
        assert relative_error(updated[name], expected) < OUTPUTS_WITHIN, name
