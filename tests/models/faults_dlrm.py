"""Faults of DLRM."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from suite.models import dlrm
from suite.workloads import dlrm as workload

EVERY = ("fp32", "default", "bf16", "fp16")
# What rows move by in five steps is little beside what 8 bits may be off by.
FINE = ("fp32", "fp16")


def all_read_the_first_table(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dlrm.DLRM, "where", lambda self, indices: indices)


def interacts_across_the_diagonal(patch: pytest.MonkeyPatch) -> None:
    """As many products as there should be, with the diagonal and without the last vector."""
    right = np.tril_indices
    patch.setattr(np, "tril_indices", lambda n, k: right(n - 1, k=0))


def forgets_a_relu(patch: pytest.MonkeyPatch) -> None:
    right = dlrm.Perceptron.__call__

    def call(self: dlrm.Perceptron, x: jax.Array) -> jax.Array:
        self.last_relu = False
        return right(self, x)

    patch.setattr(dlrm.Perceptron, "__call__", call)


def rows_asked_for_twice_move_once(patch: pytest.MonkeyPatch) -> None:
    def put(table: Any, where: jax.Array, update: jax.Array) -> Any:
        return jax.tree.map(lambda rows: rows.at[where].set(rows[where] + update), table)

    patch.setattr(workload, "_add_to_rows", put)


def moves_the_row_beside(patch: pytest.MonkeyPatch) -> None:
    right = workload._add_to_rows
    patch.setattr(workload, "_add_to_rows", lambda table, where, update: right(table, where + 1, update))


def rows_never_move(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(workload, "_add_to_rows", lambda table, where, update: table)


def labels_reversed(patch: pytest.MonkeyPatch) -> None:
    right = workload.binary_cross_entropy
    patch.setattr(workload, "binary_cross_entropy", lambda logits, targets: right(logits, 1 - targets))


INFER = {
    "dlrm": {all_read_the_first_table: FINE, interacts_across_the_diagonal: EVERY, forgets_a_relu: EVERY}
}
TRAIN = {
    "dlrm": {
        rows_never_move: FINE,
        moves_the_row_beside: FINE,
        rows_asked_for_twice_move_once: ("fp32",),
        labels_reversed: EVERY,
    }
}
