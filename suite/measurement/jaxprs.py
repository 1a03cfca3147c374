"""What a traced program shows before it is compiled: the fewest bytes it can move, and its loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suite.measurement.flat import bytes_of


def fewest_bytes(closed: Any) -> int:
    """Bytes that a program must move: each input in use read once, each new output written once.

    An input that is only passed through, be it by a jitted function inside, is neither read nor
    written.
    """
    jaxpr = closed.jaxpr
    used, passed = _flow(jaxpr)
    read = sum(bytes_of(jaxpr.invars[number].aval) for number in used)
    read += sum(bytes_of(var.aval) for var in jaxpr.constvars)
    outputs = zip(jaxpr.outvars, passed, strict=True)
    return read + sum(bytes_of(var.aval) for var, source in outputs if source is None)


def _flow(jaxpr: Any) -> tuple[set[int], list[int | None]]:
    """Numbers of the inputs that are read, and for each output that of the input it merely is, or None."""
    source = {id(var): number for number, var in enumerate(jaxpr.invars)}
    used: set[int] = set()
    for eqn in jaxpr.eqns:
        inputs = [source.get(id(var)) for var in eqn.invars]
        if eqn.primitive.name in ("jit", "pjit"):
            inner_used, inner_passed = _flow(eqn.params["jaxpr"].jaxpr)
            used |= {number for at in inner_used if (number := inputs[at]) is not None}
            for var, at in zip(eqn.outvars, inner_passed, strict=True):
                if at is not None and (number := inputs[at]) is not None:
                    source[id(var)] = number
        else:
            used |= {number for number in inputs if number is not None}
    return used, [source.get(id(var)) for var in jaxpr.outvars]


def has_loop(jaxpr: Any) -> bool:
    """Whether a jaxpr holds a scan or a while, at any depth."""
    return any(
        eqn.primitive.name in ("scan", "while") or any(has_loop(inner) for inner in _inner_jaxprs(eqn))
        for eqn in jaxpr.eqns
    )


def _inner_jaxprs(eqn: Any) -> Iterator[Any]:
    for value in eqn.params.values():
        for inner in value if isinstance(value, (tuple, list)) else (value,):
            closed = getattr(inner, "jaxpr", inner)
            if hasattr(closed, "eqns"):
                yield closed
