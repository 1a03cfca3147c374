"""Counts the FLOPs of a traced program: products and convolutions, two per multiply-add."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any


def count(jaxpr: Any) -> int:
    """FLOPs of one run of `jaxpr`; a scan's body counts as often as it runs."""
    return sum(_equation(equation) for equation in jaxpr.eqns)


def equations(jaxpr: Any) -> Iterator[Any]:
    """Yields every equation, those of inner programs included."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in _inner(equation):
            yield from equations(inner)


def _equation(equation: Any) -> int:
    name, inner = equation.primitive.name, list(_inner(equation))
    if name == "dot_general":
        return _dot_general(equation)
    if name == "conv_general_dilated":
        return _convolution(equation)
    if name == "scan":
        return equation.params["length"] * sum(map(count, inner))
    if name in ("while", "cond") and any(map(count, inner)):
        raise AssertionError(f"products inside a {name!r}: how often they run cannot be read off the program")
    return sum(map(count, inner))


def _dot_general(equation: Any) -> int:
    (contracted, _), _ = equation.params["dimension_numbers"]
    lhs = equation.invars[0].aval.shape
    return 2 * math.prod(equation.outvars[0].aval.shape) * math.prod(lhs[axis] for axis in contracted)


def _convolution(equation: Any) -> int:
    numbers, kernel = equation.params["dimension_numbers"], equation.invars[1].aval.shape
    _, inputs, *window = (kernel[axis] for axis in numbers.rhs_spec)
    return 2 * math.prod(equation.outvars[0].aval.shape) * inputs * math.prod(window)


def _inner(equation: Any) -> Iterator[Any]:
    for value in equation.params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            each = getattr(each, "jaxpr", each)
            if hasattr(each, "eqns"):
                yield each
