"""Faults that a port to new hardware, or a careless change, could bring: each planted for real.

Every fault takes pytest's MonkeyPatch and changes the model or the optimiser underneath the
workload that is built next.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import jax
import pytest
from flax import nnx

from suite.models import resnet
from suite.workloads.reference import TOLERANCES
from tests.models.faults_adam import adam_without_bias_correction

Fault = Callable[[pytest.MonkeyPatch], None]


def resnet_drops_residual(patch: pytest.MonkeyPatch) -> None:
    def call(self: resnet.Basic, x: jax.Array) -> jax.Array:
        return nnx.relu(self.second(nnx.relu(self.first(x))))

    patch.setattr(resnet.Basic, "__call__", call)


def batch_norm_in_the_other_mode(patch: pytest.MonkeyPatch) -> None:
    right = nnx.BatchNorm.__call__

    def call(self: nnx.BatchNorm, x: jax.Array) -> jax.Array:
        return right(self, x, use_running_average=not self.use_running_average)

    patch.setattr(nnx.BatchNorm, "__call__", call)


def batch_norm_never_moves(patch: pytest.MonkeyPatch) -> None:
    right = nnx.BatchNorm.__call__

    def call(self: nnx.BatchNorm, x: jax.Array) -> jax.Array:
        mean, var = self.mean[...], self.var[...]
        y = right(self, x)
        self.mean[...], self.var[...] = mean, var
        return y

    patch.setattr(nnx.BatchNorm, "__call__", call)


EVERY = tuple(TOLERANCES)
# Workload -> fault -> the precisions to plant it in. What is wrong with the forward pass shows in
# either mode, and inference compiles in no time: training repeats it in one precision.
INFER: dict[str, dict[Fault, tuple[str, ...]]] = {
    "resnet": {resnet_drops_residual: EVERY, batch_norm_in_the_other_mode: EVERY},
}
TRAIN: dict[str, dict[Fault, tuple[str, ...]]] = {
    "mlp": {adam_without_bias_correction: EVERY},
    "resnet": {
        batch_norm_in_the_other_mode: EVERY,
        batch_norm_never_moves: EVERY,
        resnet_drops_residual: ("bf16",),
    },
}
# Other workloads have a file of their own, faults_NAME.py, with a table for each of their modes.
OF_MODE: dict[str, dict[str, dict[Fault, tuple[str, ...]]]] = {
    mode: {} for mode in ("infer", "sample", "prefill", "decode", "train")
}
OF_MODE["infer"] |= INFER
OF_MODE["train"] |= TRAIN
for _path in sorted(Path(__file__).parent.glob("faults_*.py")):
    _module = importlib.import_module(f"tests.models.{_path.stem}")
    for _mode, _table in OF_MODE.items():
        _table |= getattr(_module, _mode.upper(), {})
