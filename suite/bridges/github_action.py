"""A list for github-action-benchmark, with its tool 'customSmallerIsBetter'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from suite.analysis.identity import devices
from suite.record.schema import Result, ResultFile


def document(files: Sequence[ResultFile], results: Sequence[Result]) -> list[dict[str, Any]]:
    """Step time, compile time and peak memory of each case: for all of them smaller is better."""
    where = _where(files[-1])
    return [entry for result in results for entry in _entries(result, where)]


def _where(file: ResultFile) -> str:
    machine, software = file.environment.machine, file.environment.software
    return (
        f"machine: {machine.machine_id}\ndevice: {devices(machine)}\n"
        f"jax: {software.jax}, flax: {software.flax}"
    )


def _entries(result: Result, where: str) -> Iterator[dict[str, Any]]:
    summary = result.summary
    extra = f"{where}\nprocesses: {summary.processes}"
    if summary.step_time_ms is not None:
        entry = {"name": f"{result.key} step time", "unit": "ms", "value": summary.step_time_ms}
        if summary.step_time_ms_low is not None and summary.step_time_ms_high is not None:
            entry["range"] = f"{summary.step_time_ms_low:.6g} to {summary.step_time_ms_high:.6g}"
        yield entry | {"extra": extra}
    if summary.compile_ms is not None:
        yield {
            "name": f"{result.key} compile time", "unit": "ms", "value": summary.compile_ms, "extra": extra,
        }  # fmt: skip
    if summary.peak_bytes is not None:
        # The method is in the name: a new one starts a new series, for peaks by two do not compare.
        yield {
            "name": f"{result.key} peak memory ({summary.peak_method})",
            "unit": "bytes",
            "value": summary.peak_bytes,
            "extra": extra,
        }
