"""The `call` path: a function run as it is, in the style of Flax's own guides.

It may update NNX objects in place, return nothing, be jitted already, donate or not. The clock
waits on its outputs and on the variables of every NNX object among its arguments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
from flax import nnx

from suite.measurement.failure import StepFailedError
from suite.measurement.step import Program
from suite.record.schema import Compile

_NNX_TYPES: tuple[type, ...] = tuple(
    getattr(nnx, name) for name in ("Object", "Pytree", "Variable") if hasattr(nnx, name)
)


class CallStep:
    """Runs `function(*args, **kwargs)` again and again with the same arguments.

    Raises:
        StepFailedError: if the function reaches NNX objects other than through its arguments;
            the clock could not wait for those.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        hidden = sorted(set(_hidden_objects(function)))
        if hidden:
            raise StepFailedError(
                "error",
                f"{_name(function)} uses NNX objects that are not among its arguments: {', '.join(hidden)}. "
                "The clock cannot wait for their updates. Pass them as arguments: step(model, ..., batch)",
            )
        self._function, self._args, self._kwargs = function, args, dict(kwargs)
        self._variables = _variables((args, kwargs))
        self._outputs: Any = None
        self._gives_objects = True  # until the first call has shown that it does not
        self.program = Program(
            compile=Compile(trace_ns=None, lower_ns=None, compile_ns=None, first_call_ns=None, cache="call"),
            static=None,
            static_reason="a function run as it is has no executable to analyse",
            xla_flops=None,
            bytes_min=None,
            bytes_min_reason="a function run as it is has no program to read shapes from",
        )

    def run(self, steps: int) -> None:
        """Calls the function `steps` times and waits for its outputs and its arguments' variables."""
        function, args, kwargs = self._function, self._args, self._kwargs
        # Earlier outputs go before a call makes new ones: kept, they would count twice in its peak.
        outputs = self._outputs = None
        for _ in range(steps):
            outputs = None
            try:
                outputs = function(*args, **kwargs)
            except (RuntimeError, ValueError) as error:
                raise _explain(error, function) from error
        # On flax before 0.12 an NNX object is no pytree, and waiting on one waits on nothing.
        variables = [*self._variables, *_variables(outputs)] if self._gives_objects else self._variables
        jax.block_until_ready((outputs, [_value(variable) for variable in variables]))
        self._outputs, self._gives_objects = outputs, bool(_variables(outputs))

    def outputs(self) -> Any:
        """What the last call returned, None if nothing."""
        return self._outputs

    def live_bytes(self) -> int:
        """Bytes of the arguments' arrays, their variables and the last outputs, each once."""
        values = [*jax.tree.leaves((self._args, self._kwargs, self._outputs)), *map(_value, self._variables)]
        arrays = {id(value): value for value in values if isinstance(value, jax.Array)}
        return sum(array.nbytes for array in arrays.values())

    def signature(self) -> str:
        """Shapes and dtypes of what the last call returned and of the variables."""
        leaves = [*jax.tree.leaves(self._outputs), *(_value(variable) for variable in self._variables)]
        return ", ".join(
            f"{leaf.dtype}{list(leaf.shape)}" if hasattr(leaf, "shape") else type(leaf).__name__
            for leaf in leaves
        )


def _explain(error: Exception, function: Any) -> Exception:
    if "deleted" not in str(error):
        return error
    return StepFailedError(
        "error",
        f"{_name(function)} donates its arguments, so it cannot be called with them again. "
        "Measure it as a pure step instead: step(state, batch) -> (state, outputs), which chains its state",
    )


def _value(variable: Any) -> Any:
    """The array inside a variable, under either of the names that flax has given it."""
    return variable.get_raw_value() if hasattr(variable, "get_raw_value") else variable.raw_value


def _variables(tree: Any) -> list[nnx.Variable[Any]]:
    """Every NNX variable reachable from the arguments, each once."""
    found: dict[int, nnx.Variable[Any]] = {}
    for leaf in jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, _NNX_TYPES)):
        if isinstance(leaf, nnx.Variable):
            found[id(leaf)] = leaf
        elif isinstance(leaf, _NNX_TYPES):
            found |= {id(node): node for _, node in nnx.iter_graph(leaf) if isinstance(node, nnx.Variable)}
    return list(found.values())


def _hidden_objects(function: Any) -> Iterator[str]:
    """Names of NNX objects that a function reaches by closure, global name or partial."""
    if isinstance(function, _NNX_TYPES):
        yield type(function).__name__
        return
    if isinstance(function, functools.partial):
        bound = [*function.args, *function.keywords.values()]
        yield from (type(value).__name__ for value in bound if _holds_objects(value))
        yield from _hidden_objects(function.func)
        return
    if inspect.ismethod(function):
        if isinstance(function.__self__, _NNX_TYPES):
            yield type(function.__self__).__name__
        function = function.__func__
    wrapped = inspect.unwrap(function)
    if isinstance(wrapped, functools.partial):
        yield from _hidden_objects(wrapped)
        return
    if inspect.isfunction(wrapped):
        names = inspect.getclosurevars(wrapped)
        for name, value in {**names.globals, **names.nonlocals}.items():
            if _holds_objects(value):
                yield name
            elif (
                inspect.isfunction(value) and value is not wrapped and value.__module__ == wrapped.__module__
            ):
                yield from _hidden_in(value, name)
    elif not inspect.isbuiltin(wrapped):
        yield from (name for name, value in getattr(wrapped, "__dict__", {}).items() if _holds_objects(value))


def _hidden_in(function: Any, name: str) -> Iterator[str]:
    """NNX objects in the closure of a function that the step calls; one level deep."""
    names = inspect.getclosurevars(function)
    for inner, value in {**names.globals, **names.nonlocals}.items():
        if _holds_objects(value):
            yield f"{inner} (in {name})"


def _holds_objects(value: Any) -> bool:
    """Whether a value is an NNX object, or a container or plain instance with one directly inside."""
    inside: list[Any] = [value]
    if isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, list | tuple | set):
        inside = list(value)
    elif not isinstance(value, type) and not inspect.ismodule(value) and not callable(value):
        inside = [value, *getattr(value, "__dict__", {}).values()]
    return any(isinstance(each, _NNX_TYPES) for each in inside)


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)
