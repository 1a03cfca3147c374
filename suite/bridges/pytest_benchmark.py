"""pytest-benchmark's JSON, as its own `compare` reads it.

A round is one process, and its time the process's median step: with single steps as rounds, its
statistics would take a busy minute for hundreds of independent votes.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import msgspec

from suite.analysis.per_process import step_time_ns
from suite.record.schema import Result, ResultFile

_FORMAT_VERSION = "5.1.0"  # of pytest-benchmark, whose field names these are

OURS = "jaxmark"
"""Under this name stands, beside what pytest-benchmark knows, what it has no field for."""


def document(files: Sequence[ResultFile], results: Sequence[Result]) -> dict[str, Any]:
    """The JSON document; times in seconds."""
    last = files[-1]
    return {
        "machine_info": _machine(last),
        "commit_info": {
            "id": (last.run.git or "unknown").removesuffix("-dirty"),
            "time": None,
            "author_time": None,
            "dirty": (last.run.git or "").endswith("-dirty"),
            "project": "jaxmark",
            "branch": "(unknown)",
        },
        "benchmarks": [_benchmark(result) for result in results],
        "datetime": last.run.finished_at or last.run.started_at,
        "version": _FORMAT_VERSION,
    }


def _machine(file: ResultFile) -> dict[str, Any]:
    machine, software = file.environment.machine, file.environment.software
    return {
        "node": machine.machine_id,
        "processor": machine.cpu_model,
        "machine": machine.architecture,
        "system": machine.os,
        "python_version": software.python,
        "cpu": {"brand_raw": machine.cpu_model, "count": machine.cpu_cores_available},
        "device_kind": machine.device_kind,
        "device_count": machine.device_count,
        "jax": software.jax,
        "jaxlib": software.jaxlib,
        "flax": software.flax,
        # Everything, so that `jaxmark import` gets the same machine back.
        OURS: {"machine": msgspec.to_builtins(machine), "software": msgspec.to_builtins(software)},
    }


def _benchmark(result: Result) -> dict[str, Any]:
    seconds = [step_time_ns(process) / 1e9 for process in result.processes]
    summary = result.summary
    return {
        "group": None,
        "name": result.key,
        "fullname": result.key,
        "params": None,
        "param": None,
        "extra_info": {
            "unit_of_statistics": "one fresh process; its median step",
            OURS: {"case": msgspec.to_builtins(result.case), "work": msgspec.to_builtins(result.work)},
            "items_per_second": summary.items_per_second,
            "peak_bytes": summary.peak_bytes,
            "peak_method": summary.peak_method,
            "compile_ms": summary.compile_ms,
            "warnings": [note.code for note in result.warnings],
        },
        "options": {"disable_gc": True, "timer": "perf_counter", "min_rounds": len(seconds), "warmup": True},
        "stats": stats(seconds) | {"data": seconds, "iterations": result.processes[0].block_steps},
    }


def stats(seconds: Sequence[float]) -> dict[str, Any]:
    """The statistics under pytest-benchmark's names, by its definitions.

    Quartiles are the medians of the lower and the upper half; of an odd number, the mean of those
    with and without the value in the middle. Outliers are the values beyond a standard deviation
    from the mean, and those beyond Tukey's fences.
    """
    ordered = sorted(seconds)
    mean, median = statistics.mean(ordered), statistics.median(ordered)
    deviation = statistics.stdev(ordered) if len(ordered) > 1 else 0.0
    q1, q3 = _lower_quartile(ordered), -_lower_quartile([-value for value in reversed(ordered)])
    low, high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    inside = [value for value in ordered if low <= value <= high] or [median]
    far = sum(not mean - deviation <= value <= mean + deviation for value in ordered)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "stddev": deviation,
        "rounds": len(ordered),
        "median": median,
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": len(ordered) - len(inside),
        "stddev_outliers": far,
        "outliers": f"{far};{len(ordered) - len(inside)}",
        "ld15iqr": inside[0],
        "hd15iqr": inside[-1],
        "ops": 1 / mean,
        "total": sum(ordered),
    }


def _lower_quartile(ordered: Sequence[float]) -> float:
    half, rest = divmod(len(ordered), 2)
    if not half:
        return ordered[0]
    return (statistics.median(ordered[:half]) + statistics.median(ordered[: half + rest])) / 2
