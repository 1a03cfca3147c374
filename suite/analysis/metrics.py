"""What can be compared: one figure of each process, and why there may be none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from suite.analysis.per_process import (
    LEAST_SAMPLES_P95,
    all_single_steps_ns,
    cold_compile_ns,
    peak_method,
    step_time_ns,
)
from suite.analysis.stats import median, percentile
from suite.record.schema import MemoryMethod, Process, Result

Metric = Literal["step_time", "latency", "tail", "memory", "compile"]
METRICS: tuple[Metric, ...] = get_args(Metric)

NAMES: Mapping[Metric, str] = {
    "step_time": "step time",
    "latency": "latency of a step that is waited for",
    "tail": "95th percentile of latency",
    "memory": "peak memory",
    "compile": "compile time",
}


@dataclass(frozen=True)
class Figures:
    """One metric of one case: a figure for each process that has one.

    Attributes:
        values: in nanoseconds; in bytes for memory. All above 0.
        reason: why there are none.
        method: of memory; figures by different methods do not compare.
    """

    values: tuple[float, ...]
    reason: str | None = None
    method: MemoryMethod | None = None

    @property
    def middle(self) -> float | None:
        """The median over processes; None without any."""
        return median(self.values) if self.values else None

    @property
    def logs(self) -> list[float]:
        """Natural logarithms: on this scale a ratio is a difference."""
        return [math.log(value) for value in self.values]


NO_FIGURES = Figures(())
"""Of a case that is not there."""


def figures(result: Result, metric: Metric) -> Figures:
    """One metric of a case, whatever its status. Higher is worse for every metric."""
    if not result.processes:
        return Figures((), result.reason or "no process was measured")
    return _figures(result.processes, metric)


def figure_of(process: Process, metric: Metric) -> float | None:
    """One metric of one process, in nanoseconds or bytes; None if it has none."""
    return next(iter(_figures([process], metric).values), None)


def _figures(processes: Sequence[Process], metric: Metric) -> Figures:
    return _memory(processes) if metric == "memory" else _TIMES[metric](processes)


def _step_time(processes: Sequence[Process]) -> Figures:
    return Figures(tuple(step_time_ns(process) for process in processes))


def _latency(processes: Sequence[Process]) -> Figures:
    singles = all_single_steps_ns(processes)
    return Figures(
        tuple(median(single) for single in singles), None if singles else "no single steps were timed"
    )


def _tail(processes: Sequence[Process]) -> Figures:
    singles = all_single_steps_ns(processes)
    if not singles:
        return Figures((), "no single steps were timed")
    fewest = min(map(len, singles))
    if fewest < LEAST_SAMPLES_P95:
        return Figures(
            (), f"a 95th percentile needs {LEAST_SAMPLES_P95} single steps a process, found {fewest}"
        )
    return Figures(tuple(percentile(single, 95) for single in singles))


def _compile(processes: Sequence[Process]) -> Figures:
    # A program can compile in no measurable time; nothing can be said of its logarithm.
    values = [float(total) for process in processes if (total := cold_compile_ns(process))]
    caches = sorted({process.compile.cache for process in processes})
    return Figures(tuple(values), None if values else f"no process compiled cold ({', '.join(caches)})")


def _memory(processes: Sequence[Process]) -> Figures:
    method = peak_method(processes)
    if method is None:
        reasons = [process.memory.reason for process in processes if process.memory.reason]
        return Figures((), reasons[0] if reasons else "no peak was read")
    memories = [process.memory for process in processes if process.memory.method == method]
    return Figures(tuple(float(m.peak_bytes) for m in memories if m.peak_bytes), method=method)


_TIMES: Mapping[Metric, Callable[[Sequence[Process]], Figures]] = {
    "step_time": _step_time,
    "latency": _latency,
    "tail": _tail,
    "compile": _compile,
}
