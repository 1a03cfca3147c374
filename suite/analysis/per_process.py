"""The figures of one process, from its raw samples: what every statistic counts once."""

from __future__ import annotations

from collections.abc import Sequence

from suite.analysis.stats import median
from suite.record.schema import MemoryMethod, Process

LEAST_SAMPLES_P95 = 20
"""Of single steps: of fewer, the 95th percentile is next to the largest, whatever that was."""


def step_time_ns(process: Process) -> float:
    """A process's one figure: its median block, per step."""
    return median(process.block_ns) / process.block_steps


def single_steps_ns(process: Process) -> list[int] | None:
    """Steps that were each waited for: the latency pass, or the blocks where a block is a step."""
    if process.latency_ns is not None:
        return process.latency_ns
    return process.block_ns if process.block_steps == 1 else None


def all_single_steps_ns(processes: Sequence[Process]) -> list[list[int]]:
    """`single_steps_ns` of each process that has them."""
    return [single for process in processes if (single := single_steps_ns(process)) is not None]


def cold_compile_ns(process: Process) -> int | None:
    """Trace, lower and compile together; None if anything came from a cache or was not timed."""
    parts = (process.compile.trace_ns, process.compile.lower_ns, process.compile.compile_ns)
    known = [part for part in parts if part is not None]
    return sum(known) if process.compile.cache == "cold" and len(known) == len(parts) else None


def peak_method(processes: Sequence[Process]) -> MemoryMethod | None:
    """The method behind most of the processes' peaks; the alphabet decides a tie."""
    methods = sorted(p.memory.method for p in processes if p.memory.method is not None)
    return max(methods, key=methods.count, default=None)
