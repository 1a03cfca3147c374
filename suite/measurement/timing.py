"""The clock: warm-up, throughput blocks and the latency pass.

Everything here is told how to run K chained steps and wait for them (`run`), and reads one
monotonic clock around it. Nothing knows of jax, so the rules can be tested with a fake clock.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from suite.record.schema import MeasureSettings

Run = Callable[[int], None]
Clock = Callable[[], int]

MIN_BLOCK_NS = 50_000_000  # shorter blocks would time the wait and the clock, not the steps
MIN_WARMUP_STEPS = 3
MIN_SAMPLES = 5
MAX_BLOCKS = 20
MAX_LATENCIES = 100
STEADY_TOLERANCE = 0.05
WARMUP_CAP_FACTOR = 10  # warm-up ends, not steady, after this many times its planned seconds


@dataclass(frozen=True)
class Warmup:
    """Warm-up samples in order: `ns[i]` is the time of `steps[i]` chained steps."""

    steps: list[int]
    ns: list[int]
    block_steps: int
    steady: bool


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Collects once, then keeps the collector out of the samples."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def time_once(run: Run, steps: int, clock: Clock = time.perf_counter_ns) -> int:
    """Nanoseconds of `steps` chained steps and one wait."""
    began = clock()
    run(steps)
    return clock() - began


def warm_up(
    run: Run, settings: MeasureSettings, block_steps: int | None, clock: Clock = time.perf_counter_ns
) -> Warmup:
    """Runs blocks until the step time has settled, and chooses K where it is not given.

    Settled means: at least 3 steps and `warmup_seconds` have gone, and the means of the last two
    pairs of blocks agree within 5%. After ten times `warmup_seconds` or 5 steps, whichever is
    later, it stops all the same and is not steady.
    """
    steps: list[int] = []
    ns: list[int] = []
    planned_ns = settings.warmup_seconds * 1e9
    chosen = block_steps
    current = block_steps or 1
    while True:
        steps.append(current)
        ns.append(time_once(run, current, clock))
        if chosen is None:
            current, chosen = _next_block_steps(steps, ns)
            if chosen is None:
                continue
        elapsed, done = sum(ns), sum(steps)
        blocks = [t for k, t in zip(steps, ns, strict=True) if k == chosen]
        if done >= MIN_WARMUP_STEPS and elapsed >= planned_ns and _settled(blocks):
            return Warmup(steps, ns, chosen, steady=True)
        if elapsed >= WARMUP_CAP_FACTOR * planned_ns and done >= MIN_SAMPLES:
            return Warmup(steps, ns, chosen, steady=False)


def _next_block_steps(steps: list[int], ns: list[int]) -> tuple[int, int | None]:
    """Grows K until a block lasts long enough; returns (K to run next, K if it is chosen).

    The first sample is never trusted: the second step still runs half as long again as a steady
    one. Nor is a single block: one that another program held up would choose a K that is far too
    small for every process to come. Growth aims a tenth above the least length, so that a block does
    not fall below it.
    """
    current = steps[-1]
    blocks = [t for k, t in zip(steps[1:], ns[1:], strict=True) if k == current]
    quickest = min(blocks, default=MIN_BLOCK_NS)
    if quickest < MIN_BLOCK_NS:
        return max(current + 1, math.ceil(current * 1.1 * MIN_BLOCK_NS / max(quickest, 1))), None
    return current, current if len(blocks) >= 2 else None


def _settled(blocks: list[int]) -> bool:
    if len(blocks) < 4:
        return False
    earlier, later = blocks[-4] + blocks[-3], blocks[-2] + blocks[-1]
    return abs(later - earlier) <= STEADY_TOLERANCE * earlier


def sample(
    run: Run, steps: int, most: int, seconds: float, clock: Clock = time.perf_counter_ns
) -> Iterator[int]:
    """Yields the time of blocks of `steps`: `most` or `seconds` of them, never fewer than 5."""
    began, taken = clock(), 0
    while taken < most and (taken < MIN_SAMPLES or clock() - began < seconds * 1e9):
        yield time_once(run, steps, clock)
        taken += 1
