"""What is known of a step that was compiled for a chip without having it. Never a measurement."""

from __future__ import annotations

from typing import Literal

import msgspec

from suite.record.base import NotNegative, Record, Seconds
from suite.record.process import StaticMemory
from suite.record.schema import Work

CompileStatus = Literal["ok", "does_not_fit", "unsupported", "timeout", "crashed", "error"]


class Bound(Record, kw_only=True):
    """The least time that a step can take; never an estimate of what it will take.

    Attributes:
        seconds: the bound.
        compute_s: what its products take at the chip's dense peak; None if a peak is unknown.
        memory_s: what its bytes take at the chip's bandwidth; None if they are unknown.
    """

    seconds: float
    compute_s: float | None = None
    memory_s: float | None = None

    @property
    def binds(self) -> str:
        """Which of the two is the larger: 'compute' or 'memory'."""
        return "compute" if (self.compute_s or 0.0) >= (self.memory_s or 0.0) else "memory"


class Collective(Record, kw_only=True):
    """Exchanges of one kind between devices, in one step.

    Attributes:
        kind: 'all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all', 'collective-permute'.
        count: how many run, loops included.
        bytes: of their results on one device.
    """

    kind: str
    count: int
    bytes: NotNegative


class Forecast(Record, kw_only=True):
    """One case compiled for one chip.

    Attributes:
        key: of the case.
        target: short name of the chip, such as 't4'.
        device_kind: as JAX would name the chip; None if the compiler did not come to it.
        status: 'ok' compiles and fits; 'does_not_fit' by the compiler's word or by its total;
            'unsupported' is the compiler's refusal; 'error' is anything that nothing here knows.
        reason: one line; None for 'ok'.
        detail: all that the compiler said; None for 'ok'.
        emulated: how the chip makes up for units that it lacks; None if it has them.
        memory: the compiler's account of one device's memory, in bytes; None without a program.
        needed_bytes: all that the program needs of one device, also where the compiler gave up and
            said only how much; None if it did not say.
        parts: what `needed_bytes` is made of, in bytes by name; they add up to it. Empty where the
            compiler gave up.
        devices: JAX devices that the step is spread over.
        work: what one step does, as a result file has it; None if nothing was compiled.
        step_bound: least time of the whole step.
        program_bound: least time of the compiled program, operation by operation.
        bound_reason: why there is no bound.
        compiler_s: the TPU compiler's own estimate of a step, in seconds; biased, see docs/forecast.md.
        unknown_loops: loops of unknown length, which the bounds count once.
        collectives: exchanges between devices.
        capacity_bytes: what a program can use of one device.
        compile_s: of tracing, lowering and compiling together, when it was compiled.
        cached: it was compiled earlier, and this is what it came to.
        versions: of what compiled it, by distribution.
    """

    key: str
    target: str
    device_kind: str | None
    status: CompileStatus
    reason: str | None = None
    detail: str | None = None
    emulated: str | None = None
    memory: StaticMemory | None = None
    needed_bytes: NotNegative | None = None
    parts: dict[str, int] = msgspec.field(default_factory=dict)
    devices: int = 1
    work: Work | None = None
    step_bound: Bound | None = None
    program_bound: Bound | None = None
    bound_reason: str | None = None
    compiler_s: float | None = None
    unknown_loops: int = 0
    collectives: list[Collective] = msgspec.field(default_factory=list)
    capacity_bytes: NotNegative
    compile_s: Seconds
    cached: bool = False
    versions: dict[str, str]
