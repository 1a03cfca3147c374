"""What must hold in a result file beyond the types of its fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from suite.record.schema import Failure, Floor, Memory, Process, Result, ResultFile, Work


def problems(file: ResultFile) -> Iterator[str]:
    """Yields each broken rule as 'place: expected ..., found ...'. Summaries are not looked at."""
    if not file.results:
        yield "results: expected at least one case, found none"
    yield from _time("run.started_at", file.run.started_at)
    if file.run.finished_at is not None:
        yield from _time("run.finished_at", file.run.finished_at)
    if (file.run.state == "running") != (file.run.finished_at is None):
        yield f"run: state {file.run.state!r} does not go with finished_at {file.run.finished_at!r}"
    for key, count in Counter(result.key for result in file.results).items():
        if count > 1:
            yield f"results: case {key!r} stands there {count} times, expected once"
    for n, result in enumerate(file.results):
        yield from _result(f"results[{n}]", result)
    for n, floor in enumerate(file.floors):
        yield from _floor(f"floors[{n}]", floor)


def _result(where: str, result: Result) -> Iterator[str]:
    if result.key != result.case.key:
        yield f"{where}.key: expected {result.case.key!r} from the fields of its case, found {result.key!r}"
    if result.work is not None:
        yield from _work(f"{where}.work", result.work)
    for index, count in Counter(process.index for process in result.processes).items():
        if count > 1:
            yield f"{where}.processes: index {index} stands there {count} times, expected once"
    for n, process in enumerate(result.processes):
        yield from _process(f"{where}.processes[{n}]", process)
    for n, failure in enumerate(result.failures):
        yield from _failure(f"{where}.failures[{n}]", failure)


def _process(where: str, process: Process) -> Iterator[str]:
    yield from _time(f"{where}.started_at", process.started_at)
    yield from _memory(f"{where}.memory", process.memory)
    if len(process.warmup_steps) != len(process.warmup_ns):
        yield (
            f"{where}: warmup_ns has {len(process.warmup_ns)} samples, "
            f"warmup_steps has {len(process.warmup_steps)}"
        )
    steps_s = (
        sum((*process.block_ns, *process.other_shapes_ns, *process.warmup_ns, *(process.latency_ns or ())))
        / 1e9
    )
    # Generous, since the two come from different clocks: it is there to catch a wrong unit.
    if steps_s > 1.1 * process.duration_s + 1:
        yield (
            f"{where}: its samples add up to {steps_s:.3f} s, more than duration_s, {process.duration_s:.3f}"
        )


def _failure(where: str, failure: Failure) -> Iterator[str]:
    yield from _time(f"{where}.started_at", failure.started_at)
    if failure.status == "ok":
        yield f"{where}.status: a failure cannot be 'ok'"
    if not failure.reason.strip():
        yield f"{where}.reason: expected a reason, found nothing"


def _memory(where: str, memory: Memory) -> Iterator[str]:
    if (memory.peak_bytes is None) != (memory.method is None):
        yield f"{where}: peak_bytes and method must both be there or both be null"
    if memory.peak_bytes is None and not memory.reason:
        yield f"{where}: peak_bytes is null without a reason"


def _work(where: str, work: Work) -> Iterator[str]:
    if work.flops is None and not work.flops_reason:
        yield f"{where}: flops is null without a flops_reason"
    if work.flops is not None and work.flops_source is None:
        yield f"{where}: flops is {work.flops} without a flops_source"
    total = sum(work.flops_terms.values())
    if work.flops_terms and total != work.flops:
        yield f"{where}: flops_terms add up to {total}, flops is {work.flops}"


def _floor(where: str, floor: Floor) -> Iterator[str]:
    yield from _time(f"{where}.first_run_at", floor.first_run_at)
    yield from _time(f"{where}.last_run_at", floor.last_run_at)
    if floor.runs < 2 or floor.p95 < 0 or floor.deviation < 0:
        yield (
            f"{where}: expected 2 runs or more and no negative figure, found {floor.runs} runs, p95 "
            f"{floor.p95}, deviation {floor.deviation}"
        )


def _time(where: str, text: str) -> Iterator[str]:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        yield f"{where}: expected a time such as 2026-01-31T12:00:00Z, found {text!r}"
        return
    if moment.tzinfo is None:
        yield f"{where}: expected a time with its zone, such as 2026-01-31T12:00:00Z, found {text!r}"
