"""The result file: one run, its conditions and every raw sample.

Units stand in the names. A figure that could not be had is null, with its reason beside it.
Raw samples and conditions are the truth; `Summary` is derived from them and checked by
`jaxmark validate`. Durations are nanoseconds from a monotonic clock, times ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from suite.record.base import Note, Positive, Record, to_json
from suite.record.environment import Environment, Machine, Software, Volatile
from suite.record.floors import Floor
from suite.record.paired import Paired
from suite.record.process import (
    Checks,
    Compile,
    Conditions,
    Failure,
    HostRss,
    Memory,
    MemoryMethod,
    Process,
    ReferenceCheck,
    Stage,
    StaticMemory,
    Status,
)
from suite.spec.case import Case
from suite.spec.settings import MeasureSettings

__all__ = [
    "SCHEMA_VERSION",
    "Checks",
    "Compile",
    "Conditions",
    "Environment",
    "Failure",
    "Floor",
    "HostRss",
    "JournalHeader",
    "Machine",
    "MeasureSettings",
    "Memory",
    "MemoryMethod",
    "Note",
    "Outcome",
    "Paired",
    "Process",
    "ReferenceCheck",
    "Result",
    "ResultFile",
    "Run",
    "Software",
    "Stage",
    "State",
    "StaticMemory",
    "Status",
    "Summary",
    "Volatile",
    "Work",
    "to_json",
]

SCHEMA_VERSION = 1

State = Literal["running", "complete", "interrupted"]


class Work(Record):
    """What one step does.

    Attributes:
        flops: of products and convolutions, padding included; null when unknown.
        flops_terms: the named parts; they add up to `flops`.
        flops_source: 'analytic' (a formula), 'user', or 'xla' (the compiler's own count).
        flops_reason: why `flops` is null.
        xla_flops: the compiler's count, for comparison only.
        bytes_min: each live-in byte read once, each live-out byte written once.
        bytes_min_reason: why `bytes_min` is null.
        items: per step; `item` says of what.
        item: what an item is: image, token, sample.
        parameters: that are trained.
    """

    flops: int | None
    flops_terms: dict[str, int] = msgspec.field(default_factory=dict)
    flops_source: Literal["analytic", "user", "xla"] | None = None
    flops_reason: str | None = None
    xla_flops: float | None = None
    bytes_min: int | None = None
    bytes_min_reason: str | None = None
    items: int | None = None
    item: str | None = None
    parameters: int | None = None


class Outcome(Record):
    """What came back from one worker: a line of the journal. Either a process or a failure."""

    key: str
    index: int
    process: Process | None = None
    failure: Failure | None = None
    work: Work | None = None
    source_sha256: str | None = None


class Summary(Record):
    """Derived from the processes, each of which counts once.

    Attributes:
        processes: that were measured.
        step_time_ms: median over processes of each one's median block, divided by K.
        step_time_ms_low: lower end of the interval of that median; null under 6 processes.
        step_time_ms_high: upper end.
        interval_level: exact level of the interval, 0.95 or more.
        latency_ms: median over processes of the median step that is waited for.
        latency_ms_p95: median over processes of the 95th percentile of those; null if one has
            fewer than 20.
        items_per_second: items of a step over the step time.
        tflops_per_second: FLOPs of a step over the step time, in 10^12.
        peak_bytes: largest over the processes, by one method.
        peak_method: that method.
        compile_ms: median of trace + lower + compile over the processes that compiled cold.
    """

    processes: int
    step_time_ms: float | None
    step_time_ms_low: float | None
    step_time_ms_high: float | None
    interval_level: float | None
    latency_ms: float | None
    latency_ms_p95: float | None
    items_per_second: float | None
    tflops_per_second: float | None
    peak_bytes: int | None
    peak_method: MemoryMethod | None
    compile_ms: float | None


class Result(Record):
    """One case of the run: everything measured, failures included.

    Attributes:
        key: the case's fields as one string.
        status: that of the first failure; 'ok' without one; 'skipped' without any process.
        reason: why the status is not 'ok'.
        source: 'file.py:name' of a user's workload, as typed, so that a run can be resumed.
        source_sha256: of that file; recorded, but no part of the identity.
    """

    case: Case
    key: str
    status: Status
    reason: str | None
    warnings: list[Note]
    work: Work | None
    processes: list[Process]
    failures: list[Failure]
    summary: Summary
    source: str | None = None
    source_sha256: str | None = None


class Run(Record):
    """The execution itself.

    Attributes:
        id: random.
        config: name of the config.
        config_sha256: of its file; null where the cases came from flags.
        finished_at: null while it runs.
        state: 'running' also after a kill.
        command: as it was started.
        suite_version: of jaxmark.
        git: commit of the folder that the run started in, '-dirty' if tracked files differ from it; null
            outside a repository.
        processes_planned: for each case.
        timeout_s: after which a process is killed; null where nothing kills it.
        seed: of inputs, initial states and the order of later rounds.
        compile_cache: 'cold' compiles in every process, 'cached' in the first two only.
        paired: the other side and the order of the pairs, where `jaxmark ab` made this file; else null.
        imported_from: the tool that measured it, where that was not jaxmark. Then `seed`, `settings`,
            `compile_cache` and `suite_version` say nothing of how it was measured.
    """

    id: str
    config: str
    config_sha256: str | None
    started_at: str
    finished_at: str | None
    state: State
    command: list[str]
    suite_version: str
    git: str | None
    processes_planned: Positive
    timeout_s: float | None
    seed: int
    compile_cache: Literal["cold", "cached"]
    settings: MeasureSettings
    imported_from: str | None = None
    paired: Paired | None = None


class ResultFile(Record):
    """One run of jaxmark.

    Attributes:
        floors: noise floors of these cases that were known on this machine when the run ended.
    """

    schema_version: int
    run: Run
    environment: Environment
    results: list[Result]
    floors: list[Floor] = msgspec.field(default_factory=list)


class JournalHeader(Record):
    """First line of a journal: enough to make a result file with no finished process.

    Attributes:
        sources: case key -> 'file.py:name' of a user's workload.
    """

    schema_version: int
    run: Run
    environment: Environment
    cases: list[Case]
    sources: dict[str, str] = msgspec.field(default_factory=dict)
