"""Bencher's metric format (BMF), as `bencher run --adapter json` reads it."""

from __future__ import annotations

from collections.abc import Sequence

from suite.errors import ConfigError
from suite.record.schema import Result, ResultFile

_LONGEST_NAME = 1024
_NS_PER_MS = 1e6

Metric = dict[str, float]


def document(files: Sequence[ResultFile], results: Sequence[Result]) -> dict[str, dict[str, Metric]]:
    """Case -> measure -> metric. Times in nanoseconds, throughput in items a second.

    Raises:
        ConfigError: a name is longer than Bencher takes.
    """
    for result in results:
        if len(result.key) > _LONGEST_NAME:
            raise ConfigError(
                f"bencher: expected names of up to {_LONGEST_NAME} characters, found {len(result.key)} in "
                f"{result.key[:60]!r}..."
            )
    return {result.key: _measures(result) for result in results}


def _measures(result: Result) -> dict[str, Metric]:
    summary = result.summary
    found: dict[str, Metric] = {}
    if summary.step_time_ms is not None:
        found["step-time"] = {"value": summary.step_time_ms * _NS_PER_MS}
        if summary.step_time_ms_low is not None and summary.step_time_ms_high is not None:
            found["step-time"] |= {
                "lower_value": summary.step_time_ms_low * _NS_PER_MS,
                "upper_value": summary.step_time_ms_high * _NS_PER_MS,
            }
    # 'latency' and 'throughput' are measures that Bencher has in every project, in these units.
    if summary.latency_ms is not None:
        found["latency"] = {"value": summary.latency_ms * _NS_PER_MS}
    if summary.items_per_second is not None:
        found["throughput"] = {"value": summary.items_per_second}
    if summary.compile_ms is not None:
        found["compile-time"] = {"value": summary.compile_ms * _NS_PER_MS}
    if summary.peak_bytes is not None and summary.peak_method is not None:
        # The method is in the name: peaks by two methods do not compare.
        found[f"peak-memory-{summary.peak_method.replace('+', '-').replace('_', '-')}"] = {
            "value": float(summary.peak_bytes)
        }
    return found
