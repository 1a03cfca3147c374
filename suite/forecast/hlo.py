"""A compiled program as XLA prints it: computations, their operations, and how often each runs. No jax.

The text is the one account that every version and platform gives of what was really scheduled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Bits of an element. Tokens and opaque values have none.
_BITS = {
    "pred": 8, "s2": 2, "u2": 2, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32,
    "u32": 32, "s64": 64, "u64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128,
}  # fmt: skip
_ARRAY = re.compile(r"([a-z][a-z0-9]*)\[([0-9,<=]*)\](?:\{([^{}]*)\})?")
_SPACE = re.compile(r"S\((\d+)\)")
_OPERATION = re.compile(r"^\s+(ROOT )?%(?P<name>\S+) = (?P<rest>.*)$")
_HEADER = re.compile(r"^(?P<entry>ENTRY )?%(?P<name>\S+) \(.*\{\s*$")
_NAME = re.compile(r"%([^\s,(){}]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_CALLED = re.compile(r"(?:calls|to_apply|body|condition)=%([^\s,(){}]+)")
_BRANCHES = re.compile(r"(?:branch_computations=\{([^}]*)\}|(?:true|false)_computation=%([^\s,]+))")


@dataclass(frozen=True)
class Array:
    """One array of an operation's result.

    Attributes:
        dtype: as XLA writes it, such as 'bf16'.
        shape: its logical dimensions.
        space: memory that it lies in; 0 is the device's main memory, others are on the chip.
    """

    dtype: str
    shape: tuple[int, ...]
    space: int = 0

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Of its elements, without the padding that a layout may add."""
        return -(-self.size * _bits(self.dtype) // 8)


@dataclass(frozen=True)
class Operation:
    """One operation of a computation.

    Attributes:
        name: unique in the program.
        opcode: such as 'fusion', 'dot', 'custom-call'.
        results: its arrays, several where it gives a tuple.
        operands: names of operations in the same computation.
        attributes: everything behind the operands.
    """

    name: str
    opcode: str
    results: tuple[Array, ...]
    operands: tuple[str, ...]
    attributes: str
    literal: str = ""

    @property
    def called(self) -> tuple[str, ...]:
        """Computations that it runs each time: a fusion's, a call's."""
        return tuple(_CALLED.findall(self.attributes))

    @property
    def branches(self) -> tuple[str, ...]:
        """Computations of which a conditional runs one."""
        found = []
        for several, one in _BRANCHES.findall(self.attributes):
            found += [one] if one else _NAME.findall(several)
        return tuple(found)

    def attribute(self, name: str) -> str:
        """What stands behind `name=`, up to the next comma outside braces; '' if there is none."""
        found = re.search(rf"(?:^|[ ,]){name}=(\{{[^}}]*\}}|[^,\s]+)", self.attributes)
        return found[1] if found else ""

    def dimensions(self, name: str) -> tuple[int, ...]:
        """A list of dimensions, such as that of 'lhs_contracting_dims'."""
        return tuple(int(number) for number in re.findall(r"\d+", self.attribute(name)))


@dataclass(frozen=True)
class Computation:
    """Operations in the order in which they are scheduled, by name; the last is its result."""

    name: str
    operations: Mapping[str, Operation]

    @property
    def root(self) -> Operation:
        """The operation whose result is the computation's."""
        return list(self.operations.values())[-1]

    def operands(self, operation: Operation) -> list[Operation]:
        """The operations whose results this one takes."""
        return [self.operations[name] for name in operation.operands if name in self.operations]


@dataclass(frozen=True)
class Program:
    """A compiled program."""

    entry: Computation
    computations: Mapping[str, Computation]

    def trips(self, computation: Computation, loop: Operation) -> int | None:
        """How often the body of a 'while' runs; None where the text does not say."""
        known = _TRIPS.search(loop.attributes)
        if known:
            return int(known[1])
        return self._counted_up(computation, loop)

    def _counted_up(self, computation: Computation, loop: Operation) -> int | None:
        """The limit of a loop that counts from 0 by 1 and stops there, as jax's scans do."""
        body = self.computations.get(loop.attribute("body").lstrip("%"))
        condition = self.computations.get(loop.attribute("condition").lstrip("%"))
        if body is None or condition is None or condition.root.opcode != "compare":
            return None
        left, right = condition.operands(condition.root)
        if "direction=LT" not in condition.root.attributes or left.opcode != "get-tuple-element":
            return None
        index = int(left.attribute("index"))
        start = _element(computation, computation.operands(loop)[0], index)
        moved = _element(body, body.root, index)
        by_one = moved is not None and moved.opcode == "add" and 1 in map(_number, body.operands(moved))
        return _number(right) if by_one and start is not None and _number(start) == 0 else None


def parse(text: str) -> Program:
    """Reads what `compiled.as_text()` gives.

    Raises:
        ValueError: it holds no entry computation.
    """
    computations: dict[str, Computation] = {}
    entry: Computation | None = None
    name, is_entry, lines = "", False, dict[str, Operation]()
    for line in text.splitlines():
        header = _HEADER.match(line)
        if header:
            name, is_entry, lines = header["name"], bool(header["entry"]), {}
        elif line.startswith("}") and name:
            computations[name] = Computation(name, lines)
            entry = computations[name] if is_entry else entry
            name = ""
        elif name and (operation := _operation(line)) is not None:
            lines[operation.name] = operation
    if entry is None:
        raise ValueError("the compiled program's text has no ENTRY computation")
    return Program(entry, computations)


def arrays(text: str) -> Iterator[Array]:
    """Every array of a shape: one, or those of a tuple."""
    for dtype, shape, layout in _ARRAY.findall(text):
        space = _SPACE.search(layout)
        yield Array(dtype, tuple(int(n) for n in re.findall(r"\d+", shape)), int(space[1]) if space else 0)


def _operation(line: str) -> Operation | None:
    found = _OPERATION.match(line)
    if not found:
        return None
    shape, rest = _split_shape(found["rest"])
    opcode, _, rest = rest.partition("(")
    inside, attributes = _split_parenthesis(rest)
    operands = tuple(_NAME.findall(inside))
    return Operation(found["name"], opcode, tuple(arrays(shape)), operands, attributes, inside)


def _split_shape(text: str) -> tuple[str, str]:
    """'(f32[2], s32[]) tuple(...)' as its shape and the rest; a tuple's shape has parentheses."""
    if not text.startswith("("):
        shape, _, rest = text.partition(" ")
        return shape, rest
    end = _closing(text, 0)
    return text[: end + 1], text[end + 1 :].lstrip()


def _split_parenthesis(text: str) -> tuple[str, str]:
    """What is inside the parenthesis that is already open, and what comes after it."""
    end = _closing("(" + text, 0) - 1
    return text[:end], text[end + 1 :].lstrip(", ")


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        if text[place] == "(":
            depth += 1
        elif text[place] == ")":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def _element(computation: Computation, tuple_: Operation, index: int) -> Operation | None:
    if tuple_.opcode != "tuple" or index >= len(tuple_.operands):
        return None
    found = computation.operations.get(tuple_.operands[index])
    while found is not None and found.opcode in ("copy", "bitcast") and found.operands:
        found = computation.operations.get(found.operands[0])
    return found


def _number(operation: Operation) -> int | None:
    if operation.opcode != "constant" or not re.fullmatch(r"-?\d+", operation.literal):
        return None
    return int(operation.literal)


def _bits(dtype: str) -> int:
    return 8 if dtype.startswith("f8") else 4 if dtype.startswith("f4") else _BITS.get(dtype, 0)
