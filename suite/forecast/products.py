"""Multiply-adds of one scheduled operation, from its shapes. No jax.

Products and convolutions only, two FLOPs per multiply-add, as the catalogue counts them, but
without the padding and the zeros that a convolution may skip: what is left no chip can avoid.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from suite.forecast.hlo import Array, Computation, Operation, Program

_DOT_NUMBERS = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_HIGHEST = re.compile(r"operand_precision=\{highest|\"operand_precision\":\[\"HIGHEST\"")


def products(program: Program, computation: Computation, operation: Operation) -> Counter[str]:
    """FLOPs of an operation and of what it calls, by the dtype that is multiplied.

    Strict float32 is 'f32:highest'. A loop or a branch inside is not followed: those are
    scheduled by themselves.
    """
    found: Counter[str] = Counter()
    flops = _own(computation, operation)
    if flops:
        found[_multiplied(computation, operation)] += flops
    if operation.opcode not in ("while", "conditional"):
        for name in operation.called:
            inner = program.computations.get(name)
            for each in inner.operations.values() if inner else ():
                found += products(program, inner, each) if inner else Counter()
    return found


def _own(computation: Computation, operation: Operation) -> int:
    if operation.opcode == "dot":
        return _dot(computation, operation, operation.dimensions("lhs_contracting_dims"))
    if operation.opcode == "convolution":
        lhs, rhs = (each.results[0] for each in computation.operands(operation)[:2])
        return _convolution(operation, lhs, rhs, operation.results[0])
    if operation.opcode == "custom-call":
        return _library_call(computation, operation)
    return 0


def _dot(computation: Computation, operation: Operation, contracted: tuple[int, ...]) -> int:
    lhs = computation.operands(operation)[0].results[0]
    return 2 * operation.results[0].size * math.prod(lhs.shape[axis] for axis in contracted)


def _library_call(computation: Computation, operation: Operation) -> int:
    """Of cuBLAS and cuDNN; any other library's work is unknown and counts nothing."""
    target = operation.attribute("custom_call_target").strip('"')
    if target.startswith("__cublas$"):
        numbers = _DOT_NUMBERS.search(operation.attributes)
        contracted = tuple(int(n) for n in re.findall(r"\d+", numbers[1])) if numbers else ()
        return _dot(computation, operation, contracted) if numbers else 0
    operands = [each.results[0] for each in computation.operands(operation)[:2]]
    result = operation.results[0]
    # Its attributes are those of the forward convolution, whichever of the three it computes.
    triples = {
        "__cudnn$convForward": lambda: (operands[0], operands[1], result),
        "__cudnn$convBiasActivationForward": lambda: (operands[0], operands[1], result),
        "__cudnn$convBackwardInput": lambda: (result, operands[1], operands[0]),
        "__cudnn$convBackwardFilter": lambda: (operands[0], result, operands[1]),
    }
    return _convolution(operation, *triples[target]()) if target in triples else 0


def _convolution(operation: Operation, image: Array, kernel: Array, result: Array) -> int:
    """Of `image * kernel = result`: the pairs of a position and a tap that meet real values."""
    lhs, rhs, out = re.split(r"_|->", operation.attribute("dim_labels"))
    window = dict(re.findall(r"(\w+)=([^\s{}]+)", operation.attribute("window")))
    pairs = 1
    spatial = [label for label in rhs if label.isdigit()]
    for label in spatial:
        axis = int(label)
        pairs *= sum(
            _meets(
                image.shape[lhs.index(label)],
                kernel.shape[rhs.index(label)],
                result.shape[out.index(label)],
                _window(window, axis),
            )
        )
    channels = kernel.shape[rhs.index("i")] * result.shape[out.index("f")] * result.shape[out.index("b")]
    return 2 * pairs * channels


def _window(window: dict[str, str], axis: int) -> dict[str, int]:
    """Stride, padding and dilations of one axis."""

    def of(name: str, default: str) -> str:
        return window[name].split("x")[axis] if name in window else default

    return {
        "stride": int(of("stride", "1")),
        "before": int(of("pad", "0_0").split("_")[0]),
        "spread": int(of("lhs_dilate", "1")),
        "apart": int(of("rhs_dilate", "1")),
    }


def _meets(size: int, taps: int, positions: int, window: dict[str, int]) -> Iterator[int]:
    """For each tap of one axis, the positions at which it meets a value that is not filled in."""
    spread, last = window["spread"], (size - 1) * window["spread"]
    for tap in range(taps):
        first = tap * window["apart"] - window["before"]
        places = range(first, first + positions * window["stride"], window["stride"])
        yield sum(1 for place in places if 0 <= place <= last and place % spread == 0)


def _multiplied(computation: Computation, operation: Operation) -> str:
    dtype = computation.operands(operation)[0].results[0].dtype
    strict = dtype == "f32" and _HIGHEST.search(operation.attributes)
    return "f32:highest" if strict else dtype
