"""DLRM's training: the tables move as under a gradient of all their rows, which is never made."""

from __future__ import annotations

import jax
import numpy as np

from suite.measurement.flat import FlatStep, static_memory
from suite.spec import catalogue
from suite.spec.catalogue.dlrm import tables_of, unmoved_bytes
from suite.workloads import build
from suite.workloads.dlrm import LEARNING_RATE, binary_cross_entropy
from tests.models.running import abstract, initial, smoke, step

CASE = ("dlrm", "train", "fp32", "unroll")


def test_rows_move_as_under_the_gradient_of_all_rows() -> None:
    state, batch = initial(*CASE)
    workload = build(smoke(*CASE))

    def loss(params):
        return binary_cross_entropy(workload.forward(state._replace(params=params), batch), batch["targets"])

    expected = jax.tree.map(
        lambda weight, grad: weight - LEARNING_RATE * grad,
        state.params,
        jax.jit(jax.grad(loss))(state.params),
    )
    found, _ = step(*CASE)(state, batch)
    for one, other in zip(jax.tree.leaves(found.params), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    _, indices = batch["inputs"]
    assert any(len(set(column)) < len(column) for column in indices.T), "no row is asked for twice"


def test_no_gradient_of_the_tables_size_is_made() -> None:
    """Compiled for the real tables, which are never allocated: what is temporary is far smaller."""
    case = catalogue.resolve("dlrm", preset="kaggle", mode="train", precision="fp32")
    flat = FlatStep(build(case).step, *abstract(build(case)))
    executable = flat.trace().lower().compile()
    static, reason = static_memory(executable)
    assert static is not None, reason
    flat.check_aliases(static)
    dims = catalogue.preset_of(case).dims
    table_bytes = 4 * sum(tables_of(dims)) * dims["width"]
    assert static.temp_bytes < table_bytes / 100
    assert static.output_bytes - static.alias_bytes < 1_000


def test_rows_that_are_not_asked_for_are_not_moved() -> None:
    dims = {"width": 8, "table1": 100, "table2": 3}
    assert unmoved_bytes(dims, "infer", 10, 2) == (100 - 10) * 8 * 2
    assert unmoved_bytes(dims, "train", 10, 4) == (100 - 10) * 8 * 4 * 2
