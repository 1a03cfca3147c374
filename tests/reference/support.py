"""What the comparisons share: our parameters by name, theirs in our layout, the distance of two results."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from flax import nnx

from suite.workloads import build
from suite.workloads.base import Workload
from suite.workloads.regenerate import start

OUTPUTS_WITHIN = 1e-4
"""Largest relative error of a float32 output between two implementations with the same weights."""
# Where operators are missing from torchvision's binary its Python part still asks for them while importing.
_OPERATORS = [
    f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor" for name in ("nms", "qnms")
]
_kept: list[torch.library.Library] = []


def torchvision(module: str = "torchvision") -> Any:
    """Imports torchvision, or a module of it, even where its compiled operators do not fit this torch.

    No model here uses one. The builds on the package index are made for CUDA, and do not load
    beside a torch for the CPU.
    """
    try:
        return importlib.import_module(module)
    except RuntimeError:
        _kept.append(torch.library.Library("torchvision", "DEF"))
        for operator in _OPERATORS:
            _kept[-1].define(operator)
        return importlib.import_module(module)


def timm() -> Any:
    """Imports timm, which imports torchvision."""
    torchvision()
    return importlib.import_module("timm")


def transformers() -> Any:
    """Imports transformers, which imports torchvision."""
    torchvision()
    return importlib.import_module("transformers")


def relative_error(found: Any, expected: Any) -> float:
    """Largest absolute difference over the largest absolute value that was expected."""
    ours, theirs = to_numpy(found), to_numpy(expected)
    assert ours.shape == theirs.shape, f"expected shape {theirs.shape}, found {ours.shape}"
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))


def to_numpy(array: Any) -> np.ndarray:
    """Copies a tensor or array of either side into float64."""
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu().numpy()
    return np.array(array, dtype=np.float64)


def dense(weight: torch.Tensor) -> np.ndarray:
    """Brings a `torch.nn.Linear` weight (outputs, inputs) to our (inputs, outputs)."""
    return weight.detach().numpy().T.copy()


def convolution(weight: torch.Tensor) -> np.ndarray:
    """Brings a `torch.nn.Conv2d` weight (outputs, inputs, h, w) to our (h, w, inputs, outputs)."""
    return weight.detach().numpy().transpose(2, 3, 1, 0).copy()


def in_our_layout(parameter: torch.Tensor) -> np.ndarray:
    """Brings a weight of any kind of layer to our layout; one of a single axis has no other."""
    if parameter.ndim == 4:
        return convolution(parameter)
    return dense(parameter) if parameter.ndim == 2 else parameter.detach().numpy().copy()


def named(state: Any) -> dict[str, np.ndarray]:
    """The leaves of our NNX state by dotted path, such as 'blocks.blocks.layers.0.attention.qkv.kernel'."""
    return {
        ".".join(map(str, path)): np.asarray(leaf[...] if isinstance(leaf, nnx.Variable) else leaf)
        for path, leaf in nnx.to_flat_state(state)
    }


def with_values(state: Any, values: Mapping[str, np.ndarray]) -> Any:
    """Our NNX state with all of its leaves replaced by `values`, which are named as `named` names them."""
    here = named(state)
    assert set(values) == set(here), sorted(set(values) ^ set(here))
    shapes = {name: (values[name].shape, here[name].shape) for name in here}
    assert all(given == ours for given, ours in shapes.values()), shapes
    flat = [
        (path, leaf.replace(np.asarray(values[".".join(map(str, path))], dtype=np.float32)))
        for path, leaf in nnx.to_flat_state(state)
    ]
    return nnx.from_flat_state(flat)


def ours(case: Any) -> tuple[Workload, Any, Any]:
    """A case's workload with the state and the batch that its committed reference starts from."""
    workload = build(case)
    return workload, *start(workload)
