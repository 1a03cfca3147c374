"""Compiles a workload's step for a chip that is not here, in the form in which it would be measured."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

from suite.forecast import bounds, cache, compilers, hlo, sharding, subject, topology
from suite.forecast.meshes import parse_mesh
from suite.forecast.protocol import Job
from suite.forecast.schedule import Schedule, schedule
from suite.forecast.subject import Subject
from suite.forecast.targets import Target, find
from suite.measurement.failure import StepFailedError, classify, short_traceback
from suite.measurement.flat import static_memory
from suite.measurement.jaxprs import fewest_bytes
from suite.record.forecast import Collective, CompileStatus, Forecast
from suite.spec.case import Case

Source = Callable[[Case, str | None], Subject]

# 'Used 54.54G of 15.75G hbm' in some versions, 'total memory required ... (54.54G)' in others.
_NEEDED = re.compile(r"(?:Used |memory required[^(]*\()(?P<size>[\d.]+)(?P<unit>[KMG])\b")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def forecast(job: Job, of: Source = subject.of) -> Forecast:
    """Compiles one step for one chip, or a mesh of them; a failure is an answer.

    What is known from before is not compiled again.

    Args:
        job: the case, the chip, and where earlier answers to the same program are.
        of: makes the case's step.
    """
    began, target = time.perf_counter(), find(job.target)
    answer = _unanswered(job.case, target)
    place: Path | None = None
    try:
        answer.device_kind = _device_kind(target)
        found = of(job.case, job.source)
        answer.work = found.work
        shards = _shards(job.case, target, found)
        answer.devices = len(shards[0].device_set)
        traced = _trace(found, shards)
        answer.work.bytes_min = max(fewest_bytes(traced.jaxpr) - found.unmoved_bytes, 0)
        lowered = traced.lower(lowering_platforms=(target.platform,))
        if job.cache is not None:
            place = cache.place(Path(job.cache), _program(lowered), target, answer.versions)
        if place is not None and (earlier := cache.read(place)) is not None:
            _remember(job, target, answer, place)
            return _again(earlier, answer)
        _compile(answer, found, shards, lowered, target)
    # Whatever a compiler raises is the answer for this chip; one that nothing here knows is an 'error'.
    except Exception as error:
        _failed(answer, error)
    answer.compile_s = time.perf_counter() - began
    if place is not None and answer.status != "error":
        cache.write(place, answer)
        _remember(job, target, answer, place)
    return answer


def _remember(job: Job, target: Target, answer: Forecast, place: Path) -> None:
    shortcut = cache.shortcut(place.parent, job, target, answer.versions)
    if shortcut is not None:
        cache.remember(shortcut, place)


def _compile(answer: Forecast, found: Subject, shards: list[Any], lowered: Any, target: Target) -> None:
    compiled = lowered.compile()
    memory, reason = static_memory(compiled)
    if memory is None:
        answer.reason = reason
        return
    answer.memory, answer.needed_bytes = memory, memory.total_bytes + memory.code_bytes
    answer.parts = subject.parts(found.state, found.batch, shards, memory)
    found.flat().check_aliases(memory, _on_one_device(found.state, shards))
    _bound(answer, target, schedule(hlo.parse(compiled.as_text())))
    answer.status = "ok"
    if answer.needed_bytes > target.usable_bytes:
        answer.status = "does_not_fit"
        answer.reason = _too_large(answer.needed_bytes, target)


def _bound(answer: Forecast, target: Target, program: Schedule) -> None:
    work, devices = answer.work, answer.devices
    assert work is not None
    # What the whole step does is shared by the devices; the program is that of one.
    flops = None if work.flops is None else work.flops // devices
    bytes_min = None if work.bytes_min is None else work.bytes_min // devices
    answer.step_bound = bounds.step_bound(target, program, flops, bytes_min)
    answer.program_bound = bounds.program_bound(target, program)
    answer.unknown_loops = program.unknown_loops
    answer.compiler_s = bounds.compiler_estimate(target, program)
    if answer.program_bound is None:
        dtypes = {dtype for each in program.operations for dtype in each.flops}
        missing = [dtype for dtype in sorted(dtypes) if bounds.peak_flops(target, dtype) is None]
        answer.bound_reason = f"no peak is known for products of {', '.join(missing)} on this chip"
    totals: dict[str, Collective] = {}
    for each in program.operations:
        if each.collective:
            total = totals.setdefault(each.collective, Collective(kind=each.collective, count=0, bytes=0))
            total.count += each.runs
            total.bytes += each.runs * each.result_bytes
    answer.collectives = list(totals.values())


def _failed(answer: Forecast, error: Exception) -> None:
    """Records what an exception from a compiler stands for."""
    status, answer.reason = classify(error, "compile")
    known: dict[str, CompileStatus] = {"does_not_fit": "does_not_fit", "unsupported": "unsupported"}
    answer.status, answer.detail = known.get(status, "error"), short_traceback(error)
    if answer.status == "does_not_fit" and (needed := needed_bytes(str(error))) is not None:
        answer.needed_bytes = needed
        answer.reason = _too_large(needed, find(answer.target))


def needed_bytes(message: str) -> int | None:
    """What a TPU compiler that gave up says a program needs, to its two decimals; None if it does not say."""
    found = _NEEDED.search(message)
    return None if found is None else round(float(found["size"]) * _UNITS[found["unit"]])


def _too_large(needed: int, target: Target) -> str:
    usable = target.usable_bytes
    return f"needs {needed / 2**30:.2f} GiB, and a program can use {usable / 2**30:.2f} GiB"


def _again(earlier: Forecast, asked: Forecast) -> Forecast:
    """An earlier answer to the same program, as one to what was asked now."""
    earlier.key, earlier.emulated, earlier.work, earlier.cached = asked.key, asked.emulated, asked.work, True
    return earlier


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


def _shards(case: Case, target: Target, found: Subject) -> list[Any]:
    mesh = None if case.mesh is None else parse_mesh(case.mesh)
    return list(sharding.shardings(target, mesh, found.state, found.batch))


def _trace(found: Subject, shards: list[Any]) -> Any:
    """The step for those devices; its state stays where it was, its outputs are the compiler's to place."""
    flat = found.flat()
    state = shards[: len(jax.tree.leaves(found.state))]
    leaves = [*jax.tree.leaves(found.state), *jax.tree.leaves(found.batch)]
    results = len(jax.eval_shape(flat.flat, *leaves))
    return flat.trace(in_shardings=tuple(shards), out_shardings=[*state, *[None] * (results - len(state))])


def _on_one_device(state: Any, shards: list[Any]) -> int:
    return sum(
        math.prod(shard.shard_shape(leaf.shape)) * leaf.dtype.itemsize
        for leaf, shard in zip(jax.tree.leaves(state), shards, strict=False)
    )


def _program(lowered: Any) -> str:
    return hashlib.sha256(lowered.as_text().encode()).hexdigest()
