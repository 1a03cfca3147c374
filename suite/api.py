"""Measuring and reading results from a script or a notebook.

    import suite

    measured = suite.measure(step, state, batch, items=32, item="image")   # a pure step
    measured = suite.measure(train_step, model, optimizer, batch, path="call")   # run as it is
    measured.save("results")
    result = suite.load("results/.../file.json")

One process, the caller's own, so a figure has no interval and says so: `jaxmark run --workload
file.py:name` measures the same in fresh processes.
"""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import msgspec

import suite
from suite.analysis.summary import fold
from suite.errors import WorkloadError
from suite.measurement import environment, process
from suite.measurement.memory import MemoryProbe
from suite.record.machine import machine_id
from suite.record.schema import SCHEMA_VERSION, JournalHeader, Note, Outcome, Result, ResultFile, Run, Summary
from suite.record.store import Store, utc_now
from suite.run import subject
from suite.run.quirks import lacks_a_flag
from suite.spec.case import Path as CasePath
from suite.spec.settings import MeasureSettings
from suite.spec.sources import own_case
from suite.workloads.own import Call, Facts, Step

_ONE_PROCESS = Note(
    code="one_process",
    message="measured in one process, the caller's own: no interval, and what else this process holds or "
    "has run may have a part in it",
)


_XNNPACK = Note(
    code="xnnpack",
    message="on a CPU this jaxlib computes training with a donated state wrongly; start Python with "
    "XLA_FLAGS=--xla_cpu_use_xnnpack=false, as `jaxmark run` does",
)


class Measured:
    """What `measure` returns: the result of one process, and the means to store it."""

    def __init__(self, header: JournalHeader, outcome: Outcome) -> None:
        self._header, self._outcome = header, outcome
        self.file: ResultFile = fold(header, [outcome], "complete", utc_now())

    @property
    def result(self) -> Result:
        """The case with its raw samples."""
        return self.file.results[0]

    @property
    def summary(self) -> Summary:
        """The figures derived from them."""
        return self.result.summary

    def save(self, out: str | os.PathLike[str] = "results") -> Path:
        """Writes the result file below the folder `out` and returns its path.

        Raises:
            StorageError: if it cannot be written there.
        """
        store = Store.create(Path(out), self._header, fold)
        store.append(self._outcome)
        store.finish("complete")
        return store.path

    def __repr__(self) -> str:
        from suite.report.show import show_text

        return show_text(self.file)


def measure(
    step: Callable[..., Any],
    *args: Any,
    path: CasePath = "aot",
    kwargs: Mapping[str, Any] | None = None,
    name: str | None = None,
    items: int | None = None,
    item: str | None = None,
    flops: int | None = None,
    loss: Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    version: int = 1,
    settings: MeasureSettings | None = None,
) -> Measured:
    """Measures a step in this process by the whole protocol.

    Args:
        step: for path 'aot' a pure `(state, batch) -> (state, outputs)`, jitted or not; for path
            'call' any function, run as it is with `args` and `kwargs` again and again.
        *args: `state, batch` for 'aot' (copied first: the step donates its state); the
            function's arguments for 'call'. NNX objects that it updates must be among them.
        path: which of the two; part of the result's identity.
        kwargs: keyword arguments for 'call'.
        name: of the workload in the result; the function's own name otherwise.
        items: items per step.
        item: what one item is: image, token, sample.
        flops: per step, of products and convolutions. Without it XLA's count stands in for 'aot',
            named so, and none for 'call'.
        loss: reads the scalar loss out of a step's outputs; checked over the first five steps.
        batch_size: of the batch axis; part of the identity.
        version: of the workload; part of the identity.
        settings: seconds of each pass; the protocol's own otherwise.

    Raises:
        WorkloadError: for 'aot' without exactly a state and a batch, or for a name or settings that
            make no result.
        StepFailedError: if the step cannot be measured: not finite, state that does not chain.
    """
    _check(step, name, settings)
    facts = Facts(items=items, item=item, flops=flops, loss=loss, batch=batch_size, version=version)
    own: Step | Call
    if path == "call":
        own = Call(step, args, dict(kwargs or {}), facts)
    elif path == "aot":
        own = _pure_step(step, args, kwargs, facts)
    else:
        raise WorkloadError(f"path must be 'aot' or 'call', found {path!r}")
    called = name or str(getattr(step, "__name__", type(step).__name__))
    case = own_case(called, version=version, batch=batch_size, path=path)
    chosen = settings or MeasureSettings()
    header = JournalHeader(
        schema_version=SCHEMA_VERSION,
        run=_run(chosen),
        environment=environment.describe(machine_id=machine_id(None)),
        cases=[case],
    )
    memory = MemoryProbe(jax.devices()[0], fresh_process=False)
    ready = subject.from_object(own, 0, memory, lambda _: None)
    found = process.measure(
        ready.step, memory, process.Plan(settings=chosen, loss=ready.loss), lambda _: None
    )
    found.warnings.append(_ONE_PROCESS)
    if lacks_a_flag(os.environ):
        found.warnings.append(_XNNPACK)
    found.checks.reference_reason = "a workload of one's own has no reference"
    return Measured(header, Outcome(key=case.key, index=0, process=found, work=ready.work))


def _check(step: Any, name: str | None, settings: MeasureSettings | None) -> None:
    """Refuses what would only fail later, or make a result that cannot be told from another."""
    if not callable(step):
        raise WorkloadError(f"expected a function as the step, found {type(step).__name__}")
    if name is not None and not (name.isprintable() and name.strip() and "/" not in name):
        raise WorkloadError(f"expected a name of printable characters without '/', found {name!r}")
    if settings is not None and not isinstance(settings, MeasureSettings):
        raise WorkloadError(f"expected MeasureSettings, found {type(settings).__name__}")
    for field, seconds in (msgspec.structs.asdict(settings) if settings is not None else {}).items():
        if not 0 <= seconds < math.inf:
            raise WorkloadError(f"expected {field} of 0 or more, found {seconds!r}")


def _pure_step(step: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, facts: Facts) -> Step:
    if len(args) != 2 or kwargs:
        raise WorkloadError(
            f"path 'aot' measures step(state, batch); expected those two arguments, found {len(args)}"
            f"{' and keywords' if kwargs else ''}. A function of other arguments goes with path='call'"
        )
    state, batch = args
    return Step(step, jax.tree.map(jnp.copy, state), batch, facts)


def _run(settings: MeasureSettings) -> Run:
    now = utc_now()
    return Run(
        id=uuid.uuid4().hex[:8],
        config="script",
        config_sha256=None,
        started_at=now,
        finished_at=None,
        state="running",
        command=["suite.measure"],
        suite_version=suite.__version__,
        git=None,
        processes_planned=1,
        timeout_s=None,
        seed=0,
        compile_cache="cold",
        settings=settings,
    )
