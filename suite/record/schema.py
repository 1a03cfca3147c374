"""The result file: one run, its conditions and every raw sample.

Units stand in the names. A figure that could not be had is null, with its reason beside it.
Raw samples and conditions are the truth; `Summary` is derived from them and checked on load by
`jaxmark validate`. Durations are nanoseconds from a monotonic clock.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from suite.spec.case import Case
from suite.spec.settings import MeasureSettings as MeasureSettings

SCHEMA_VERSION = 1

Status = Literal[
    "ok",
    "oom",  # memory ran out while running
    "does_not_fit",  # the compiler says that it cannot fit
    "timeout",  # killed after the time limit
    "crashed",  # the worker died of a signal or without a word
    "unsupported",  # this hardware or version cannot run it
    "wrong",  # the numbers that it computed fail the numerics check
    "not_finite",  # NaN or infinity in the loss or the outputs
    "error",  # an exception, usually in a user's own workload
    "skipped",  # never started: the budget ended or the run was interrupted
]
Stage = Literal[
    "start", "import", "build", "compile", "first_call", "memory", "warmup", "blocks", "latency", "checks"
]
MemoryMethod = Literal["allocator", "allocator+reserved", "static", "host_rss", "host_rss_lifetime"]
State = Literal["running", "complete", "interrupted"]

# Checked when a file or a worker's answer is decoded, and published in the JSON Schema. A clock
# that reads zero or less over real work is broken, and its figures must not enter a file.
Positive = Annotated[int, msgspec.Meta(gt=0)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class _Record(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Base of the stored records: keyword-only, unknown fields are errors."""


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A warning in plain words, with a code for scripts."""

    code: str
    message: str


class Compile(_Record):
    """Time from Python function to executable, and the first call apart.

    `cache` is 'cold' (compiled here), 'cached' (read from a persistent cache) or 'call' (a
    function run as it is: tracing and compiling, if any, happen inside the first call).
    """

    trace_ns: NotNegative | None
    lower_ns: NotNegative | None
    compile_ns: NotNegative | None
    first_call_ns: NotNegative | None
    cache: Literal["cold", "cached", "call"]


class StaticMemory(_Record):
    """The compiler's own account of the program, in bytes. On a CPU a lower bound."""

    argument_bytes: int
    output_bytes: int
    temp_bytes: int
    alias_bytes: int
    code_bytes: int
    total_bytes: int  # argument + output + temp - alias


class HostRss(_Record):
    """Resident memory of the worker around three synchronised steps, in bytes (Linux CPU)."""

    baseline_bytes: int  # VmRSS after compile, less the live arrays
    live_array_bytes: int
    high_water_bytes: int  # VmHWM over the steps
    compile_high_water_bytes: int | None


class Memory(_Record):
    """What the step needed. `peak_bytes` is derived by `method`; null has a `reason`."""

    allocator: dict[str, dict[str, int]] | None = None  # memory_stats() at baseline, compile, steps
    static: StaticMemory | None = None
    host_rss: HostRss | None = None
    peak_bytes: Positive | None = None
    method: MemoryMethod | None = None
    reason: str | None = None


class ReferenceCheck(_Record):
    """Agreement with the committed reference; errors are relative, see docs/measuring.md."""

    preset: str
    loss_error: float | None
    output_error: float | None
    tolerance: float
    passed: bool


class Checks(_Record):
    """Numerics of one process. `losses` are of steps 1 to 5 from fresh state."""

    finite: bool | None = None
    losses: list[float | None] | None = None
    loss_falls: bool | None = None
    reference: ReferenceCheck | None = None
    reference_reason: str | None = None  # why `reference` is null


class Conditions(_Record):
    """The state of the machine around one process."""

    load_average_before: float | None = None
    load_average_after: float | None = None
    cpu_mhz_before: float | None = None
    cpu_mhz_after: float | None = None
    compiled_during_measurement: int = 0
    steady: bool = True


class Process(_Record):
    """One fresh worker process that measured one case once: the unit of statistics.

    Attributes:
        index: round of the run, from 0.
        init_ns: building the initial state and putting it on the device.
        warmup_ns: warm-up samples, in order; never summarised.
        warmup_steps: chained steps in each warm-up sample, while K is being chosen and after.
        block_steps: K, the chained steps in a block.
        block_ns: throughput blocks, in order, one wait at the end of each.
        latency_ns: single steps, in order, a wait after each; null when K is 1, because then
            every block is exactly that.
        other_shapes_ns: blocks whose results had other shapes than the first block's ('call'
            path only): kept apart, never summarised with the rest.
    """

    index: NotNegative
    started_at: str
    duration_s: Seconds
    init_ns: NotNegative | None
    compile: Compile
    warmup_ns: list[Positive]
    warmup_steps: list[Positive]
    block_steps: Positive
    block_ns: Annotated[list[Positive], msgspec.Meta(min_length=1)]
    latency_ns: Annotated[list[Positive], msgspec.Meta(min_length=1)] | None
    memory: Memory
    checks: Checks
    conditions: Conditions
    other_shapes_ns: list[Positive] = []
    warnings: list[Note] = []


class Failure(_Record):
    """A process that gave no measurement."""

    index: NotNegative
    started_at: str
    duration_s: Seconds
    status: Status
    stage: Stage
    reason: str
    traceback: str | None = None
    log_tail: str | None = None


class Work(_Record):
    """What one step does.

    Attributes:
        flops: of products and convolutions, padding included; null when unknown.
        flops_terms: the named parts; they add up to `flops`.
        flops_source: 'analytic' (a formula), 'user', or 'xla' (the compiler's own count).
        xla_flops: the compiler's count, for comparison only.
        bytes_min: each live-in byte read once, each live-out byte written once.
        items: per step; `item` says of what: image, token, sample.
    """

    flops: int | None
    flops_terms: dict[str, int] = {}
    flops_source: Literal["analytic", "user", "xla"] | None = None
    flops_reason: str | None = None
    xla_flops: float | None = None
    bytes_min: int | None = None
    bytes_min_reason: str | None = None
    items: int | None = None
    item: str | None = None
    parameters: int | None = None


class Outcome(_Record):
    """What came back from one worker: a line of the journal. Either a process or a failure."""

    key: str
    index: int
    process: Process | None = None
    failure: Failure | None = None
    work: Work | None = None
    source_sha256: str | None = None


class Summary(_Record):
    """Derived from the processes; see suite/analysis/summary.py for each definition."""

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


class Result(_Record):
    """One case of the run: everything measured, failures included.

    Attributes:
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


class Machine(_Record):
    """The identity of the hardware. Sizes in bytes."""

    machine_id: str
    platform: str
    device_kind: str
    device_count: int
    device_memory_bytes: int | None
    compute_capability: str | None
    cpu_model: str
    cpu_cores_available: int
    cpu_cores_total: int | None
    last_level_cache_bytes: int | None
    ram_bytes: int | None
    os: str
    architecture: str
    hostname: str | None = None


class Software(_Record):
    """Everything that may differ between two runs on one machine."""

    python: str
    jax: str
    jaxlib: str
    flax: str
    optax: str | None
    numpy: str
    platform_version: str | None
    driver: str | None
    plugins: dict[str, str]
    variables: dict[str, str]  # XLA_FLAGS, JAX_*, OMP_* and the like, verbatim


class Volatile(_Record):
    """What changes from hour to hour."""

    load_average: float | None
    cpu_mhz: float | None
    ram_available_bytes: int | None
    memory_limit_bytes: int | None  # the limit that the workers ran under
    device_memory_in_use_bytes: int | None = None  # by JAX's allocator, when the run began
    device_memory_limit_bytes: int | None = None  # the most that JAX's allocator may take


class Environment(_Record):
    """Where a run took place: what identifies the hardware, what may differ, what drifts.

    `warnings` say what is odd about the place, such as an accelerator plugin that JAX did not use.
    """

    machine: Machine
    software: Software
    volatile: Volatile
    warnings: list[Note] = []


class Run(_Record):
    """The execution itself."""

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
    timeout_s: float
    seed: int
    compile_cache: Literal["cold", "cached"]
    settings: MeasureSettings


class ResultFile(_Record):
    """The whole file."""

    schema_version: int
    run: Run
    environment: Environment
    results: list[Result]


class JournalHeader(_Record):
    """First line of a journal: enough to make a result file with no finished process."""

    schema_version: int
    run: Run
    environment: Environment
    cases: list[Case]
    sources: dict[str, str] = {}  # case key -> 'file.py:name' of a user's workload


def to_json(record: Any) -> bytes:
    """Encodes a record as strict JSON; NaN and infinity become null."""
    return msgspec.json.encode(record)
