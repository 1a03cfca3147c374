"""What the measuring code needs to know of a step: how to run it, and little else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from suite.record.schema import Compile, StaticMemory


@dataclass(frozen=True)
class Program:
    """What is known of a compiled step before it runs.

    Attributes:
        static: the compiler's account of its memory; None with `static_reason`.
        xla_flops: the compiler's own count, for comparison only.
        bytes_min: fewest bytes that the step must move; None with `bytes_min_reason`.
        has_loop: whether it holds a scan or a while, whose body XLA counts once.
    """

    compile: Compile
    static: StaticMemory | None
    static_reason: str | None
    xla_flops: float | None
    bytes_min: int | None
    bytes_min_reason: str | None
    has_loop: bool = False


class Step(Protocol):
    """A step that is ready to run. State lives inside; `run` moves it on."""

    program: Program

    def run(self, steps: int) -> None:
        """Runs `steps` chained steps and waits until all of their results are there."""

    def outputs(self) -> Any:
        """The outputs of the last step, a pytree."""

    def live_bytes(self) -> int:
        """Bytes of the arrays that the step holds between two steps: state, batch, outputs."""

    def signature(self) -> str | None:
        """Shapes and dtypes of the last outputs; None where they cannot change."""
