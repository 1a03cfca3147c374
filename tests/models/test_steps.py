"""What every workload promises to the code that measures it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, reference
from tests.models.running import (
    INFER,
    RUN,
    SMOKE,
    TRAIN,
    UNROLLED,
    abstract,
    fields,
    honest,
    ids,
    initial,
    smoke,
    step,
)

SCANNED = [case for case in RUN if case.layers == "scan"]
LEARNING = [case for case in RUN if case.mode == "train"]
DONATED = [case for case in SMOKE if case.precision == "default" and case.layers == "unroll"]


def signature(tree: Any) -> list[tuple[str, Any, Any, bool]]:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [
        (jax.tree_util.keystr(path), leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False))
        for path, leaf in leaves
    ]


@pytest.mark.parametrize("case", SMOKE, ids=ids(SMOKE))
def test_a_step_keeps_the_structure_of_its_state(case: Case) -> None:
    workload = build(case)
    state, batch = abstract(workload)
    new_state, _ = jax.eval_shape(workload.step, state, batch)
    assert jax.tree.structure(new_state) == jax.tree.structure(state)
    assert signature(new_state) == signature(state)


@pytest.mark.parametrize("case", TRAIN, ids=ids(TRAIN))
def test_a_training_step_gives_one_float32_loss(case: Case) -> None:
    workload = build(case)
    _, outputs = jax.eval_shape(workload.step, *abstract(workload))
    assert "loss" in outputs
    loss = workload.checks.loss(outputs)
    assert (loss.shape, loss.dtype) == ((), np.float32)


@pytest.mark.parametrize("case", INFER, ids=ids(INFER))
def test_inference_gives_predictions_and_the_state_as_it_was(case: Case) -> None:
    state, batch = initial(*fields(case))
    new_state, outputs = step(*fields(case))(state, batch)
    for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(new_state), strict=True):
        np.testing.assert_array_equal(before, after)
    compared = outputs if isinstance(outputs, jax.Array) else outputs.pooled
    np.testing.assert_array_equal(compared.astype(np.float32), honest(case).before)
    dtype = {"bf16": "bfloat16", "fp16": "float16"}.get(case.precision, "float32")
    assert {leaf.dtype for leaf in jax.tree.leaves(outputs)} == {np.dtype(dtype)}
    assert build(case).checks.loss is None


@pytest.mark.parametrize("case", SMOKE, ids=ids(SMOKE))
def test_the_batch_is_host_arrays_drawn_from_the_generator_alone(case: Case) -> None:
    workload = build(case)
    first, again, other = (workload.batch(np.random.default_rng(seed)) for seed in (1, 1, 2))
    # A sampling loop reads nothing: it begins from noise of its own.
    wanted = {"train": {"inputs", "targets"}, "sample": set()}
    assert set(first) == wanted.get(case.mode, {"inputs"})
    for value, same, different in zip(*map(jax.tree.leaves, (first, again, other)), strict=True):
        assert isinstance(value, np.ndarray)
        assert value.dtype in (np.float32, np.int32)
        assert value.shape[0] == case.batch
        np.testing.assert_array_equal(value, same)
        assert not np.array_equal(value, different)


def test_a_language_model_is_taught_the_next_token() -> None:
    batch = build(catalogue.resolve("gpt", preset="smoke")).batch(np.random.default_rng(0))
    np.testing.assert_array_equal(batch["inputs"][:, 1:], batch["targets"][:, :-1])


@pytest.mark.parametrize("case", LEARNING, ids=ids(LEARNING))
def test_the_loss_falls(case: Case) -> None:
    losses = honest(case).losses
    assert losses is not None
    assert losses[-1] < losses[0]
    assert build(case).checks.loss_falls


@pytest.mark.parametrize("case", SCANNED, ids=ids(SCANNED))
def test_scanned_and_unrolled_layers_compute_the_same(case: Case) -> None:
    scanned, plain = honest(case), honest(smoke(case.workload, case.mode, case.precision))
    tolerance = reference.TOLERANCES[case.precision] / 2
    np.testing.assert_allclose(scanned.losses or [], plain.losses or [], rtol=tolerance)
    scale = np.sqrt(np.mean(plain.after**2))
    np.testing.assert_allclose(scanned.after, plain.after, atol=tolerance * scale * 4)


@pytest.mark.parametrize("case", DONATED, ids=ids(DONATED))
def test_a_donated_chain_computes_what_separate_steps_do(case: Case) -> None:
    state, batch = initial(*fields(case))
    donating = jax.jit(build(case).step, donate_argnums=0)
    chained = jax.tree.map(jnp.array, state)
    for _ in range(3):
        state, outputs = step(*fields(case))(state, batch)
        chained, chained_outputs = donating(chained, batch)
        for one, other in zip(jax.tree.leaves(outputs), jax.tree.leaves(chained_outputs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_predicting_leaves_the_statistics_of_its_caller_alone() -> None:
    workload = build(smoke("resnet", "train", "default"))
    state, batch = initial("resnet", "train", "default", "unroll")
    before = [np.array(leaf) for leaf in jax.tree.leaves(state.stats)]
    workload.forward(state, batch)
    for old, now in zip(before, jax.tree.leaves(state.stats), strict=True):
        np.testing.assert_array_equal(old, now)


def test_training_moves_the_running_statistics() -> None:
    state, batch = initial("resnet", "train", "default", "unroll")
    new_state, _ = step("resnet", "train", "default", "unroll")(state, batch)
    for old, new in zip(jax.tree.leaves(state.stats), jax.tree.leaves(new_state.stats), strict=True):
        assert not np.allclose(old, new)


def test_a_deep_unrolled_perceptron_has_over_a_hundred_leaves() -> None:
    state, _ = abstract(build(catalogue.resolve("mlp", preset="deep", layers="unroll")))
    assert len(jax.tree.leaves(state)) > 100


@pytest.mark.parametrize("case", UNROLLED, ids=ids(UNROLLED))
def test_the_initial_state_has_one_structure_in_every_precision(case: Case) -> None:
    state, expected = (
        jax.eval_shape(build(each).init, jax.random.key(0))
        for each in (case, smoke(case.workload, case.mode, "fp32"))
    )
    assert jax.tree.structure(state.params) == jax.tree.structure(expected.params)
    assert shapes(state.params) == shapes(expected.params)


def shapes(tree: Any) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in jax.tree.leaves(tree)]
