"""What a worker is asked for, from the header of its run and what has come back so far."""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence

from suite.record.schema import JournalHeader, Outcome
from suite.run.protocol import Job
from suite.spec.case import Case

_COLD_PROCESSES = 2  # with compile = "cached"; the second of them fills the cache


def make_job(
    header: JournalHeader,
    outcomes: Sequence[Outcome],
    case: Case,
    index: int,
    *,
    block_steps: int | None,
    cache_dir: str | None,
    memory_limit_bytes: int | None,
) -> Job:
    """The job of one process.

    Args:
        header: of its run.
        outcomes: of the run so far.
        case: to measure.
        index: of the round, from 0.
        block_steps: K if an earlier process has chosen it.
        cache_dir: of `cache_folder`.
        memory_limit_bytes: what the worker may use; None for no limit.
    """
    run = header.run
    return Job(
        case=case,
        index=index,
        platform=header.environment.machine.platform,
        seed=run.seed,
        settings=run.settings,
        source=header.sources.get(case.key),
        block_steps=block_steps,
        cache_dir=cache_dir if index >= _COLD_PROCESSES - 1 else None,
        verify=not any(outcome.key == case.key for outcome in outcomes),
        memory_limit_bytes=memory_limit_bytes,
    )


def timeout_s(header: JournalHeader) -> float:
    """Seconds after which a process of the run is ended."""
    return math.inf if header.run.timeout_s is None else header.run.timeout_s


@contextlib.contextmanager
def cache_folder(header: JournalHeader) -> Iterator[str | None]:
    """A compilation cache that lives as long as the run, where the config asks for one."""
    if header.run.compile_cache == "cold":
        yield None
        return
    folder = tempfile.mkdtemp(prefix="jaxmark-cache-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
