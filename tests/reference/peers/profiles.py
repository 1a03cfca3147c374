"""Where the time of a step goes, by kind of operation, on both sides: JAX's profiler and PyTorch's."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STEPS = 4
CONVOLUTION, PRODUCT = "convolution", "matrix product"
MOVING, REST = "moving data", "the rest"
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = .*?([a-z][\w\-]*)\(")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) .*\{$")
_CALLS = re.compile(r"(?:calls|to_apply|body|called_computations)=\{?%?([\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
# What these are called in the traces of PyTorch; everything else is the rest.
_THEIR_CONVOLUTIONS = re.compile(r"conv")
_THEIR_MOVES = re.compile(r"aten::(copy_|clone|contiguous|_to_copy)$")
_THEIR_PRODUCTS = re.compile(r"(addmm|aten::mm|bmm|linear|matmul|scaled_dot_product)")


def of_ours(subject: Any, folder: Path, small: bool) -> dict[str, Any]:
    """Milliseconds of one of our steps by kind, summed over threads, and the dearest operations."""
    import jax

    from tests.reference.peers.contender import our_step

    step = our_step(subject, "unroll", folder, small)
    step.run(2)
    with tempfile.TemporaryDirectory() as traces:
        with jax.profiler.trace(traces):
            step.run(STEPS)
        (path,) = Path(traces).rglob("*.xplane.pb")
        spent = _durations(path)
    kinds = kinds_of(step.compiled_text())
    total: Counter[str] = Counter()
    dearest: Counter[str] = Counter()
    for name, nanoseconds in spent.items():
        if name in kinds:
            kind, operation = kinds[name]
            total[kind] += nanoseconds / STEPS / 1e6
            dearest[f"{kind}: {operation}"] += nanoseconds / STEPS / 1e6
    return {"kinds": total, "dearest": dearest.most_common(3)}


def _durations(path: Path) -> Counter[str]:
    """Nanoseconds by the name of the event, over all threads of the host."""
    from jax.profiler import ProfileData

    spent: Counter[str] = Counter()
    for plane in ProfileData.from_file(str(path)).planes:
        for line in plane.lines if plane.name.startswith("/host:CPU") else ():
            for event in line.events if line.name != "python" else ():
                spent[event.name] += event.duration_ns
    return spent


def kinds_of(text: str) -> Mapping[str, tuple[str, str]]:
    """Instruction -> (its kind, the operation of JAX that it comes from), from a program's text.

    A fusion is of the kind of what is multiplied inside it; without any product, one that the
    compiler has named after a transpose or a copy only moves data into another order.
    """
    operations: dict[str, set[str]] = {}
    found: dict[str, tuple[str, str, str]] = {}
    inside = ""
    for line in text.splitlines():
        if header := _COMPUTATION.match(line):
            inside = header[1]
        elif instruction := _INSTRUCTION.match(line):
            name, operation = instruction[1], instruction[2]
            operations.setdefault(inside, set()).add(operation + line.partition("custom_call_target")[2][:40])
            called, source = _CALLS.search(line), _OP_NAME.search(line)
            own_name = re.sub(r"[.\d]+$", "", name)
            found[name] = (operation + line, called[1] if called else "", source[1] if source else own_name)
    return {
        name: (_kind(name, own, operations.get(called, set())), _short(source))
        for name, (own, called, source) in found.items()
    }


def _kind(name: str, own: str, called: set[str]) -> str:
    source = _OP_NAME.search(own)
    words = " ".join(
        [own.partition("(")[0].split(" = ")[0], *called, source[1].rpartition("/")[2] if source else ""]
    )
    if "convolution" in words or "conv_general_dilated" in words:
        return CONVOLUTION
    if re.search(r"\bdot\b|dot_general|matmul", words):
        return PRODUCT
    return MOVING if re.match(r"(wrapped_)?(transpose|copy|bitcast)", name) else REST


def _short(source: str) -> str:
    """'jit(flat)/transpose(jvp(ResNet))/conv_general_dilated' as 'gradient of conv_general_dilated'."""
    last = source.rpartition("/")[2]
    return f"gradient of {last}" if "transpose(" in source else last


def of_theirs(subject: Any, small: bool) -> dict[str, Any]:
    """Milliseconds of one of their eager steps by kind, and the dearest operations."""
    from torch.profiler import ProfilerActivity, profile

    from tests.reference.peers.contender import their_step

    step = their_step(subject, small, compiled=False)
    for _ in range(2):
        step()
    with profile(activities=[ProfilerActivity.CPU]) as trace:
        for _ in range(STEPS):
            step()
    total: Counter[str] = Counter()
    dearest: Counter[str] = Counter()
    for event in trace.key_averages():
        milliseconds = event.self_cpu_time_total / STEPS / 1e3
        kind = REST
        if _THEIR_CONVOLUTIONS.search(event.key):
            kind = CONVOLUTION
        elif _THEIR_MOVES.search(event.key):
            kind = MOVING
        elif _THEIR_PRODUCTS.search(event.key):
            kind = PRODUCT
        total[kind] += milliseconds
        dearest[f"{kind}: {event.key}"] += milliseconds
    return {"kinds": total, "dearest": dearest.most_common(3)}
