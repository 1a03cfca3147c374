"""What weakens a comparison of one case, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from suite.analysis.metrics import Metric
from suite.analysis.per_process import LEAST_SAMPLES_P95, all_single_steps_ns
from suite.analysis.stats import autocorrelation, median, percentile
from suite.record.schema import Note, Process, Result

# What a run said of a case and bears on every time in it.
_BUSY = {"high_load", "throttled", "device_throttled", "device_shared"}
_TIMES = _BUSY | {"spread", "not_steady", "drift", "compiled_while_measuring", "shapes_change"}
_ALWAYS = {"source_changed"}
_MEMORY = {"small_rss", "mixed_memory_methods"}

_CLOCK = 0.05
_LOAD_PER_CORE = 0.5
_AUTOCORRELATED = 0.7
_TAIL = 1.2


def weakens(base: Result, new: Result, metric: Metric, cores: int | None) -> list[Note]:
    """Everything that a reader of this case's verdict should know.

    Args:
        base: one side.
        new: the other.
        metric: that is compared.
        cores: that the processes could use; None where that is not known.

    Returns:
        First what each run said of itself, then what only the two together show.
    """
    codes = _ALWAYS | (_MEMORY if metric == "memory" else _TIMES if metric != "compile" else _BUSY)
    notes = [
        Note(code=note.code, message=f"{side}: {note.message}")
        for side, result in (("base", base), ("new", new))
        for note in result.warnings
        if note.code in codes
    ]
    if base.processes and new.processes:
        notes += _work(base, new)
        if metric != "memory":
            notes += [*_clock(base, new), *_load(base, new, cores)]
        if metric in ("step_time", "latency", "tail"):
            notes += [*_autocorrelation(base, new), *_heavier_tail(base, new), *_block_steps(base, new)]
    return notes


def _work(base: Result, new: Result) -> Iterator[Note]:
    before, after = (result.work.flops if result.work else None for result in (base, new))
    if before is not None and after is not None and before != after:
        yield Note(
            code="work_differs",
            message=f"a step had {before:,} FLOPs in base and {after:,} in new: the same name stands for "
            "different work",
        )


def _clock(base: Result, new: Result) -> Iterator[Note]:
    before, after = (_typical(result, lambda p: p.conditions.cpu_mhz_before) for result in (base, new))
    if before and after and abs(after / before - 1) > _CLOCK:
        yield Note(
            code="clock",
            message=f"the processor ran at {before:,.0f} MHz in base and at {after:,.0f} MHz in new",
        )


def _load(base: Result, new: Result, cores: int | None) -> Iterator[Note]:
    before, after = (_typical(result, lambda p: p.conditions.load_average_before) for result in (base, new))
    if before is None or after is None or cores is None:
        return
    if abs(after - before) > _LOAD_PER_CORE * cores:
        yield Note(
            code="load_differs",
            message=f"the load average was {before:.1f} in base and {after:.1f} in new, on {cores} cores: "
            "one run shared the machine more than the other",
        )


def _typical(result: Result, figure: Callable[[Process], float | None]) -> float | None:
    values = [value for process in result.processes if (value := figure(process)) is not None]
    return median(values) if values else None


def _autocorrelation(base: Result, new: Result) -> Iterator[Note]:
    for side, result in (("base", base), ("new", new)):
        lag = _typical(result, lambda p: autocorrelation(p.block_ns) if len(p.block_ns) > 4 else None)
        if lag is not None and lag > _AUTOCORRELATED:
            yield Note(
                code="autocorrelation",
                message=f"{side}: each block resembles the one before (lag-1 correlation {lag:.2f}): "
                "something slow was going on, such as heating or another program",
            )


def _heavier_tail(base: Result, new: Result) -> Iterator[Note]:
    before, after = _tail(base.processes), _tail(new.processes)
    if before is not None and after is not None and after > _TAIL * before:
        yield Note(
            code="heavier_tail",
            message=f"the slowest twentieth of single steps took {after:.2f} times the median in new, "
            f"{before:.2f} times in base: `--metric tail` compares them",
        )


def _tail(processes: Sequence[Process]) -> float | None:
    """95th percentile over median of the single steps; the median over processes."""
    singles = all_single_steps_ns(processes)
    ratios = [percentile(s, 95) / median(s) for s in singles if len(s) >= LEAST_SAMPLES_P95]
    return median(ratios) if ratios else None


def _block_steps(base: Result, new: Result) -> Iterator[Note]:
    before, after = base.processes[0].block_steps, new.processes[0].block_steps
    if before != after and (min(before, after) == 1 or max(before, after) > 2 * min(before, after)):
        yield Note(
            code="block_steps",
            message=f"blocks had {before} steps in base and {after} in new: with fewer steps, more of the "
            "wait at the end of a block is in each",
        )
