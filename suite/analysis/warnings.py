"""What a reader should know before trusting a case's figures, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suite.analysis.per_process import step_time_ns
from suite.analysis.stats import drift, median
from suite.record.schema import JournalHeader, Note, Outcome, Process

LEAST_PROCESSES = 6  # fewer give no 95% interval for a median; see stats.median_interval

# On a quiet machine fresh processes of one program differ by 1 to 3% (standard deviation), and so
# span up to a tenth; a wider span means that something else took part.
_WIDE_SPREAD = 0.10
_WIDE_DRIFT = 0.05
# The case measured just before lifts the load average to the number of cores by itself.
_HIGH_LOAD_PER_CORE = 1.25
_SMALL_RSS_BYTES = 200_000_000


def warnings_for(header: JournalHeader, outcomes: Sequence[Outcome]) -> list[Note]:
    """Gathers the warnings of one case.

    Args:
        header: of the run.
        outcomes: of the case, in order of their rounds.

    Returns:
        One note for each code: first what the workers said, then what only all of them show. A
        message is 'what was seen; what it means', or the first half alone.
    """
    processes = [outcome.process for outcome in outcomes if outcome.process is not None]
    if not processes:
        return []
    notes = {note.code: note for note in _said_by_workers(processes)}
    derived = (
        *_few_processes(header, processes, len(outcomes)),
        *_unsteady(processes),
        *_spread(processes),
        *_load(header, processes),
        *_throttled(processes),
        *_shared_device(processes),
        *_small_rss(processes),
        *_mixed_methods(processes),
        *_unchecked(processes),
        *_changed_source(outcomes),
    )
    notes |= {note.code: note for note in derived}  # these have counted over all processes
    return list(notes.values())


def spread(processes: Sequence[Process]) -> float:
    """How much slower the slowest process is than the fastest, as a fraction."""
    times = [step_time_ns(process) for process in processes]
    return max(times) / min(times) - 1


def _said_by_workers(processes: Sequence[Process]) -> Iterator[Note]:
    said: dict[str, list[Note]] = {}
    for process in processes:
        for note in {note.code: note for note in process.warnings}.values():
            said.setdefault(note.code, []).append(note)
    for code, notes in said.items():
        yield Note(code=code, message=notes[0].message + _share(len(notes), len(processes)))


def _share(count: int, total: int) -> str:
    return f" (in {count} of {total} processes)" if total > 1 else ""


def _few_processes(header: JournalHeader, processes: Sequence[Process], tried: int) -> Iterator[Note]:
    measured, planned = len(processes), header.run.processes_planned
    count = "1 process was" if measured == 1 else f"{measured} processes were"
    # A case of `ab` may have had its verdict before others had theirs.
    short = header.run.state != "running" and tried < planned and header.run.paired is None
    verb = "was" if measured == 1 else "were"
    wanted = (
        f"{measured} of {planned} planned processes {verb} measured" if short else f"only {count} measured"
    )
    if measured < LEAST_PROCESSES:
        yield Note(
            code="few_processes",
            message=f"{wanted}; an interval for the step time needs {LEAST_PROCESSES} or more",
        )
    elif short:
        yield Note(code="few_processes", message=f"{wanted}; the run ended before the others")


def _unsteady(processes: Sequence[Process]) -> Iterator[Note]:
    unsteady = sum(process.conditions.steady is False for process in processes)
    if unsteady:
        yield Note(
            code="not_steady",
            message="step times had not settled when the warm-up ended" + _share(unsteady, len(processes)),
        )
    compiled = [process.conditions.compiled_during_measurement or 0 for process in processes]
    if any(compiled):
        yield Note(
            code="compiled_while_measuring",
            message=f"{sum(compiled)} programs were compiled while steps were being timed, which slows them"
            + _share(sum(count > 0 for count in compiled), len(processes)),
        )
    drifts = [change for process in processes if (change := drift(process.block_ns)) is not None]
    if drifts and abs(typical := median(drifts)) > _WIDE_DRIFT:
        way = "slower" if typical > 0 else "faster"
        yield Note(
            code="drift",
            message=f"steps became {abs(typical):.0%} {way} from the first half of a process to the second; "
            "heat, a changing clock or other programs can do that",
        )


def _spread(processes: Sequence[Process]) -> Iterator[Note]:
    if len(processes) > 1 and (wide := spread(processes)) > _WIDE_SPREAD:
        yield Note(
            code="spread",
            message=f"the slowest process took {wide:.0%} longer than the fastest; other programs on this "
            "machine can do that",
        )


def _load(header: JournalHeader, processes: Sequence[Process]) -> Iterator[Note]:
    cores = header.environment.machine.cpu_cores_available
    loads = [load for p in processes if (load := p.conditions.load_average_before) is not None]
    if loads and cores is not None and max(loads) > _HIGH_LOAD_PER_CORE * cores:
        yield Note(
            code="high_load",
            message=f"the load average reached {max(loads):.1f} on {cores} cores before a process began; "
            "other programs were running",
        )


def _throttled(processes: Sequence[Process]) -> Iterator[Note]:
    events = [p.conditions.throttle_events or 0 for p in processes]
    if any(events):
        yield Note(
            code="throttled",
            message="the processor slowed itself down for heat while it was measured"
            + _share(sum(count > 0 for count in events), len(processes)),
        )
    slowed = [p.conditions.device_throttled_ms or 0 for p in processes]
    if any(slowed):
        yield Note(
            code="device_throttled",
            message=f"the device slowed itself down for heat or its power supply, for up to {max(slowed)} ms "
            "of a process" + _share(sum(ms > 0 for ms in slowed), len(processes)),
        )


def _shared_device(processes: Sequence[Process]) -> Iterator[Note]:
    others = [p.conditions.device_other_processes or 0 for p in processes]
    if most := max(others):
        count = "another program was" if most == 1 else f"{most} other programs were"
        yield Note(
            code="device_shared",
            message=f"{count} on the device as a process began"
            + _share(sum(found > 0 for found in others), len(processes)),
        )


def _small_rss(processes: Sequence[Process]) -> Iterator[Note]:
    memories = [process.memory for process in processes]
    peaks = [m.peak_bytes for m in memories if m.method == "host_rss" and m.peak_bytes is not None]
    if peaks and max(peaks) < _SMALL_RSS_BYTES:
        yield Note(
            code="small_rss",
            message="a peak under 200 MB read from resident memory is rough: the allocator's own "
            "bookkeeping is a good part of it",
        )


def _mixed_methods(processes: Sequence[Process]) -> Iterator[Note]:
    methods = sorted({p.memory.method for p in processes if p.memory.method is not None})
    if len(methods) > 1:
        yield Note(
            code="mixed_memory_methods",
            message=f"processes read peak memory in different ways ({', '.join(methods)}); only the "
            "commonest counts",
        )


def _unchecked(processes: Sequence[Process]) -> Iterator[Note]:
    if any(process.checks.reference is not None for process in processes):
        return
    reasons = (process.checks.reference_reason for process in processes)
    reason = next((reason for reason in reasons if reason), "no reference")
    yield Note(
        code="unchecked", message=f"the numbers it computed were not compared with a reference: {reason}"
    )


def _changed_source(outcomes: Sequence[Outcome]) -> Iterator[Note]:
    sources = {outcome.source_sha256 for outcome in outcomes if outcome.source_sha256 is not None}
    if len(sources) > 1:
        yield Note(
            code="source_changed",
            message="the workload's file was edited during the run: its processes measured different code",
        )
