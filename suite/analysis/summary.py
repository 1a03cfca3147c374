"""From what the workers sent back to a result file: status, reason, warnings, summary."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from suite.analysis.per_process import (
    LEAST_SAMPLES_P95,
    all_single_steps_ns,
    cold_compile_ns,
    peak_method,
    step_time_ns,
)
from suite.analysis.stats import median, median_interval, percentile
from suite.analysis.warnings import warnings_for
from suite.record.schema import (
    Failure,
    JournalHeader,
    Outcome,
    Process,
    Result,
    ResultFile,
    State,
    Status,
    Summary,
    Work,
)
from suite.spec.case import Case


def fold(
    header: JournalHeader, outcomes: Sequence[Outcome], state: State, finished_at: str | None
) -> ResultFile:
    """Builds the result file of a run. The order of the outcomes makes no difference.

    Args:
        header: what the run is, and its cases.
        outcomes: what has come back so far; none is dropped.
        state: of the run.
        finished_at: ISO 8601 time; None while it runs.

    Returns:
        One result for each case of the header, in its order, measured or not.

    Raises:
        ValueError: an outcome belongs to no case of the header.
    """
    by_key: dict[str, list[Outcome]] = {case.key: [] for case in header.cases}
    for outcome in outcomes:
        if outcome.key not in by_key:
            raise ValueError(f"outcome of {outcome.key!r}, which is not a case of run {header.run.id}")
        by_key[outcome.key].append(outcome)
    run = msgspec.structs.replace(header.run, state=state, finished_at=finished_at)
    whole = msgspec.structs.replace(header, run=run)
    return ResultFile(
        schema_version=header.schema_version,
        run=run,
        environment=header.environment,
        results=[_result(whole, case, by_key[case.key]) for case in header.cases],
    )


def summarise(processes: Sequence[Process], work: Work | None) -> Summary:
    """Derives a case's figures from its processes, each of which counts once.

    step_time    median over processes of (median block / K); its interval is `median_interval`
    latency      median over processes of the median single step (the blocks, where K is 1)
    latency p95  median over processes of the 95th percentile; null if one has under 20 samples
    peak         largest over the processes, by the method that most of them used
    compile      median of trace + lower + compile over the processes that compiled cold
    """
    times = [step_time_ns(process) for process in processes]
    step = median(times) if times else None
    interval = median_interval(times)
    singles = all_single_steps_ns(processes)
    latency = median([median(single) for single in singles]) if singles else None
    enough = bool(singles) and all(len(single) >= LEAST_SAMPLES_P95 for single in singles)
    p95 = median([percentile(single, 95) for single in singles]) if enough else None
    method = peak_method(processes)
    peaks = [p.memory.peak_bytes for p in processes if p.memory.method == method and p.memory.peak_bytes]
    compiles = [total for process in processes if (total := cold_compile_ns(process)) is not None]
    return Summary(
        processes=len(processes),
        step_time_ms=_ms(step),
        step_time_ms_low=_ms(interval.low) if interval else None,
        step_time_ms_high=_ms(interval.high) if interval else None,
        interval_level=interval.level if interval else None,
        latency_ms=_ms(latency),
        latency_ms_p95=_ms(p95),
        items_per_second=work.items / step * 1e9 if step and work and work.items else None,
        tflops_per_second=work.flops / step / 1e3 if step and work and work.flops else None,
        peak_bytes=max(peaks, default=None),
        peak_method=method,
        compile_ms=_ms(median(compiles)) if compiles else None,
    )


def _ms(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def _result(header: JournalHeader, case: Case, outcomes: list[Outcome]) -> Result:
    ordered = sorted(outcomes, key=lambda outcome: (outcome.index, _started_at(outcome)))
    processes = [outcome.process for outcome in ordered if outcome.process is not None]
    failures = [outcome.failure for outcome in ordered if outcome.failure is not None]
    work = next((outcome.work for outcome in ordered if outcome.work is not None), None)
    status, reason = _status(header, processes, failures)
    return Result(
        case=case,
        key=case.key,
        status=status,
        reason=reason,
        warnings=warnings_for(header, ordered),
        work=work,
        processes=processes,
        failures=failures,
        summary=summarise(processes, work),
        source=header.sources.get(case.key),
        source_sha256=next((o.source_sha256 for o in ordered if o.source_sha256 is not None), None),
    )


def _started_at(outcome: Outcome) -> str:
    part = outcome.process or outcome.failure
    return part.started_at if part is not None else ""


def _status(
    header: JournalHeader, processes: list[Process], failures: list[Failure]
) -> tuple[Status, str | None]:
    if failures:
        first = failures[0]
        others = [f"{len(failures) - 1} more failed"] if len(failures) > 1 else []
        plural = "es" if len(processes) > 1 else ""
        others += [f"figures of {len(processes)} other process{plural} are kept"] if processes else []
        where = f"round {first.index + 1}, {first.stage.replace('_', ' ')}"
        summary = first.reason.strip().partition("\n")[0].rstrip(".")
        return first.status, f"{summary} ({'; '.join([where, *others])})"
    if processes:
        return "ok", None
    if header.run.state == "running":
        return "skipped", "not measured yet"
    return "skipped", "never started: the run ended before its turn"
