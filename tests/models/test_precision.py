"""A precision is what the program really computes in, read off the traced program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from suite.models.precision import POLICIES
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build
from tests.models import walker
from tests.models.running import SMOKE, UNROLLED, abstract, ids

PRODUCTS = ("dot_general", "conv_general_dilated")
EXPECTED = {
    "fp32": (jnp.float32, {(lax.Precision.HIGHEST, lax.Precision.HIGHEST)}),
    "default": (jnp.float32, {None}),
    "bf16": (jnp.bfloat16, {None}),
    "fp16": (jnp.float16, {None}),
}


def traced(case: Case) -> list:
    workload = build(case)
    return list(walker.equations(jax.make_jaxpr(workload.step)(*abstract(workload)).jaxpr))


@pytest.mark.parametrize("case", SMOKE, ids=ids(SMOKE))
def test_every_product_has_the_operands_and_the_precision_of_the_policy(case: Case) -> None:
    dtype, precisions = EXPECTED[case.precision]
    products = [equation for equation in traced(case) if equation.primitive.name in PRODUCTS]
    products = [equation for equation in products if not is_router(equation)]
    assert products
    assert {operand.aval.dtype for equation in products for operand in equation.invars} == {jnp.dtype(dtype)}
    assert {equation.params["precision"] for equation in products} == precisions


def is_router(equation: Any) -> bool:
    """Whether a product chooses experts, which is done in float32 whatever the policy."""
    return "router" in str(equation.source_info.name_stack)


@pytest.mark.parametrize("mode", catalogue.get("moe").modes)
def test_experts_are_chosen_in_true_float32(mode: str) -> None:
    case = catalogue.resolve("moe", preset="smoke", mode=mode, precision="bf16")
    routers = [eqn for eqn in traced(case) if eqn.primitive.name == "dot_general" and is_router(eqn)]
    assert routers
    for equation in routers:
        assert {operand.aval.dtype for operand in equation.invars} == {jnp.dtype(jnp.float32)}
        assert equation.params["precision"] == (lax.Precision.HIGHEST, lax.Precision.HIGHEST)


@pytest.mark.parametrize("case", UNROLLED, ids=ids(UNROLLED))
def test_softmax_norms_and_losses_are_float32(case: Case) -> None:
    delicate = ("exp", "log", "rsqrt", "logsumexp")
    found = [equation for equation in traced(case) if equation.primitive.name in delicate]
    if case.workload in ("resnet", "gpt") or case.mode == "train":
        assert found
    assert {equation.outvars[0].aval.dtype for equation in found} <= {jnp.dtype(jnp.float32)}


@pytest.mark.parametrize("case", SMOKE, ids=ids(SMOKE))
def test_training_keeps_float32_and_prediction_keeps_what_it_multiplies(case: Case) -> None:
    state, _ = abstract(build(case))
    kept = floating(state) if case.mode == "train" else floating(state.params)
    computed, _ = EXPECTED[case.precision]
    assert kept == {jnp.dtype(jnp.float32 if case.mode == "train" else computed)}
    assert floating(getattr(state, "stats", ())) <= {jnp.dtype(jnp.float32)}
    assert {dtype.itemsize for dtype in kept} == {catalogue.stored_bytes(case)}


def floating(tree: Any) -> set[jnp.dtype]:
    return {leaf.dtype for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)}


def test_only_float16_scales_its_loss() -> None:
    assert [name for name, policy in POLICIES.items() if policy.loss_scaling] == ["fp16"]
