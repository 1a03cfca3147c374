"""The protocol of one process: from a step that is ready to run to its raw samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from suite.hardware import host
from suite.measurement import checks, timing
from suite.measurement.compiling import compiled_programs
from suite.measurement.memory import MemoryProbe
from suite.measurement.step import Step
from suite.record.schema import Conditions, MeasureSettings, Note, Process, Stage

OnStage = Callable[[Stage], None]


@dataclass(frozen=True)
class Plan:
    """How one process measures.

    Attributes:
        block_steps: K if an earlier process has chosen it.
        loss: reads the loss out of a step's outputs; None where there is none.
        loss_falls: whether the loss must fall over the first steps.
    """

    settings: MeasureSettings = field(default_factory=MeasureSettings)
    index: int = 0
    block_steps: int | None = None
    loss: checks.Loss | None = None
    loss_falls: bool = False


@dataclass
class _Samples:
    warmup: timing.Warmup
    block_ns: list[int]
    other_shapes_ns: list[int]
    latency_ns: list[int] | None
    compiled: int


def measure(
    step: Step, memory: MemoryProbe, plan: Plan, on_stage: OnStage, init_ns: int | None = None
) -> Process:
    """Runs the whole protocol on a step that has not run yet and returns everything measured.

    Raises:
        StepFailedError: if the numbers are not finite or not right.
    """
    began, started_at = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    before = host.load_average(), host.cpu_mhz()
    on_stage("first_call")
    first_call_ns = timing.time_once(step.run, 1)
    losses = checks.first_losses(step.run, step.outputs, plan.loss) if plan.loss else None
    shapes_change = _shapes_change(step)
    on_stage("memory")
    peak = memory.measure(step)
    with timing.no_garbage_collection():
        samples = _sample(step, plan, on_stage, shapes_change)
    on_stage("checks")
    verdict = checks.check(losses, plan.loss_falls, step.outputs())
    return Process(
        index=plan.index,
        started_at=started_at,
        duration_s=time.perf_counter() - began,
        init_ns=init_ns,
        compile=msgspec.structs.replace(step.program.compile, first_call_ns=first_call_ns),
        warmup_ns=samples.warmup.ns,
        warmup_steps=samples.warmup.steps,
        block_steps=samples.warmup.block_steps,
        block_ns=samples.block_ns,
        latency_ns=samples.latency_ns,
        other_shapes_ns=samples.other_shapes_ns,
        memory=peak,
        checks=verdict,
        conditions=_conditions(before, samples),
        warnings=_warnings(samples),
    )


def _shapes_change(step: Step) -> bool:
    """Whether two further steps give results of other shapes; only the `call` path can."""
    first = step.signature()
    if first is None:
        return False
    changed = False
    for _ in range(2):
        step.run(1)
        changed = changed or step.signature() != first
    return changed


def _sample(step: Step, plan: Plan, on_stage: OnStage, shapes_change: bool) -> _Samples:
    """Warm-up, throughput blocks and the latency pass."""
    on_stage("warmup")
    warmup = timing.warm_up(step.run, plan.settings, 1 if shapes_change else plan.block_steps)
    compiled_before = compiled_programs()
    on_stage("blocks")
    block_ns: list[int] = []
    other_ns: list[int] = []
    first: str | None = None
    for ns in timing.sample(step.run, warmup.block_steps, timing.MAX_BLOCKS, plan.settings.block_seconds):
        shape = step.signature()
        first = shape if not block_ns else first
        (block_ns if shape == first else other_ns).append(ns)
    latency_ns = None
    if warmup.block_steps > 1:
        on_stage("latency")
        latency_ns = list(timing.sample(step.run, 1, timing.MAX_LATENCIES, plan.settings.latency_seconds))
    return _Samples(warmup, block_ns, other_ns, latency_ns, compiled_programs() - compiled_before)


def _conditions(before: tuple[float | None, float | None], samples: _Samples) -> Conditions:
    load, mhz = before
    return Conditions(
        load_average_before=load,
        load_average_after=host.load_average(),
        cpu_mhz_before=mhz,
        cpu_mhz_after=host.cpu_mhz(),
        compiled_during_measurement=samples.compiled,
        steady=samples.warmup.steady,
    )


def _warnings(samples: _Samples) -> list[Note]:
    """What only this process knows; the rest is derived from its conditions."""
    kept, apart = len(samples.block_ns), len(samples.other_shapes_ns)
    if not apart:
        return []
    return [
        Note(
            code="shapes_change",
            message=f"results change shape between steps; {apart} of {kept + apart} samples are kept apart",
        )
    ]
