"""DLRM against one of `torch.nn.EmbeddingBag` and `torch.nn.Linear`, put together by hand.

No library has the model without heavy dependencies. The structure is that of facebookresearch/dlrm
(dlrm_s_pytorch.py): a bag per table, ReLU after every layer but the last, the products of all pairs
below the diagonal, row by row, behind the output of the bottom layers; binary cross-entropy; SGD.
"""

from __future__ import annotations

from itertools import pairwise

import jax
import numpy as np
import torch

from suite.spec import catalogue
from suite.spec.catalogue.dlrm import bottom_of, tables_of, top_of
from suite.spec.workload import Dims
from suite.workloads.dlrm import LEARNING_RATE
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import OUTPUTS_WITHIN, dense, named, ours, relative_error, with_values

CASE = catalogue.resolve("dlrm", preset="smoke", mode="train", precision="fp32")


class Theirs(torch.nn.Module):
    def __init__(self, dims: Dims) -> None:
        super().__init__()
        bags = [
            torch.nn.EmbeddingBag(rows, dims["width"], mode="sum", sparse=True) for rows in tables_of(dims)
        ]
        self.tables = torch.nn.ModuleList(bags)
        self.bottom = self.layers(bottom_of(dims))
        self.top = self.layers(top_of(dims))

    @staticmethod
    def layers(widths: tuple[int, ...]) -> torch.nn.ModuleList:
        return torch.nn.ModuleList(torch.nn.Linear(*pair) for pair in pairwise(widths))

    def forward(self, features: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        x = features
        for layer in self.bottom:
            x = torch.relu(layer(x))
        rows = [table(indices[:, number, None]) for number, table in enumerate(self.tables)]
        vectors = torch.stack([x, *rows], dim=1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        pairs = [products[:, i, j] for i in range(vectors.shape[1]) for j in range(i)]
        x = torch.cat([x, torch.stack(pairs, dim=1)], dim=1)
        for layer in self.top[:-1]:
            x = torch.relu(layer(x))
        return self.top[-1](x)[:, 0]

    def in_our_names(self) -> dict[str, np.ndarray]:
        tables = [table.weight.detach().numpy() for table in self.tables]
        values = {"rows": np.concatenate(tables)}
        for part in ("bottom", "top"):
            for number, layer in enumerate(getattr(self, part)):
                values[f"{part}.layers.layers.{number}.kernel"] = dense(layer.weight)
                values[f"{part}.layers.layers.{number}.bias"] = layer.bias.detach().numpy().copy()
        return values


def test_outputs_and_one_step_of_training() -> None:
    workload, state, batch = ours(CASE)
    theirs = Theirs(catalogue.preset_of(CASE).dims)
    before = theirs.in_our_names()
    state = state._replace(params=with_values(state.params, before))
    features, indices = batch["inputs"]
    logits = theirs(torch.from_numpy(features), torch.from_numpy(indices).long())
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN

    targets = torch.from_numpy(batch["targets"]).float()
    smoothed = (1 - LABEL_SMOOTHING) * targets + LABEL_SMOOTHING / 2
    loss = torch.nn.functional.binary_cross_entropy(torch.sigmoid(logits), smoothed)
    loss.backward()
    torch.optim.SGD(theirs.parameters(), lr=LEARNING_RATE).step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in theirs.in_our_names().items():
        assert relative_error(updated[name], expected) < OUTPUTS_WITHIN, name
        assert relative_error(updated[name] - before[name], expected - before[name]) < OUTPUTS_WITHIN, name
