"""Bytes that one scheduled operation must move between the chip and its main memory. No jax.

Logical shapes, so that a layout's padding is left out, and what lies in memory on the chip itself
costs nothing. A slice of an array reads the slice; an update in place writes the update.
"""

from __future__ import annotations

from collections.abc import Iterator

from suite.forecast.hlo import Computation, Operation, Program

# Names for what is there already; no byte moves.
_FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id",
    "replica-id", "opt-barrier", "while", "conditional", "call",
}  # fmt: skip
_READS_PART = ("dynamic-slice", "slice", "gather")
_UPDATES = {"dynamic-update-slice": 1, "scatter": 2}
"""Which operand of an operation that works in place holds the new values."""


def traffic(program: Program, computation: Computation, operation: Operation) -> int:
    """Bytes read from and written to main memory by one run of an operation, at the least."""
    if operation.opcode in _FREE or operation.opcode.endswith("-done") or _allocates(operation):
        return 0
    if operation.opcode.endswith("-start"):
        return _transfer(computation, operation)
    reads = 0
    for place, operand in enumerate(computation.operands(operation)):
        if operand.results and operand.results[0].space == 0:
            reads += _read(program, computation, operation, place)
    return reads + sum(_written(program, computation, operation))


def _transfer(computation: Computation, operation: Operation) -> int:
    """Of an operation that runs beside others, such as a copy into the chip's own memory.

    Its results are what it gives, what it takes and a flag or two; the smaller of both ends moves.
    """
    given = [array for array in operation.results if array.shape]
    taken = [each.results[0] for each in computation.operands(operation) if each.results]
    moved = min((array.bytes for array in given), default=0)
    spaces = {array.space for array in given} | {array.space for array in taken}
    # From memory to memory it is read and written; else only one of the two is main memory.
    return moved * (2 if spaces == {0} else 1) if 0 in spaces else 0


def _read(program: Program, computation: Computation, user: Operation, place: int) -> int:
    """Bytes that `user` reads of its operand number `place`."""
    source = computation.operations.get(user.operands[place])
    whole = source.results[0].bytes if source is not None and source.results else 0
    if user.opcode in _READS_PART and place == 0:
        return min(whole, sum(array.bytes for array in user.results))
    if user.opcode in _UPDATES and place == 0:
        return 0
    inner = program.computations.get(user.called[0]) if user.opcode == "fusion" else None
    if inner is None:
        return whole
    return min(whole, _read_inside(program, inner, _parameter(inner, place)))


def _read_inside(program: Program, inner: Computation, source: Operation | None) -> int:
    """Bytes that a fused computation reads of one of its parameters."""
    if source is None:
        return 0
    total = 0
    for user in inner.operations.values():
        for place, name in enumerate(user.operands):
            if name != source.name:
                continue
            if user.opcode == "bitcast" and user is not inner.root:
                total += _read_inside(program, inner, user)
            elif user.opcode == "bitcast":
                total += sum(array.bytes for array in user.results)
            else:
                total += _read(program, inner, user, place)
    return total


def _parameter(inner: Computation, number: int) -> Operation | None:
    for operation in inner.operations.values():
        if operation.opcode == "parameter" and operation.literal == str(number):
            return operation
    return None


def _written(program: Program, computation: Computation, operation: Operation) -> Iterator[int]:
    """Bytes of each result that goes to main memory."""
    roots = _roots(program, computation, operation)
    for number, array in enumerate(operation.results):
        if array.space:
            continue
        inside, root = roots[number] if number < len(roots) else (computation, None)
        yield array.bytes if root is None else min(array.bytes, _new_bytes(inside, root))


def _roots(
    program: Program, computation: Computation, operation: Operation
) -> list[tuple[Computation, Operation | None]]:
    """What gives each result of an operation: itself, or what a fusion's computation ends in."""
    if operation.opcode != "fusion":
        return [(computation, operation)]
    inner = program.computations.get(operation.called[0])
    if inner is None:
        return []
    ends = inner.operands(inner.root) if inner.root.opcode == "tuple" else [inner.root]
    found: list[tuple[Computation, Operation | None]] = []
    for end in ends:
        while end.opcode == "bitcast" and inner.operands(end):
            end = inner.operands(end)[0]
        found += _roots(program, inner, end) if end.opcode == "fusion" else [(inner, end)]
    return found


def _new_bytes(computation: Computation, root: Operation) -> int:
    if root.opcode in _UPDATES:
        update = computation.operands(root)[_UPDATES[root.opcode]]
        return sum(array.bytes for array in update.results)
    return sum(array.bytes for array in root.results)


def _allocates(operation: Operation) -> bool:
    return operation.opcode == "custom-call" and "AllocateBuffer" in operation.attributes
