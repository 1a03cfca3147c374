"""What a compiled program costs at the least: each scheduled operation, as often as it runs. No jax."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from suite.forecast.hlo import Computation, Operation, Program
from suite.forecast.products import products
from suite.forecast.traffic import traffic

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')


@dataclass(frozen=True)
class Scheduled:
    """One operation of the schedule.

    Attributes:
        runs: how often, loops included.
        flops: of one run, by the dtype that is multiplied.
        bytes: of one run, between the chip and its main memory.
        cycles: of one run by the compiler's own estimate; 0 where it gives none.
        overlaps: it runs beside the operations after it.
        collective: what kind, where it exchanges data between devices.
        result_bytes: of its results.
    """

    name: str
    runs: int
    flops: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    cycles: int = 0
    overlaps: bool = False
    collective: str | None = None
    result_bytes: int = 0


@dataclass(frozen=True)
class Schedule:
    """Every operation of a program.

    Attributes:
        unknown_loops: loops of which the text does not say how often they run; counted once.
    """

    operations: tuple[Scheduled, ...]
    unknown_loops: int

    def cycles(self) -> int:
        """The compiler's own estimate of the whole, in cycles; 0 where it gives none."""
        return sum(each.cycles * each.runs for each in self.operations)


def schedule(program: Program) -> Schedule:
    """Lists what a program runs.

    A branch counts as the cheaper of its computations would in bytes, so that the whole stays a
    lower bound.
    """
    unknown: list[str] = []
    return Schedule(tuple(_computation(program, program.entry, 1, unknown)), len(unknown))


def _computation(
    program: Program, computation: Computation, runs: int, unknown: list[str]
) -> Iterator[Scheduled]:
    for operation in computation.operations.values():
        if operation.opcode == "while":
            trips = program.trips(computation, operation)
            if trips is None:
                unknown.append(operation.name)
            for name in operation.called:
                yield from _computation(
                    program, program.computations[name], runs * (1 if trips is None else trips), unknown
                )
        elif operation.opcode == "conditional":
            choices = [
                list(_computation(program, program.computations[name], runs, unknown))
                for name in operation.branches
                if name in program.computations
            ]
            yield from min(choices, key=lambda one: sum(each.bytes for each in one), default=[])
        elif operation.opcode in ("call", "async-start"):
            for name in operation.called:
                yield from _computation(program, program.computations[name], runs, unknown)
        else:
            yield _scheduled(program, computation, operation, runs)


def _scheduled(program: Program, computation: Computation, operation: Operation, runs: int) -> Scheduled:
    cycles = _CYCLES.search(operation.attributes)
    plain = operation.opcode.removesuffix("-start")
    return Scheduled(
        name=operation.name,
        runs=runs,
        flops=products(program, computation, operation),
        bytes=traffic(program, computation, operation),
        cycles=int(cycles[1]) if cycles else 0,
        overlaps=operation.opcode.endswith("-start"),
        collective=plain if plain in COLLECTIVES else None,
        result_bytes=sum(array.bytes for array in operation.results),
    )
