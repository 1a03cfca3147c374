"""A pure step over flat leaves with its state donated: the one form in which a step is compiled.

It needs shapes and dtypes only, so a program can be compiled where its arrays would not fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax

from suite.measurement.failure import StepFailedError
from suite.record.schema import StaticMemory

PyTree = Any


class FlatStep:
    """`(state, batch) -> (state, outputs)` as a function of the leaves of both, one by one.

    Args:
        step: the pure function.
        state: pytree of arrays or `jax.ShapeDtypeStruct`s; donated.
        batch: likewise; NumPy arrays will do.

    Attributes:
        state_tree: structure of the state.
        output_tree: structure of the outputs; None until `trace` has run.
    """

    def __init__(
        self, step: Callable[[PyTree, PyTree], tuple[PyTree, PyTree]], state: PyTree, batch: PyTree
    ) -> None:
        self._step = step
        state_leaves, self.state_tree = jax.tree.flatten(state)
        batch_leaves, self._batch_tree = jax.tree.flatten(batch)
        self._state, self._batch = _shapes(state_leaves), _shapes(batch_leaves)
        self.output_tree: Any = None

    @property
    def state_bytes(self) -> int:
        """Bytes of the state, all of which must be updated in place."""
        return sum(bytes_of(leaf) for leaf in self._state)

    def trace(self, **settings: Any) -> Any:
        """Traces the step; `settings` go to `jax.jit`.

        Raises:
            StepFailedError: the new state differs from the old in structure, shape or dtype.
        """
        donated = tuple(range(len(self._state)))
        jitted = jax.jit(self.flat, donate_argnums=donated, keep_unused=True, **settings)
        return jitted.trace(*self._state, *self._batch)

    def flat(self, *leaves: jax.Array) -> list[jax.Array]:
        """The step itself: new state leaves, then the leaves of the outputs."""
        split = len(self._state)
        state = jax.tree.unflatten(self.state_tree, leaves[:split])
        new_state, outputs = self._step(state, jax.tree.unflatten(self._batch_tree, leaves[split:]))
        new_leaves, new_tree = jax.tree.flatten(new_state)
        _check_state(self.state_tree, self._state, new_tree, new_leaves)
        output_leaves, self.output_tree = jax.tree.flatten(outputs)
        return [*new_leaves, *output_leaves]

    def check_aliases(self, static: StaticMemory, on_one_device: int | None = None) -> None:
        """Makes sure that the compiler updates the whole state in place.

        Args:
            static: the compiler's account of one device.
            on_one_device: bytes of the state there; all of it, where None is given.

        Raises:
            StepFailedError: it does not.
        """
        expected = self.state_bytes if on_one_device is None else on_one_device
        if static.alias_bytes < expected:
            raise StepFailedError(
                "error",
                f"the compiler reused {static.alias_bytes:,} of the state's {expected:,} bytes in "
                "place; the step would copy the rest each time and its figure would be wrong",
            )


def _shapes(leaves: list[Any]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]


def _check_state(old_tree: Any, old: list[Any], new_tree: Any, new: list[Any]) -> None:
    if old_tree != new_tree:
        raise StepFailedError(
            "error",
            "step must return (new_state, outputs) with new_state built like state; "
            f"expected {old_tree}, found {new_tree}",
        )
    for number, (before, after) in enumerate(zip(old, new, strict=True)):
        if (before.shape, before.dtype) != (after.shape, after.dtype):
            raise StepFailedError(
                "error",
                f"step changed leaf {number} of its state from {before.dtype}{list(before.shape)} to "
                f"{after.dtype}{list(after.shape)}; a step's state keeps its shapes and dtypes, so that "
                "steps can be chained",
            )


def static_memory(executable: Any) -> tuple[StaticMemory | None, str | None]:
    """The compiler's account of an executable's memory, or why there is none."""
    analysis = executable.memory_analysis()
    if analysis is None:
        return None, "this backend gives no memory analysis"
    argument, output = analysis.argument_size_in_bytes, analysis.output_size_in_bytes
    temp, alias = analysis.temp_size_in_bytes, analysis.alias_size_in_bytes
    record = StaticMemory(
        argument_bytes=argument,
        output_bytes=output,
        temp_bytes=temp,
        alias_bytes=alias,
        code_bytes=analysis.generated_code_size_in_bytes,
        total_bytes=argument + output + temp - alias,
    )
    return record, None


def bytes_of(aval: Any) -> int:
    """Bytes of an array of this shape and dtype."""
    count: int = math.prod(aval.shape)
    return count * int(aval.dtype.itemsize)
