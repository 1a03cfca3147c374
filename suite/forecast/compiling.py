"""Compiles a workload's step for a chip that is not here, in the form in which it would be measured.

State is shapes only, so nothing of it is allocated; the host makes one batch, to learn its shapes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from suite.forecast import cache, compilers, topology
from suite.forecast.targets import Target
from suite.measurement.failure import StepFailedError, classify, short_traceback
from suite.measurement.flat import FlatStep, static_memory
from suite.record.forecast import CompileStatus, Forecast
from suite.record.process import StaticMemory
from suite.spec.case import Case
from suite.workloads import build
from suite.workloads.base import Workload


@dataclass(frozen=True)
class Verdict:
    """What compiling came to; the fields are those of `Forecast`."""

    status: CompileStatus
    reason: str | None = None
    detail: str | None = None
    memory: StaticMemory | None = None


def forecast(
    case: Case, target: Target, folder: Path | None, build: Callable[[Case], Workload] = build
) -> Forecast:
    """Compiles one step for one chip; a failure is an answer.

    Args:
        case: whose step it is.
        target: the chip.
        folder: of earlier answers to the same program; None compiles afresh.
        build: makes the case's workload; by default that of the catalogue.
    """
    began, answer = time.perf_counter(), _unanswered(case, target)
    place: Path | None = None
    try:
        answer.device_kind = _device_kind(target)
        flat = _flat(build(case))
        lowered = _lower(flat, target)
        if folder is not None:
            place = cache.place(folder, _program(lowered), target, answer.versions)
        if place is not None and (earlier := cache.read(place)) is not None:
            earlier.key, earlier.emulated, earlier.cached = case.key, answer.emulated, True
            return earlier
        verdict = _compile(flat, lowered, target)
    # Whatever a compiler raises is the answer for this chip; one that nothing here knows is an 'error'.
    except Exception as error:
        verdict = failed(error)
    answer.status, answer.reason = verdict.status, verdict.reason
    answer.detail, answer.memory = verdict.detail, verdict.memory
    answer.compile_s = time.perf_counter() - began
    if place is not None and answer.status != "error":
        cache.write(place, answer)
    return answer


def failed(error: Exception) -> Verdict:
    """What an exception from a compiler stands for."""
    status, reason = classify(error, "compile")
    known: dict[str, CompileStatus] = {"does_not_fit": "does_not_fit", "unsupported": "unsupported"}
    return Verdict(known.get(status, "error"), reason, detail=short_traceback(error))


def fits(memory: StaticMemory, target: Target) -> Verdict:
    """Sets a program's memory against the chip's: the CUDA compiler does not do it itself."""
    needed, usable = memory.total_bytes + memory.code_bytes, target.usable_bytes
    if needed <= usable:
        return Verdict("ok", memory=memory)
    reason = f"needs {needed / 2**30:.2f} GiB, and a program can use {usable / 2**30:.2f} GiB"
    return Verdict("does_not_fit", reason, memory=memory)


def _unanswered(case: Case, target: Target) -> Forecast:
    return Forecast(
        key=case.key,
        target=target.name,
        device_kind=None,
        status="error",
        emulated=target.emulation(case.precision),
        capacity_bytes=target.usable_bytes,
        compile_s=0.0,
        versions=compilers.installed(),
    )


def _device_kind(target: Target) -> str:
    """As JAX names the chip.

    Raises:
        StepFailedError: the compiler that is installed does not know the chip.
    """
    try:
        return topology.device_kind(target)
    # Which exception says so depends on the platform and on jax's version.
    except Exception as error:
        reason = classify(error, "compile")[1]
        raise StepFailedError("unsupported", f"the compiler here knows no {target.name}: {reason}") from error


def _flat(workload: Workload) -> FlatStep:
    state = jax.eval_shape(workload.init, jax.random.key(0))
    return FlatStep(workload.step, state, workload.batch(np.random.default_rng(0)))


def _lower(flat: FlatStep, target: Target) -> Any:
    where = topology.sharding_on(target)
    return flat.trace(in_shardings=where, out_shardings=where).lower(lowering_platforms=(target.platform,))


def _program(lowered: Any) -> str:
    return hashlib.sha256(lowered.as_text().encode()).hexdigest()


def _compile(flat: FlatStep, lowered: Any, target: Target) -> Verdict:
    memory, reason = static_memory(lowered.compile())
    if memory is None:
        return Verdict("error", reason)
    flat.check_aliases(memory)
    return fits(memory, target)
