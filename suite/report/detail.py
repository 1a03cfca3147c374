"""`jaxmark show --case`: everything that a run knows of one case."""

from __future__ import annotations

from datetime import datetime

from suite.analysis.per_process import step_time_ns
from suite.analysis.stats import autocorrelation, drift, median
from suite.record.schema import Failure, Process, Result, Work
from suite.report import units
from suite.report.text import Page

_NA = "n/a"


def show_case(page: Page, result: Result) -> None:
    """Prints identity, figures, and each process: samples, compiling, memory, checks, failures."""
    page.heading(result.key)
    page.pairs(_identity(result))
    if result.work is not None:
        page.heading("Work of one step")
        page.pairs(_work(result.work))
    if result.processes:
        page.heading("Figures")
        page.pairs(_figures(result))
        _processes(page, result.processes)
    if result.warnings:
        page.heading("Warnings")
        page.pairs([(note.code, note.message) for note in result.warnings])
    for failure in result.failures:
        _failure(page, failure)


def _identity(result: Result) -> list[tuple[str, str]]:
    case = result.case
    pairs = [("status", result.status if result.reason is None else f"{result.status}: {result.reason}")]
    fields = {name: getattr(case, name) for name in case.__struct_fields__ if name != "params"}
    pairs += [(name, "none" if value is None else str(value)) for name, value in fields.items()]
    pairs += [(f"params.{name}", str(value)) for name, value in sorted(case.params.items())]
    if result.source is not None:
        pairs.append(("source", f"{result.source} (sha256 {result.source_sha256 or _NA})"))
    return pairs


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
    count = units.counted(summary.processes, "process", "processes")
    return [
        ("step time", f"{_ms(summary.step_time_ms)}, {interval}, {count}"),
        ("latency", f"{_ms(summary.latency_ms)} for a step that is waited for; 95th percentile {p95}"),
        ("items/s", _NA if rate is None else units.count(rate)),
        ("TFLOP/s", _NA if flops is None else units.significant(flops)),
        ("peak memory", _NA if peak is None else f"{units.size(peak)} ({summary.peak_method})"),
        ("compile", f"{_ms(summary.compile_ms)} (trace, lower and compile, cold)"),
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
    for title, row in (("steps", _timing), ("compiling", _compiling), ("memory", _memory)):
        rows = [row(process) for process in processes]
        # A column without a single figure says nothing.
        names = [name for name in rows[0] if any(cells[name] != _NA for cells in rows)]
        page.heading(f"Processes: {title}")
        page.table(names, [[cells[name] for name in names] for cells in rows], indent=2)
    for process in processes:
        for stage, figures in (process.memory.allocator or {}).items():
            said = ", ".join(f"{name} {value:,}" for name, value in figures.items())
            page.line(f"round {process.index + 1}, allocator, {stage}: {said}", indent=2)
    _by_rounds(page, [(p.index, p.memory.reason) for p in processes if p.memory.reason is not None])
    page.heading("Processes: checks")
    _by_rounds(page, [(process.index, _checks(process)) for process in processes])


def _by_rounds(page: Page, texts: list[tuple[int, str]]) -> None:
    """Prints each text once, after the rounds that it belongs to."""
    rounds: dict[str, list[str]] = {}
    for index, text in texts:
        rounds.setdefault(text, []).append(str(index + 1))
    for text, numbers in rounds.items():
        page.line(f"round {', '.join(numbers)}: {text}", indent=2)


def _timing(process: Process) -> dict[str, str]:
    conditions, singles = process.conditions, process.latency_ns
    load = (conditions.load_average_before, conditions.load_average_after)
    clock = (conditions.cpu_mhz_before, conditions.cpu_mhz_after)
    return {
        "round": str(process.index + 1),
        "step time": _ns(step_time_ns(process)),
        "blocks": f"{len(process.block_ns)} x {process.block_steps}",
        "other shapes": str(len(process.other_shapes_ns)) if process.other_shapes_ns else _NA,
        "drift": _number(drift(process.block_ns), "+.1%"),
        "lag-1": _number(autocorrelation(process.block_ns), ".2f"),
        "singles": "blocks" if singles is None else str(len(singles)),
        "median": _NA if singles is None else _ns(median(singles)),
        "warm-up": str(len(process.warmup_ns)),
        "load": "-".join(_number(value, ".1f") for value in load) if any(load) else _NA,
        "MHz": "-".join(_number(value, ".0f") for value in clock) if any(clock) else _NA,
        "steady": {True: "yes", False: "no", None: _NA}[conditions.steady],
    }


def _compiling(process: Process) -> dict[str, str]:
    parts = process.compile
    return {
        "round": str(process.index + 1),
        "started": datetime.fromisoformat(process.started_at).strftime("%H:%M:%S"),
        "took": units.time_ms(process.duration_s * 1e3),
        "init": _ns(process.init_ns),
        "trace": _ns(parts.trace_ns),
        "lower": _ns(parts.lower_ns),
        "compile": _ns(parts.compile_ns),
        "first call": _ns(parts.first_call_ns),
        "cache": parts.cache,
    }


def _memory(process: Process) -> dict[str, str]:
    memory, static, rss = process.memory, process.memory.static, process.memory.host_rss
    return {
        "round": str(process.index + 1),
        "peak": _bytes(memory.peak_bytes),
        "method": memory.method or _NA,
        "static total": _bytes(static.total_bytes if static else None),
        "arguments": _bytes(static.argument_bytes if static else None),
        "temporaries": _bytes(static.temp_bytes if static else None),
        "rss peak": _bytes(rss.high_water_bytes if rss else None),
        "rss base": _bytes(rss.baseline_bytes if rss else None),
        "compiling": _bytes(rss.compile_high_water_bytes if rss else None),
    }


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
