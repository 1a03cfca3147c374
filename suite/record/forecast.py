"""What is known of a step that was compiled for a chip without having it. Never a measurement."""

from __future__ import annotations

from typing import Literal

from suite.record.base import NotNegative, Record, Seconds
from suite.record.process import StaticMemory

CompileStatus = Literal["ok", "does_not_fit", "unsupported", "timeout", "crashed", "error"]


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
    capacity_bytes: NotNegative
    compile_s: Seconds
    cached: bool = False
    versions: dict[str, str]
