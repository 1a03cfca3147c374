"""`jaxmark show`: a run as one table, with everything that limits its figures in plain words."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console

from suite.analysis.warnings import LEAST_PROCESSES
from suite.record.machine import UNSAVED_PREFIX
from suite.record.schema import Environment, Machine, Result, ResultFile, Run
from suite.report import units
from suite.report.detail import show_case
from suite.report.rows import labels, select
from suite.report.text import PIPE_WIDTH, Cell, Page

STATUS_STYLES = {"ok": "green", "skipped": "yellow"}
METHODS = {
    "allocator": ("alloc", "peak of the device's allocator"),
    "allocator+reserved": (
        "alloc+",
        "peak of the device's allocator and what it holds in reserve: an upper bound",
    ),
    "static": ("static", "the compiler's own total"),
    "host_rss": ("rss", "growth of the worker's resident memory over three steps"),
    "host_rss_lifetime": ("rss-max", "largest resident memory of the worker, compiling included"),
}
_NOT_MEASURED = ["-"] * 5
_HANG = len("software  ")


def show(result: ResultFile, console: Console, case: str | None = None) -> None:
    """Prints a run: a row for each case; or everything about the cases that `case` names.

    Args:
        result: the run.
        console: where to; see `suite.report.text.make_console`.
        case: a key, or a glob over keys.

    Raises:
        ConfigError: no case matches.
    """
    page = Page(console)
    chosen = select(result, case)
    _heading(page, result)
    if case is not None:
        for one in chosen:
            show_case(page, one)
        return
    names = labels(chosen)
    console.print()
    _table(page, chosen, names)
    _failures(page, chosen, names)
    _warnings(page, chosen, names)
    _missing(page, chosen, names)
    if any(result.processes for result in chosen):
        _legend(page, chosen, names)


def show_text(result: ResultFile, case: str | None = None) -> str:
    """What `show` prints, as text of 100 columns without colours."""
    file = io.StringIO()
    show(result, Console(file=file, width=PIPE_WIDTH, color_system=None, force_terminal=False), case)
    return file.getvalue()


def _heading(page: Page, file: ResultFile) -> None:
    machine, software = file.environment.machine, file.environment.software
    page.line(f"{file.run.config} on {device_name(file.environment)}", style="bold")
    origin = f"jaxmark {file.run.suite_version}"
    if file.run.imported_from is not None:
        origin = f"measured by {file.run.imported_from}, imported by {origin}"
    page.line(f"run       {_state(file.run)}, {origin}", hang=_HANG)
    available, total = machine.cpu_cores_available, machine.cpu_cores_total
    cores = f"{_known(total if available is None else available)} cores"
    if available is not None and total not in (None, available):
        cores = f"{available} of {total} cores"
    ram = "RAM n/a" if machine.ram_bytes is None else f"{units.size(machine.ram_bytes)} RAM"
    page.line(
        f"machine   {machine.machine_id}: {machine.cpu_model}, {cores}, {ram}, {machine.os}", hang=_HANG
    )
    driver = f", driver {software.driver}" if software.driver else ""
    page.line(
        f"software  jax {_known(software.jax)}, jaxlib {_known(software.jaxlib)}, "
        f"flax {_known(software.flax)}, "
        f"Python {software.python}{driver}",
        hang=_HANG,
    )
    for text in _notes_on_the_place(file):
        page.line(f"note      {text}", style="yellow", hang=_HANG)


def _known(value: object) -> str:
    return "n/a" if value is None else str(value)


def _notes_on_the_place(file: ResultFile) -> Iterable[str]:
    machine, load = file.environment.machine, file.environment.volatile.load_average
    yield from (note.message for note in file.environment.warnings)
    cores = machine.cpu_cores_available
    if load is not None and cores is not None and load > cores / 2:
        yield (
            f"the load average was {load:.1f} on {cores} cores when the run began: "
            "other programs were running"
        )
    if machine.machine_id.startswith(UNSAVED_PREFIX):
        yield (
            "this machine's id could not be kept, so its next run will count as another machine; "
            "name it with --machine NAME"
        )


def device_name(environment: Environment) -> str:
    """The device that a run used, for a heading: 'NVIDIA L4 (cuda, 2 devices)'."""
    return machine_name(environment.machine)


def machine_name(machine: Machine) -> str:
    """`device_name`, of a machine."""
    kind = machine.cpu_model if machine.platform == "cpu" else machine.device_kind
    count = "" if machine.device_count in (1, None) else f", {machine.device_count} devices"
    return f"{kind} ({machine.platform}{count})"


def _state(run: Run) -> str:
    started = run.started_at.replace("T", " ").replace("Z", " UTC")
    # 'interrupted' in the file is also a run that its budget ended, and which did as it was told.
    words = {"running": "not finished (still going on, or killed)", "interrupted": "ended early"}
    planned = units.counted(run.processes_planned, "process", "processes")
    return f"{started}, {words.get(run.state, run.state)}, {planned} planned for each case"


def _table(page: Page, results: list[Result], names: dict[str, str]) -> None:
    header = ("case", "step time (interval)", "items/s", "TFLOP/s", "peak memory", "compile", "status")
    page.table(header, [[names[result.key], *_cells(result)] for result in results], left=(0, 1, 2, 6))


def _cells(result: Result) -> list[Cell]:
    summary = result.summary
    status = (result.status, STATUS_STYLES.get(result.status, "red"))
    if summary.step_time_ms is None:
        return [*_NOT_MEASURED, status]
    step = units.time_ms(summary.step_time_ms)
    if summary.step_time_ms_low is not None and summary.step_time_ms_high is not None:
        ends = units.range_ms(summary.step_time_ms_low, summary.step_time_ms_high, summary.step_time_ms)
        step += f" ({ends})"
    item = result.work.item if result.work else None
    rate = summary.items_per_second
    return [
        step,
        "n/a" if rate is None else f"{units.count(rate)} {item or ''}".rstrip(),
        "n/a" if summary.tflops_per_second is None else units.significant(summary.tflops_per_second),
        _peak(result),
        "n/a" if summary.compile_ms is None else units.time_ms(summary.compile_ms),
        status,
    ]


def _peak(result: Result) -> str:
    summary = result.summary
    if summary.peak_bytes is None or summary.peak_method is None:
        return "n/a"
    return f"{units.size(summary.peak_bytes)} {METHODS[summary.peak_method][0]}"


def _failures(page: Page, results: list[Result], names: dict[str, str]) -> None:
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.status != "ok":
            reason = f"{result.status}: {result.reason or 'no reason given'}"
            reasons.setdefault(reason, []).append(names[result.key])
    if reasons:
        page.heading("Not ok")
    for reason, cases in reasons.items():
        page.line(f"{_list(cases, len(results))}: {reason}", indent=2)


def _warnings(page: Page, results: list[Result], names: dict[str, str]) -> None:
    """Prints each warning once, with the cases that it concerns.

    A message is 'what was seen; what it means'. Where cases differ in the first half alone, as in
    a percentage, the second is said once, before them.
    """
    by_code: dict[str, dict[str, list[str]]] = {}
    for result in results:
        for note in result.warnings:
            by_code.setdefault(note.code, {}).setdefault(note.message, []).append(names[result.key])
    if by_code:
        page.heading("Warnings")
    by_cases: dict[str, list[str]] = {}
    shared: dict[str, dict[str, list[str]]] = {}
    for code, messages in by_code.items():
        meanings = {message.partition("; ")[2] for message in messages}
        if len(messages) > 1 and len(meanings) == 1:
            shared[f"{code}: {meanings.pop()}".removesuffix(": ")] = messages
            continue
        for message, cases in messages.items():
            by_cases.setdefault(_list(cases, len(results)), []).append(message)
    for cases_said, said in by_cases.items():
        page.line(f"{cases_said}: {said[0]}" if len(said) == 1 else f"{cases_said}:", indent=2)
        for message in said if len(said) > 1 else ():
            page.line(f"- {message}", indent=4)
    for meaning, messages in shared.items():
        page.line(meaning, indent=2)
        for message, cases in messages.items():
            page.line(f"{_list(cases, len(results))}: {message.partition('; ')[0]}", indent=4)


def _missing(page: Page, results: list[Result], names: dict[str, str]) -> None:
    reasons: dict[str, list[str]] = {}
    for result in results:
        for column, reason in _reasons(result):
            reasons.setdefault(f"{column}: {reason}", []).append(names[result.key])
    if reasons:
        page.heading("Not available (n/a)")
    for reason, cases in reasons.items():
        page.line(f"{reason} ({_list(cases, len(results))})", indent=2)


def _reasons(result: Result) -> Iterable[tuple[str, str]]:
    """Why each figure of a measured case is missing."""
    summary, work = result.summary, result.work
    if summary.step_time_ms is None:
        return
    if summary.items_per_second is None:
        yield "items/s", "the workload does not say how many items a step has"
    if summary.tflops_per_second is None:
        yield "TFLOP/s", (work.flops_reason if work else None) or "the FLOPs of a step are not known"
    if summary.peak_bytes is None:
        said = [process.memory.reason for process in result.processes if process.memory.reason]
        yield "peak memory", said[0] if said else "no reason was recorded"
    if summary.compile_ms is None:
        caches = {process.compile.cache for process in result.processes}
        if caches == {"call"}:
            yield "compile", "the function was run as it is; compiling is inside its first call"
        else:
            yield "compile", "every process read the program from a cache"


def _legend(page: Page, results: list[Result], names: dict[str, str]) -> None:
    page.heading("How to read it")
    levels = [level for result in results if (level := result.summary.interval_level) is not None]
    interval = f"Interval: of that median, at {min(levels):.1%} or more. " if levels else ""
    page.line(
        f"Step time: median over processes. {interval}Each process counts once; {LEAST_PROCESSES} are needed "
        "for an interval.",
        indent=2,
    )
    for method in sorted({m for result in results if (m := result.summary.peak_method) is not None}):
        short, meaning = METHODS[method]
        page.line(f"{short}: {meaning}. Peaks by different methods do not compare.", indent=2)
    if any(name != key for key, name in names.items()):
        page.line("Names leave out layers and version. --case KEY shows everything about a case.", indent=2)


def _list(cases: list[str], total: int) -> str:
    if len(cases) == total and total > 1:
        return "both cases" if total == 2 else f"all {total} cases"
    return ", ".join(cases[:3]) + (f" and {len(cases) - 3} more" if len(cases) > 3 else "")
