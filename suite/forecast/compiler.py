"""The worker that compiles, as the command sees it: asked, waited for, and replaced when it dies. No jax."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import msgspec

from suite.errors import PlatformError
from suite.forecast import compilers
from suite.forecast.protocol import Job, Ready
from suite.forecast.targets import find
from suite.record.forecast import CompileStatus, Forecast
from suite.run.worker_process import Line, WorkerProcess

_START_S = 120.0
_MODULE = "suite.forecast.worker"


@dataclass(frozen=True)
class Lost:
    """A job that got no answer, and why."""

    status: CompileStatus
    reason: str
    detail: str | None


class Compiler:
    """One worker at a time, in the environment of `python`; use it in a `with` statement.

    Args:
        python: interpreter of an environment that has the compilers.
        platforms: 'cuda' and 'tpu', those that will be asked for.
        timeout_s: a job that takes longer is given up, in seconds.

    Raises:
        PlatformError: when it is entered: the environment lacks a compiler, or does not run.
    """

    def __init__(self, python: Path, platforms: Collection[str], timeout_s: float) -> None:
        self._python, self._platforms, self._timeout_s = python, platforms, timeout_s
        self._worker: WorkerProcess | None = None
        self._versions: dict[str, str] = {}

    def __enter__(self) -> Compiler:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def compile(self, job: Job) -> Forecast:
        """The answer to one job; a worker that dies or takes too long is one, too."""
        worker = self._worker or self._start()
        began = time.monotonic()
        worker.send(msgspec.json.encode(job))
        event = worker.next_event(self._timeout_s)
        if isinstance(event, Line):
            return msgspec.json.decode(event.text, type=Forecast)
        if event is None:
            lost = Lost("timeout", f"still compiling after {self._timeout_s:g} s", None)
        else:
            lost = Lost("crashed", f"the compiler's process ended with {event.returncode}", worker.log_tail())
        self._stop()
        return self._no_answer(job, lost, time.monotonic() - began)

    def _start(self) -> WorkerProcess:
        self._worker = WorkerProcess((str(self._python), "-P", "-m", _MODULE))
        try:
            self._versions = self._ready(self._worker)
            compilers.check(self._python, self._versions, self._platforms)
        except PlatformError:
            self._stop()
            raise
        return self._worker

    def _ready(self, worker: WorkerProcess) -> dict[str, str]:
        """The versions that the worker begins with."""
        event = worker.next_event(_START_S)
        if isinstance(event, Line):
            return msgspec.json.decode(event.text, type=Ready).versions
        said = worker.log_tail().splitlines()[-1:] or ["no answer"]
        raise PlatformError(f"{self._python} does not run jaxmark's compiler: {said[0]}")

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.__exit__(None, None, None)
            self._worker = None

    def _no_answer(self, job: Job, lost: Lost, seconds: float) -> Forecast:
        target = find(job.target)
        return Forecast(
            key=job.case.key,
            target=target.name,
            device_kind=None,
            status=lost.status,
            reason=lost.reason,
            detail=lost.detail,
            emulated=target.emulation(job.case.precision),
            capacity_bytes=target.usable_bytes,
            compile_s=seconds,
            versions=self._versions,
        )
