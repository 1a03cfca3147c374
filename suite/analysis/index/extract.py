"""What the index keeps of a result file, read without decoding the rest of it.

A file of 50 cases has tens of thousands of numbers, of which most answers need a few hundred. So
the fields that make figures are decoded, strictly, and the others are passed over: in a tenth of
the time. A file that looks odd in any way is read by the ordinary reader, which says what it is.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from suite.analysis.files import load
from suite.analysis.identity import software_fields
from suite.analysis.metrics import METRICS, Metric
from suite.analysis.per_process import LEAST_SAMPLES_P95
from suite.analysis.stats import median_of_sorted, percentile_of_sorted
from suite.record import loading
from suite.record.base import NotNegative, Positive
from suite.record.environment import Environment
from suite.record.paired import SideName
from suite.record.process import Compile, MemoryMethod, Process, Status
from suite.record.schema import SCHEMA_VERSION, Result, ResultFile, Run, to_json
from suite.spec.case import Case

Samples = Annotated[list[Positive], msgspec.Meta(min_length=1)]


_Values = list[float | None]


class _Compile(msgspec.Struct, gc=False):
    trace_ns: NotNegative | None
    lower_ns: NotNegative | None
    compile_ns: NotNegative | None
    cache: Literal["cold", "cached", "call"]


class _Memory(msgspec.Struct, gc=False):
    peak_bytes: Positive | None = None
    method: MemoryMethod | None = None


class _Process(msgspec.Struct, gc=False):
    index: NotNegative
    block_steps: Positive
    block_ns: Samples
    latency_ns: Samples | None
    compile: _Compile
    memory: _Memory


class _Result(msgspec.Struct):
    case: msgspec.Raw
    key: str
    status: Status
    processes: list[_Process]
    source: str | None = None
    source_sha256: str | None = None


class _File(msgspec.Struct):
    schema_version: int
    run: Run
    environment: Environment
    results: list[_Result]


class Row(msgspec.Struct, array_like=True, kw_only=True, frozen=True):
    """The summary of one result file, as the index stores it.

    Attributes:
        run: its id.
        started_at: ISO 8601 time.
        state: of the run.
        config: its name.
        paired: the side, of a run that `jaxmark ab` made; None for others.
        machine: JSON of the `Machine`.
        software: JSON of `software_fields`, as text.
        cases: JSON of the list of `Case`.
        outcomes: JSON of [status, memory method] of each case.
        medians: metric -> a double for each case, the median over processes; NaN where there is none.
        processes: MessagePack of, for each case, 'index' or metric -> a figure for each process, or null.
    """

    run: str
    started_at: str
    state: str
    config: str
    paired: SideName | None
    machine: str
    software: str
    cases: str
    outcomes: str
    medians: dict[Metric, bytes]
    processes: bytes


_DECODER = msgspec.json.Decoder(_File)


def extract(path: Path) -> Row:
    """Reads a result file's summary.

    Raises:
        ResultFileError: it is no result file; as `load` says it.
    """
    try:
        # While a journal lies beside it, or is what was asked for, the journal may know more.
        if not os.path.exists(path.with_suffix(".journal")):
            file = _DECODER.decode(loading.read(path))
            if _as_expected(file):
                return row_of(file)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        pass  # whatever is wrong with it, the ordinary reader says it better
    return row_of(load(path))


def _as_expected(file: _File) -> bool:
    """Whether it is of this schema, and its cases are what they are called, each there once."""
    keys = [result.key for result in file.results]
    return (
        file.schema_version == SCHEMA_VERSION
        and len(set(keys)) == len(keys) > 0
        and all(_case(bytes(result.case)).key == result.key for result in file.results)
        and datetime.fromisoformat(file.run.started_at).tzinfo is not None
    )


@lru_cache(maxsize=4096)
def _case(encoded: bytes) -> Case:
    return msgspec.json.decode(encoded, type=Case)


def row_of(file: _File | ResultFile) -> Row:
    """Summarises a file that has been read."""
    results: Sequence[_Result | Result] = file.results
    sources = {result.source: result.source_sha256 for result in results if result.source is not None}
    software = software_fields(file.run, file.environment, sources)
    found = [figures_of(result.processes) for result in results]
    return Row(
        run=file.run.id,
        started_at=file.run.started_at,
        state=file.run.state,
        config=file.run.config,
        paired=None if file.run.paired is None else file.run.paired.side,
        machine=to_json(file.environment.machine).decode(),
        software=to_json({name: str(value) for name, value in software.items()}).decode(),
        cases=to_json([_case_of(result) for result in results]).decode(),
        outcomes=to_json(
            [[result.status, method] for result, (_, method) in zip(results, found, strict=True)]
        ).decode(),
        medians={
            metric: array("d", (_middle(values[metric]) for values, _ in found)).tobytes()
            for metric in METRICS
        },
        processes=msgspec.msgpack.encode(
            [
                {"index": [process.index for process in result.processes], **values}
                for result, (values, _) in zip(results, found, strict=True)
            ]
        ),
    )


def _case_of(result: _Result | Result) -> Case:
    return result.case if isinstance(result.case, Case) else _case(bytes(result.case))


def _middle(values: Sequence[float | None]) -> float:
    known = sorted([value for value in values if value is not None])
    return median_of_sorted(known) if known else float("nan")


def figures_of(
    processes: Sequence[_Process] | Sequence[Process],
) -> tuple[Mapping[Metric, list[float | None]], MemoryMethod | None]:
    """Every metric of a case, and the method of its memory: what `metrics.figures` gives, in one pass.

    Args:
        processes: of the case.

    Returns:
        For each metric a figure for each process, in nanoseconds or bytes; None where it has none.
    """
    steps, latencies, tails = _Values(), _Values(), _Values()
    fewest = LEAST_SAMPLES_P95
    for process in processes:
        # This runs some millions of times over a large folder: hence no calls that can be done without.
        ordered = sorted(process.block_ns)
        half, odd = divmod(len(ordered), 2)
        middle = ordered[half] if odd else (ordered[half - 1] + ordered[half]) / 2
        steps.append(middle / process.block_steps)
        if process.latency_ns is not None:
            ordered = sorted(process.latency_ns)
            half, odd = divmod(len(ordered), 2)
            middle = ordered[half] if odd else (ordered[half - 1] + ordered[half]) / 2
        elif process.block_steps != 1:
            latencies.append(None)
            tails.append(None)
            continue
        latencies.append(float(middle))
        tails.append(percentile_of_sorted(ordered, 95))
        if len(ordered) < fewest:
            fewest = len(ordered)
    method, peaks = _peaks(processes)
    return {
        "step_time": steps,
        "latency": latencies,
        "tail": tails if fewest >= LEAST_SAMPLES_P95 else [None] * len(tails),
        "memory": peaks,
        "compile": [_cold_compile_ns(process.compile) for process in processes],
    }, method


def _peaks(
    processes: Sequence[_Process] | Sequence[Process],
) -> tuple[MemoryMethod | None, list[float | None]]:
    memories = [process.memory for process in processes]
    methods = [memory.method for memory in memories if memory.method is not None]
    method = max(sorted(set(methods)), key=methods.count, default=None)
    return method, [float(m.peak_bytes) if m.method == method and m.peak_bytes else None for m in memories]


def _cold_compile_ns(made: _Compile | Compile) -> float | None:
    """Trace, lower and compile; None for what was cached or not timed, and for no time at all."""
    trace, lower, compiled = made.trace_ns, made.lower_ns, made.compile_ns
    if made.cache != "cold" or trace is None or lower is None or compiled is None:
        return None
    return float(trace + lower + compiled) or None
