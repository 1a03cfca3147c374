"""What one worker process measured, or why it measured nothing."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from suite.record.base import Note, NotNegative, Positive, Record, Seconds

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


class Compile(Record):
    """Time from Python function to executable, and the first call apart, in nanoseconds.

    Attributes:
        trace_ns: Python function to jaxpr.
        lower_ns: jaxpr to StableHLO.
        compile_ns: StableHLO to executable.
        first_call_ns: of the executable, waited for.
        cache: 'cold' (compiled here), 'cached' (read from a persistent cache) or 'call' (a
            function run as it is: tracing and compiling, if any, are inside the first call).
    """

    trace_ns: NotNegative | None
    lower_ns: NotNegative | None
    compile_ns: NotNegative | None
    first_call_ns: NotNegative | None
    cache: Literal["cold", "cached", "call"]


class StaticMemory(Record):
    """The compiler's own account of the program, in bytes. On a CPU a lower bound.

    Attributes:
        alias_bytes: of outputs that take the place of donated arguments.
        total_bytes: arguments + outputs + temporaries - aliases.
    """

    argument_bytes: int
    output_bytes: int
    temp_bytes: int
    alias_bytes: int
    code_bytes: int
    total_bytes: int


class HostRss(Record):
    """Resident memory of the worker around three synchronised steps, in bytes (Linux CPU).

    Attributes:
        baseline_bytes: VmRSS after compiling, less the live arrays.
        live_array_bytes: state, batch and the outputs of the step before.
        high_water_bytes: VmHWM over the steps.
        compile_high_water_bytes: VmHWM while compiling.
    """

    baseline_bytes: int
    live_array_bytes: int
    high_water_bytes: int
    compile_high_water_bytes: int | None


class Memory(Record):
    """What the step needed.

    Attributes:
        allocator: JAX's `memory_stats()`, raw, at baseline, after compiling and after the steps.
        static: the compiler's account.
        host_rss: resident memory of the worker.
        peak_bytes: derived from one of the above.
        method: which one. Peaks by different methods do not compare.
        reason: why `peak_bytes` is null.
    """

    allocator: dict[str, dict[str, int]] | None = None
    static: StaticMemory | None = None
    host_rss: HostRss | None = None
    peak_bytes: Positive | None = None
    method: MemoryMethod | None = None
    reason: str | None = None


class ReferenceCheck(Record):
    """Agreement with the committed reference; errors are relative, see docs/measuring.md.

    Attributes:
        preset: that was compared: the case's own, or 'smoke' in its place.
        loss_error: largest over the five losses.
        output_error: relative root mean square over the sampled outputs.
        tolerance: of this precision, for both.
    """

    preset: str
    loss_error: float | None
    output_error: float | None
    tolerance: float
    passed: bool


class Checks(Record):
    """Numerics of one process.

    Attributes:
        finite: no NaN or infinity in losses and outputs.
        losses: of steps 1 to 5 from fresh state; null within for one that is not finite.
        loss_falls: the fifth is below the first; null without losses.
        reference: agreement with the committed reference.
        reference_reason: why `reference` is null.
    """

    finite: bool | None = None
    losses: list[float | None] | None = None
    loss_falls: bool | None = None
    reference: ReferenceCheck | None = None
    reference_reason: str | None = None


class Conditions(Record):
    """The state of the machine around one process.

    Attributes:
        load_average_before: runnable programs over the minute before it.
        throttle_events: times that the processor slowed itself down for heat, as the kernel counts them; null
            where it does not.
        device_throttled_ms: that the device slowed itself down for heat or its power supply; null where it
            does not tell.
        device_other_processes: other programs on the device as the process began; null where unknown.
        compiled_during_measurement: executables made while steps were timed; null where nobody counted.
        steady: step times had settled when the warm-up ended; null where nobody looked.
    """

    load_average_before: float | None = None
    load_average_after: float | None = None
    cpu_mhz_before: float | None = None
    cpu_mhz_after: float | None = None
    throttle_events: NotNegative | None = None
    device_throttled_ms: NotNegative | None = None
    device_other_processes: NotNegative | None = None
    compiled_during_measurement: int | None = 0
    steady: bool | None = True


class Process(Record):
    """One fresh worker process that measured one case once: the unit of statistics.

    Attributes:
        index: round of the run, from 0.
        duration_s: from start to end of the worker; of an imported process the time of its samples.
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
    other_shapes_ns: list[Positive] = msgspec.field(default_factory=list)
    warnings: list[Note] = msgspec.field(default_factory=list)


class Failure(Record):
    """A process that gave no measurement.

    Attributes:
        index: round of the run, from 0.
        stage: the last one that the worker entered.
        reason: in a line.
        traceback: of the exception, if there was one.
        log_tail: last lines that the worker printed.
    """

    index: NotNegative
    started_at: str
    duration_s: Seconds
    status: Status
    stage: Stage
    reason: str
    traceback: str | None = None
    log_tail: str | None = None
