"""From a job to the step that is compiled: its shapes, its work, and what its memory is made of.

Nothing of the state is allocated for a workload of the catalogue; a user's own `Step` brings its arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from suite.measurement.failure import StepFailedError
from suite.measurement.flat import FlatStep
from suite.record.process import StaticMemory
from suite.record.schema import Work
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, own
from suite.workloads.base import Workload

# What the fields of a workload's state are called in a table; any other is 'state'.
_NAMES = {"params": "parameters", "optimiser": "optimiser", "stats": "statistics", "cache": "cache"}


@dataclass(frozen=True)
class Subject:
    """A step to compile.

    Attributes:
        step: pure, `(state, batch) -> (state, outputs)`.
        state: shapes and dtypes.
        batch: likewise.
        work: what is known of one step without compiling it.
        unmoved_bytes: of the state that a step does not move.
    """

    step: Any
    state: Any
    batch: Any
    work: Work
    unmoved_bytes: int = 0

    def flat(self) -> FlatStep:
        """The form in which it is compiled, and would be measured."""
        return FlatStep(self.step, self.state, self.batch)


def of(case: Case, source: str | None = None) -> Subject:
    """The step of a built-in case, or of a user's workload by its source.

    Raises:
        StepFailedError: it is a function run as it is, which nothing can compile alone.
    """
    if source is None:
        terms, items, item, parameters = catalogue.work(case)
        work = Work(
            flops=sum(terms.values()),
            flops_terms=terms,
            flops_source="analytic",
            items=items,
            item=item,
            parameters=parameters,
        )
        return _of_workload(build(case), work, catalogue.unmoved_bytes(case))
    found = own.load(source)
    if isinstance(found, own.Call):
        raise StepFailedError(
            "unsupported",
            f"{source} is a suite.Call, a function that is run as it is; a forecast compiles a pure step: "
            "give a suite.Step or a suite.Workload",
        )
    if isinstance(found, Workload):
        return _of_workload(found, Work(flops=None, flops_reason="the workload states none"), 0)
    facts = found.facts
    work = Work(flops=facts.flops, flops_source="user", items=facts.items, item=facts.item)
    if facts.flops is None:
        work = Work(flops=None, flops_reason="the workload states none", items=facts.items, item=facts.item)
    return Subject(found.step, _shapes(found.state), _shapes(found.batch), work)


def parts(state: Any, batch: Any, shards: list[Any] | None, memory: StaticMemory) -> dict[str, int]:
    """What a program's memory is made of on one device, in bytes; the parts add up to all of it.

    Args:
        state: shapes of the state.
        batch: shapes of the batch.
        shards: how each leaf of the two is spread over devices, in order; None on one device.
        memory: the compiler's account.
    """
    leaves = [*_named(state), *(("batch", leaf) for leaf in jax.tree.leaves(batch))]
    found: dict[str, int] = {}
    for number, (name, leaf) in enumerate(leaves):
        shape = leaf.shape if shards is None else shards[number].shard_shape(leaf.shape)
        found[name] = found.get(name, 0) + math.prod(shape) * leaf.dtype.itemsize
    # A chip's layouts round some dimensions up, of arguments too.
    padding = memory.argument_bytes - sum(found.values())
    found |= {
        "padding": padding,
        "outputs": memory.output_bytes - memory.alias_bytes,
        "temporaries": memory.temp_bytes,
        "code": memory.code_bytes,
    }
    return {name: size for name, size in found.items() if size}


def _of_workload(workload: Workload, work: Work, unmoved_bytes: int) -> Subject:
    state = jax.eval_shape(workload.init, jax.random.key(0))
    batch = _shapes(workload.batch(np.random.default_rng(0)))
    return Subject(workload.step, state, batch, work, unmoved_bytes)


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(np.shape(leaf), np.asarray(leaf).dtype), tree)


def _named(state: Any) -> Iterator[tuple[str, Any]]:
    """Each leaf of a state with the name of the part that it belongs to."""
    fields = getattr(state, "_fields", None)
    if fields is None:
        yield from (("state", leaf) for leaf in jax.tree.leaves(state))
        return
    for field in fields:
        for leaf in jax.tree.leaves(getattr(state, field)):
            yield _NAMES.get(field, "state"), leaf
