"""The least time that a step can take on a chip, from the chip's dense peak and bandwidth. No jax.

Both are lower bounds and are called so; a real step is slower. Of the whole step: all of its
products at the peak, all of its live bytes at the bandwidth, and the larger of the two. Of the
compiled program: each scheduled operation at least its own products and its own bytes, one after
the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.forecast.schedule import Schedule, Scheduled
from suite.forecast.targets import Target
from suite.record.forecast import Bound

# What a chip multiplies when it is given a dtype, the first that the vendor states a peak for. A
# bound may be too low and never too high, so strict float32 on a TPU counts as one bfloat16 pass of several.
_ARITHMETIC: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "cuda": {
        "f32": ("tf32", "fp32"),
        "f32:highest": ("fp32",),
        "bf16": ("bf16", "fp32"),
        "f16": ("fp16", "fp32"),
        "s8": ("int8",),
        "f64": ("fp64",),
    },
    "tpu": {
        "f32": ("bf16",),
        "f32:highest": ("bf16",),
        "bf16": ("bf16",),
        "f16": ("bf16",),
        "s8": ("int8", "bf16"),
    },
}


def peak_flops(target: Target, dtype: str) -> float | None:
    """Dense peak of one device for products of a dtype, per second; None if no vendor states it."""
    kind = "f8" if dtype.startswith("f8") else dtype
    names = _ARITHMETIC[target.platform].get(kind, ("fp8",) if kind == "f8" else ())
    peaks = (target.facts.peak_flops(name) for name in names)
    return next((peak for peak in peaks if peak is not None), None)


def step_bound(target: Target, found: Schedule, flops: int | None, bytes_min: int | None) -> Bound | None:
    """Of the whole step; None where neither its products nor its bytes are known.

    Args:
        target: the chip.
        found: what the compiled program runs; it says in which arithmetic.
        flops: of the formula; the program may skip padding and zeros, and the fewer of both count.
        bytes_min: fewest bytes that the step must move.
    """
    compute = _products_s(target, found)
    total = sum(count * each.runs for each in found.operations for count in each.flops.values())
    if compute is not None and flops is not None and total:
        compute *= min(1.0, flops / total)
    memory = None if bytes_min is None else max(bytes_min - target.cache_bytes, 0) / target.facts.bandwidth
    return _bound(compute, memory)


def program_bound(target: Target, found: Schedule) -> Bound | None:
    """Of the compiled program, operation by operation; None where one has no peak to be held to."""
    compute, memory, traffic = 0.0, 0.0, 0.0
    for each in found.operations:
        products = _operation_s(target, each)
        if products is None:
            return None
        moved = max(each.bytes - target.cache_bytes, 0) / target.facts.bandwidth
        traffic += moved * each.runs
        if each.overlaps:
            continue
        if products >= moved:
            compute += products * each.runs
        else:
            memory += moved * each.runs
    # What runs beside other operations takes no time of its own, but all bytes pass one memory.
    seconds = max(compute + memory, traffic)
    return Bound(seconds=seconds, compute_s=compute, memory_s=max(memory, seconds - compute))


def compiler_estimate(target: Target, found: Schedule) -> float | None:
    """The compiler's own estimate in seconds; None where it gives none, or the clock is unknown."""
    clock, cycles = target.facts.clock_hz, found.cycles()
    return None if clock is None or not cycles else cycles / clock


def _products_s(target: Target, found: Schedule) -> float | None:
    total = 0.0
    for each in found.operations:
        seconds = _operation_s(target, each)
        if seconds is None:
            return None
        total += seconds * each.runs
    return total


def _operation_s(target: Target, each: Scheduled) -> float | None:
    """Least time of one operation's products; None where the chip states no peak for one of them."""
    seconds = 0.0
    for dtype, count in each.flops.items():
        peak = peak_flops(target, dtype)
        if peak is None:
            return None
        seconds += count / peak
    return seconds


def _bound(compute: float | None, memory: float | None) -> Bound | None:
    known = [value for value in (compute, memory) if value is not None]
    if not known:
        return None
    return Bound(seconds=max(known), compute_s=compute, memory_s=memory)
