"""The `aot` path: a pure step, compiled ahead of time over flat leaves, its state donated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import jax

from suite.measurement.compiling import cache_hits
from suite.measurement.flat import FlatStep, static_memory
from suite.measurement.jaxprs import fewest_bytes, has_loop
from suite.measurement.step import Program
from suite.record.schema import Compile

PyTree = Any


class AotStep:
    """A compiled `(state, batch) -> (state, outputs)` that owns its state.

    The executable takes the leaves of state and batch one by one: passing the tree costs more
    than a small step itself. It refuses other shapes instead of compiling again.

    Args:
        step: the pure function.
        state: pytree of device arrays; donated, so the caller's arrays are gone afterwards.
        batch: pytree of device arrays.
        unmoved_bytes: bytes of the state that a step does not move (gathered tables).

    Raises:
        StepFailedError: if the new state differs from the old in structure, shape or dtype, or
            if the compiler did not alias all of it.
    """

    def __init__(
        self,
        step: Callable[[PyTree, PyTree], tuple[PyTree, PyTree]],
        state: PyTree,
        batch: PyTree,
        *,
        unmoved_bytes: int = 0,
    ) -> None:
        flat = FlatStep(step, state, batch)
        self._state: list[jax.Array] = jax.tree.leaves(state)
        self._batch: list[jax.Array] = jax.tree.leaves(batch)
        self._executable, self.program = _compile(flat, unmoved_bytes)
        self._state_tree, self._output_tree = flat.state_tree, flat.output_tree
        self._outputs: Sequence[jax.Array] = []

    def run(self, steps: int) -> None:
        """Runs `steps` steps, each on the state of the one before, and waits for the last."""
        executable, batch = self._executable, self._batch
        state: Sequence[jax.Array] = self._state
        split = len(state)
        leaves: Sequence[jax.Array] = []
        # Earlier outputs go before a step makes new ones: kept, they would count twice in its peak.
        self._outputs = []
        for _ in range(steps):
            del leaves
            leaves = executable(*state, *batch)
            state = leaves[:split]
        jax.block_until_ready(leaves)
        self._state, self._outputs = list(state), leaves[split:]

    def run_over(self, batches: Iterable[PyTree]) -> None:
        """Takes one step on each batch, shaped like that which it was compiled for, and waits for the last.

        The next batch is drawn while the device works on the one before.
        """
        executable, split = self._executable, len(self._state)
        state: Sequence[jax.Array] = self._state
        leaves: Sequence[jax.Array] = [*state, *self._outputs]
        self._outputs = []
        for batch in batches:
            self._batch = jax.tree.leaves(batch)
            leaves = executable(*state, *self._batch)
            state = leaves[:split]
        jax.block_until_ready(leaves)
        self._state, self._outputs = list(state), leaves[split:]

    def outputs(self) -> PyTree:
        """The outputs of the last step."""
        return jax.tree.unflatten(self._output_tree, self._outputs)

    def state(self) -> PyTree:
        """The present state."""
        return jax.tree.unflatten(self._state_tree, self._state)

    def compiled_text(self) -> str:
        """The compiled program as text, to look up in it what a profile names."""
        text: str = self._executable.as_text()
        return text

    def live_bytes(self) -> int:
        """Bytes of the present state, the batch and the last outputs."""
        return sum(leaf.nbytes for leaf in (*self._state, *self._batch, *self._outputs))

    def signature(self) -> None:
        """None: the executable has one shape."""


def _compile(flat: FlatStep, unmoved_bytes: int) -> tuple[Any, Program]:
    """Traces, lowers and compiles, each timed apart."""
    hits_before = cache_hits()
    times = [time.perf_counter_ns()]
    traced = flat.trace()
    times.append(time.perf_counter_ns())
    lowered = traced.lower()
    times.append(time.perf_counter_ns())
    executable = lowered.compile()
    times.append(time.perf_counter_ns())
    static, static_reason = static_memory(executable)
    if static is not None:
        flat.check_aliases(static)
    trace_ns, lower_ns, compile_ns = (after - before for before, after in pairwise(times))
    compiled = Compile(
        trace_ns=trace_ns,
        lower_ns=lower_ns,
        compile_ns=compile_ns,
        first_call_ns=None,
        cache="cached" if cache_hits() > hits_before else "cold",
    )
    return executable, Program(
        compile=compiled,
        static=static,
        static_reason=static_reason,
        xla_flops=xla_flops(executable),
        bytes_min=max(fewest_bytes(traced.jaxpr) - unmoved_bytes, 0),
        bytes_min_reason=None,
        has_loop=has_loop(traced.jaxpr.jaxpr),
    )


def xla_flops(executable: Any) -> float | None:
    """XLA's own FLOP count; it counts the body of a loop once, so it is for comparison only."""
    cost = executable.cost_analysis()
    value = cost.get("flops") if cost else None
    return float(value) if value is not None and value > 0 else None
