"""`jaxmark show --case`: everything that a run knows of one case."""

from __future__ import annotations

from suite.analysis.stats import autocorrelation, drift, median
from suite.analysis.summary import step_time_ns
from suite.record.schema import Failure, Memory, Process, Result, Work
from suite.report import units
from suite.report.text import Page

_NA = "n/a"


def show_case(page: Page, result: Result) -> None:
    """Prints identity, figures, and each process: samples, compiling, memory, checks, failures."""
    page.heading(result.key)
    _identity(page, result)
    if result.work is not None:
        page.heading("Work of one step")
        _pairs(page, _work(result.work))
    if result.processes:
        page.heading("Figures")
        _pairs(page, _figures(result))
        _processes(page, result.processes)
    for note in result.warnings:
        page.line(f"warning ({note.code}): {note.message}", style="yellow")
    for failure in result.failures:
        _failure(page, failure)


def _pairs(page: Page, pairs: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in pairs) + 2
    for name, value in pairs:
        page.line(f"{name:<{width}}{value}", indent=2)


def _identity(page: Page, result: Result) -> None:
    case = result.case
    pairs = [("status", result.status if result.reason is None else f"{result.status}: {result.reason}")]
    pairs += [(name, str(getattr(case, name))) for name in case.__struct_fields__ if name != "params"]
    pairs += [(f"params.{name}", str(value)) for name, value in sorted(case.params.items())]
    if result.source is not None:
        pairs.append(("source", f"{result.source} (sha256 {result.source_sha256 or _NA})"))
    _pairs(page, pairs)


def _work(work: Work) -> list[tuple[str, str]]:
    terms = " + ".join(f"{name} {flops:,}" for name, flops in work.flops_terms.items())
    flops = f"{work.flops:,} ({work.flops_source})" if work.flops is not None else _na(work.flops_reason)
    fewest = units.size(work.bytes_min) if work.bytes_min is not None else _na(work.bytes_min_reason)
    return [
        ("FLOPs", flops + (f": {terms}" if terms else "")),
        ("XLA's count", _NA if work.xla_flops is None else f"{work.xla_flops:,.0f} (for comparison only)"),
        ("fewest bytes", fewest),
        ("items", _NA if work.items is None else f"{work.items:,} {work.item or ''}".rstrip()),
        ("parameters", _NA if work.parameters is None else f"{work.parameters:,}"),
    ]


def _na(reason: str | None) -> str:
    return f"{_NA}: {reason}" if reason else _NA


def _figures(result: Result) -> list[tuple[str, str]]:
    summary = result.summary
    interval = "no interval"
    low, high, level = summary.step_time_ms_low, summary.step_time_ms_high, summary.interval_level
    if low is not None and high is not None and level is not None:
        interval = f"{level:.2%} interval {units.time_ms(low)} to {units.time_ms(high)}"
    p95 = _NA if summary.latency_ms_p95 is None else units.time_ms(summary.latency_ms_p95)
    rate, flops, peak = summary.items_per_second, summary.tflops_per_second, summary.peak_bytes
    return [
        ("step time", f"{_ms(summary.step_time_ms)}, {interval}, {summary.processes} processes"),
        ("latency", f"{_ms(summary.latency_ms)} for a step that is waited for; 95th percentile {p95}"),
        ("items/s", _NA if rate is None else units.count(rate)),
        ("TFLOP/s", _NA if flops is None else units.significant(flops)),
        ("peak memory", _NA if peak is None else f"{units.size(peak)} ({summary.peak_method})"),
        ("compile", f"{_ms(summary.compile_ms)} for trace, lower and compile, cold"),
    ]


def _ms(milliseconds: float | None) -> str:
    return _NA if milliseconds is None else units.time_ms(milliseconds)


def _ns(nanoseconds: float | None) -> str:
    return _NA if nanoseconds is None else units.time_ns(nanoseconds)


def _bytes(count: int | None) -> str:
    return _NA if count is None else units.size(count)


def _number(value: float | None, form: str) -> str:
    return _NA if value is None else format(value, form)


def _processes(page: Page, processes: list[Process]) -> None:
    page.heading("Processes: steps")
    page.table(
        ("round", "step time", "blocks", "drift", "lag-1", "singles", "median", "warm-up", "load", "steady"),
        [_timing(process) for process in processes],
        indent=2,
    )
    page.heading("Processes: compiling")
    page.table(
        ("round", "init", "trace", "lower", "compile", "first call", "cache"),
        [_compiling(process) for process in processes],
        indent=2,
    )
    page.heading("Processes: memory")
    page.table(
        (
            "round",
            "peak",
            "method",
            "static total",
            "arguments",
            "temporaries",
            "rss peak",
            "rss base",
            "compiling",
        ),
        [_memory(process) for process in processes],
        indent=2,
    )
    for process in processes:
        for stage, figures in (process.memory.allocator or {}).items():
            said = ", ".join(f"{name} {value:,}" for name, value in figures.items())
            page.line(f"round {process.index + 1}, allocator, {stage}: {said}", indent=2)
        if process.memory.reason is not None:
            page.line(f"round {process.index + 1}: {process.memory.reason}", indent=2)
    page.heading("Processes: checks")
    for process in processes:
        page.line(f"round {process.index + 1}: {_checks(process)}", indent=2)


def _timing(process: Process) -> list[str]:
    conditions, singles = process.conditions, process.latency_ns
    load = f"{_number(conditions.load_average_before, '.1f')}-{_number(conditions.load_average_after, '.1f')}"
    changed = f" (+{len(process.other_shapes_ns)} of other shapes)" if process.other_shapes_ns else ""
    return [
        str(process.index + 1),
        _ns(step_time_ns(process)),
        f"{len(process.block_ns)} x {process.block_steps}{changed}",
        _number(drift(process.block_ns), "+.1%"),
        _number(autocorrelation(process.block_ns), ".2f"),
        "blocks" if singles is None else str(len(singles)),
        _NA if singles is None else _ns(median(singles)),
        str(len(process.warmup_ns)),
        load,
        "yes" if conditions.steady else "no",
    ]


def _compiling(process: Process) -> list[str]:
    parts = process.compile
    times = (process.init_ns, parts.trace_ns, parts.lower_ns, parts.compile_ns, parts.first_call_ns)
    return [str(process.index + 1), *map(_ns, times), parts.cache]


def _memory(process: Process) -> list[str]:
    memory: Memory = process.memory
    static, rss = memory.static, memory.host_rss
    return [
        str(process.index + 1),
        _bytes(memory.peak_bytes),
        memory.method or _NA,
        *map(
            _bytes,
            (static.total_bytes, static.argument_bytes, static.temp_bytes) if static else (None, None, None),
        ),
        *map(
            _bytes,
            (rss.high_water_bytes, rss.baseline_bytes, rss.compile_high_water_bytes)
            if rss
            else (None, None, None),
        ),
    ]


def _checks(process: Process) -> str:
    checks = process.checks
    losses = ", ".join(_number(loss, ".6g") for loss in checks.losses or [])
    parts = [
        f"finite {_yes(checks.finite)}",
        f"losses {losses}" if losses else "no losses",
        f"loss falls {_yes(checks.loss_falls)}",
    ]
    if (reference := checks.reference) is not None:
        errors = (
            f"loss {_number(reference.loss_error, '.2g')}, outputs {_number(reference.output_error, '.2g')}"
        )
        verdict = "passed" if reference.passed else "FAILED"
        parts.append(
            f"reference ({reference.preset}) {verdict}: relative error of {errors}; "
            f"tolerance {reference.tolerance:.2g}"
        )
    else:
        parts.append(f"reference unchecked: {checks.reference_reason or 'no reason was recorded'}")
    return "; ".join(parts)


def _yes(value: bool | None) -> str:
    return {None: _NA, True: "yes", False: "NO"}[value]


def _failure(page: Page, failure: Failure) -> None:
    page.heading(f"Failure in round {failure.index + 1}: {failure.status}, at stage {failure.stage}")
    page.line(f"after {failure.duration_s:.1f} s: {failure.reason}", indent=2)
    if failure.traceback:
        page.block(failure.traceback, indent=4)
    if failure.log_tail:
        page.line("last lines of the worker's log:", indent=2)
        page.block(failure.log_tail, indent=4)
