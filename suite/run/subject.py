"""From a job's case to a step that is ready to run, and the work that it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from suite.measurement import checks
from suite.measurement.aot import AotStep
from suite.measurement.call import CallStep
from suite.measurement.failure import StepFailedError
from suite.measurement.memory import MemoryProbe
from suite.measurement.step import Program
from suite.measurement.step import Step as ReadyStep
from suite.record.schema import Stage, Work
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, own
from suite.workloads.base import Workload

OnStage = Callable[[Stage], None]

# An initial state is computed once: compiling it at LLVM's full effort took three times as long for
# ResNet-50 and made it no faster.
_QUICK_COMPILE = {"xla_backend_optimization_level": 1}


@dataclass(frozen=True)
class Subject:
    """A step that is compiled (or, on the `call` path, ready to be called) with what it does."""

    step: ReadyStep
    work: Work
    loss: checks.Loss | None
    loss_falls: bool
    init_ns: int | None


def from_catalogue(case: Case, seed: int, memory: MemoryProbe, on_stage: OnStage) -> Subject:
    """Builds, initialises and compiles a workload of the catalogue."""
    workload = build(case)
    terms, items, item, parameters = catalogue.work(case)
    work = Work(
        flops=sum(terms.values()),
        flops_terms=terms,
        flops_source="analytic",
        items=items,
        item=item,
        parameters=parameters,
    )
    return _from_workload(workload, work, seed, memory, on_stage, catalogue.unmoved_bytes(case))


def from_own(source: str, seed: int, memory: MemoryProbe, on_stage: OnStage) -> Subject:
    """Builds a user's own workload from 'file.py:name'."""
    return from_object(own.load(source), seed, memory, on_stage)


def from_object(subject: own.Own, seed: int, memory: MemoryProbe, on_stage: OnStage) -> Subject:
    """Makes a user's `Workload`, `Step` or `Call` ready to run."""
    if isinstance(subject, Workload):
        work = Work(flops=None, flops_reason="the workload states none")
        return _with_flops(_from_workload(subject, work, seed, memory, on_stage, 0))
    facts = subject.facts
    work = Work(
        flops=facts.flops,
        flops_source="user" if facts.flops is not None else None,
        flops_reason=None if facts.flops is not None else "the workload states none",
        items=facts.items,
        item=facts.item,
    )
    if isinstance(subject, own.Call):
        memory.read_allocator("baseline")
        step: ReadyStep = CallStep(subject.function, subject.args, subject.kwargs)
        return Subject(step, _complete(work, step.program), facts.loss, False, None)
    _refuse_several_devices((subject.state, subject.batch))
    state, batch = jax.device_put(_each_once((subject.state, subject.batch)), jax.devices()[0])
    ready = _compile(subject.step, state, batch, memory, on_stage, 0)
    return _with_flops(Subject(ready, _complete(work, ready.program), facts.loss, False, None))


def _refuse_several_devices(arrays: Any) -> None:
    """Raises StepFailedError for sharded arrays: gathered on one device, they make another step."""
    counts = [len(leaf.devices()) for leaf in jax.tree.leaves(arrays) if isinstance(leaf, jax.Array)]
    if max(counts, default=1) > 1:
        raise StepFailedError(
            "unsupported",
            f"expected state and batch on one device, found arrays spread over {max(counts)}; the 'aot' path "
            "measures one device. Give them unsharded, or run the step as it is with path 'call'",
        )


def _each_once(arrays: Any) -> Any:
    """Copies an array that stands there before, as tied weights do: a buffer can be donated once."""
    seen: set[int] = set()

    def apart(leaf: Any) -> Any:
        if id(leaf) in seen:
            return jnp.copy(leaf)
        seen.add(id(leaf))
        return leaf

    return jax.tree.map(apart, arrays)


def initial(workload: Workload, seed: int) -> tuple[Any, Any]:
    """State and batch on the device, complete.

    Both are made on the host, so that they are the same numbers on every backend and that making
    them leaves no mark on the device's peak memory.
    """
    device = jax.devices()[0]
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        state = jax.jit(workload.init, compiler_options=_QUICK_COMPILE)(jax.random.key(seed))
    batch = workload.batch(np.random.default_rng(seed))
    moved = jax.device_put((state, batch), device)
    return jax.block_until_ready(moved)  # type: ignore[no-any-return]


def _from_workload(
    workload: Workload, work: Work, seed: int, memory: MemoryProbe, on_stage: OnStage, unmoved_bytes: int
) -> Subject:
    began = time.perf_counter_ns()
    state, batch = initial(workload, seed)
    init_ns = time.perf_counter_ns() - began
    step = _compile(workload.step, state, batch, memory, on_stage, unmoved_bytes)
    found = workload.checks
    return Subject(step, _complete(work, step.program), found.loss, found.loss_falls, init_ns)


def _compile(
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    batch: Any,
    memory: MemoryProbe,
    on_stage: OnStage,
    unmoved_bytes: int,
) -> AotStep:
    memory.read_allocator("baseline")
    memory.before_compile()
    on_stage("compile")
    ready = AotStep(step, state, batch, unmoved_bytes=unmoved_bytes)
    memory.after_compile()
    return ready


def _complete(work: Work, program: Program) -> Work:
    work.xla_flops = program.xla_flops
    work.bytes_min, work.bytes_min_reason = program.bytes_min, program.bytes_min_reason
    return work


def _with_flops(subject: Subject) -> Subject:
    """Falls back to XLA's own count, named so, where the user states no FLOPs."""
    work = subject.work
    if work.flops is None and isinstance(subject.step, AotStep):
        if subject.step.program.has_loop:
            work.flops_reason = "none stated, and XLA counts the body of a loop once"
        elif work.xla_flops is not None:
            work.flops, work.flops_source, work.flops_reason = int(work.xla_flops), "xla", None
    return replace(subject, work=work)
