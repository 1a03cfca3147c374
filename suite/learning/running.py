"""Every task from every seed, one fresh process each; the file is written after each of them. No jax."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

import suite
from suite.analysis.learning import result_of
from suite.learning.attempt import attempt
from suite.learning.protocol import Job
from suite.record.atomic import replace_file, storage_error
from suite.record.environment import Environment
from suite.record.learning import (
    KIND,
    SCHEMA_VERSION,
    Attempt,
    Evaluation,
    LearningFile,
    LearningRun,
    State,
)
from suite.record.private import hide_home
from suite.record.store import device_slug, utc_now
from suite.run.interrupts import Interrupts
from suite.run.limits import worker_memory_limit
from suite.run.prepare import git_commit
from suite.spec.learning import LearnConfig, Task

FOLDER = "learning"
"""Below the device's folder, out of the way of whatever collects step times."""

Attempting = Callable[[Job, float, Callable[[Evaluation], None]], Attempt]


class Listener(Protocol):
    """Hears of everything that happens."""

    def started(self, task: Task, seed: int) -> None:
        """A process begins."""

    def evaluated(self, task: Task, evaluation: Evaluation) -> None:
        """It has looked at the held-out data."""

    def ended(self, task: Task, attempt: Attempt) -> None:
        """It is gone, and what came of it is on the disk."""


def new_file(config: LearnConfig, environment: Environment, command: Sequence[str]) -> LearningFile:
    """The file of a run that starts now, with no attempt in it."""
    run = LearningRun(
        id=uuid.uuid4().hex[:8],
        config=config.name,
        config_sha256=config.sha256,
        started_at=utc_now(),
        finished_at=None,
        state="running",
        command=[hide_home(word) for word in command],
        suite_version=suite.__version__,
        git=git_commit(),
        seeds=config.seeds,
        timeout_s=config.timeout_s,
    )
    return LearningFile(
        kind=KIND,
        schema_version=SCHEMA_VERSION,
        run=run,
        environment=environment,
        results=[result_of(task, []) for task in config.tasks],
    )


def path_of(file: LearningFile, out: Path) -> Path:
    """Where the file of a run goes: results/<device>/learning/<UTC time>-<config>-<id>.json."""
    started = re.sub(r"[^0-9TZ]", "", file.run.started_at)
    name = re.sub(r"[^a-z0-9]+", "-", file.run.config.lower()).strip("-") or "learn"
    return out / device_slug(file.environment.machine) / FOLDER / f"{started}-{name}-{file.run.id}.json"


def run(file: LearningFile, path: Path, listener: Listener, attempting: Attempting = attempt) -> LearningFile:
    """Runs every seed of every task, seed by seed, so that after the first each task has a figure.

    Args:
        file: from `new_file`; filled and returned.
        path: that it is written to.
        listener: hears of everything that happens.
        attempting: runs one job; replaced in tests.

    Returns:
        What was written: 'complete', or 'interrupted' after a Ctrl-C, which is no error.

    Raises:
        StorageError: the disk refused it.
    """
    _write(file, path, "running")
    platform = file.environment.machine.platform
    ended: State = "complete"
    with Interrupts() as interrupts:
        try:
            for seed in range(file.run.seeds):
                for number, result in enumerate(file.results):
                    task = result.task
                    listener.started(task, seed)
                    job = Job(
                        task=task,
                        seed=seed,
                        platform=platform,
                        memory_limit_bytes=worker_memory_limit(platform),
                    )
                    found = attempting(job, file.run.timeout_s, partial(listener.evaluated, task))
                    with interrupts.held():
                        file.results[number] = result_of(task, [*result.attempts, found])
                        _write(file, path, "running")
                        listener.ended(task, found)
        except KeyboardInterrupt:
            ended = "interrupted"
    if all(len(result.attempts) == file.run.seeds for result in file.results):
        ended = "complete"  # whatever came after the last process
    return _write(file, path, ended)


def _write(file: LearningFile, path: Path, state: State) -> LearningFile:
    file.run.state, file.run.finished_at = state, None if state == "running" else utc_now()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n")
    except OSError as error:
        raise storage_error("write", path, error) from error
    return file
