"""Cases to test, and short runs of them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from suite.record.schema import ReferenceCheck
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, loss_scale, reference
from suite.workloads.base import Workload
from suite.workloads.regenerate import run, start

SMOKE = [
    catalogue.resolve(spec.name, preset="smoke", mode=mode, precision=precision, layers=layers)
    for spec in catalogue.all_specs()
    for mode in spec.modes
    for precision in spec.precisions
    for layers in spec.layers
]
TRAIN = [case for case in SMOKE if case.mode == "train"]
UNROLLED = [case for case in SMOKE if case.layers == "unroll"]
# Scanned layers in one precision say enough of how they are scanned, and compile slowly.
RUN = [case for case in SMOKE if case.layers == "unroll" or case.precision == "fp32"]
INFER = [case for case in RUN if case.mode == "infer"]


class Run(NamedTuple):
    losses: list[float] | None
    before: np.ndarray
    after: np.ndarray


def quick_jit(function: Any) -> Any:
    """As jax.jit, for one signature; compiles twice as fast, without LLVM's optimisations."""
    compiled: list[Any] = []

    def call(*args: Any) -> Any:
        if not compiled:
            lowered = jax.jit(function).lower(*args)
            compiled.append(lowered.compile(compiler_options={"xla_backend_optimization_level": 0}))
        return compiled[0](*args)

    return call


def initial(workload_name: str, mode: str, precision: str, layers: str) -> tuple[Any, Any]:
    """State and batch that the reference starts from; drawn once per test session.

    No precision changes what is drawn, so only fp32 is, which saves most of the compiling.
    """
    state, batch = _initial(workload_name, mode, layers)
    if mode != "train":
        # Everything is kept in its own dtype: parameters and caches in 16 bits, statistics not.
        shapes, _ = abstract(build(smoke(workload_name, mode, precision, layers)))
        state = jax.tree.map(lambda leaf, like: leaf.astype(like.dtype), state, shapes)
    elif precision == "fp16":
        state = state._replace(scale=loss_scale.initial())
    return state, batch


@cache
def _initial(workload_name: str, mode: str, layers: str) -> tuple[Any, Any]:
    return start(build(smoke(workload_name, mode, "fp32", layers)))


@cache
def step(workload_name: str, mode: str, precision: str, layers: str) -> Any:
    """The compiled step of a smoke case; compiled once per test session."""
    return quick_jit(build(smoke(workload_name, mode, precision, layers)).step)


def smoke(workload_name: str, mode: str, precision: str, layers: str = "unroll") -> Case:
    return catalogue.resolve(workload_name, preset="smoke", mode=mode, precision=precision, layers=layers)


def fields(case: Case) -> tuple[str, str, str, str]:
    return case.workload, case.mode, case.precision, case.layers


def honest(case: Case) -> Run:
    """The reference's steps, taken by a smoke case as it is."""
    return _honest(*fields(case))


@cache
def _honest(*case_fields: str) -> Run:
    workload = build(smoke(*case_fields))

    def jit(function: Any) -> Any:
        return step(*case_fields) if function is workload.step else quick_jit(function)

    return Run(*run(workload, *initial(*case_fields), jit))


def check(case: Case, found: Run) -> ReferenceCheck:
    """The comparison of a run with its committed reference."""
    expected = reference.lookup(case)
    assert expected is not None
    return reference.compare(expected, *found, case.precision)


def abstract(workload: Workload) -> tuple[Any, Any]:
    """Shapes of the state, which is not allocated, and the batch."""
    batch = workload.batch(np.random.default_rng(reference.SEED))
    return jax.eval_shape(workload.init, jax.random.key(reference.SEED)), batch


def ids(cases: list[Case]) -> list[str]:
    return [case.key for case in cases]
