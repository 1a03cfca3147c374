"""What `jaxmark learn` writes: how long models took to reach a target on real data.

A kind of file of its own. It holds no step times, so nothing that compares those reads it. It is
small, and written anew, whole, after each process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from suite.errors import ResultFileError
from suite.record import loading
from suite.record.base import NotNegative, Positive, Record, Seconds
from suite.record.environment import Environment
from suite.record.process import Compile
from suite.spec.learning import Task

KIND: Literal["learning"] = "learning"
SCHEMA_VERSION = 1

AttemptStatus = Literal[
    "reached", "not_reached", "not_finite", "oom", "timeout", "crashed", "unsupported", "error"
]
State = Literal["running", "complete", "interrupted"]


class Data(Record):
    """The data as it was found, and how it was divided.

    Attributes:
        source: what it was taken from, with the version.
        sha256: of the data before it was divided; times on other data do not compare.
        train_items: images or characters to train on.
        held_out_items: those that the target is about; never trained on.
        division: how the two were told apart.
    """

    source: str
    sha256: str
    item: str
    train_items: Positive
    held_out_items: Positive
    division: str


class Evaluation(Record):
    """The held-out data, after some steps.

    Attributes:
        train_s: seconds of training up to here: drawing batches, moving them to the device and
            taking steps; neither compiling nor evaluating.
        value: the accuracy or the loss; null where it is no number.
    """

    steps: NotNegative
    train_s: Seconds
    value: float | None


class Attempt(Record):
    """One fresh process that trained from one seed.

    Attributes:
        duration_s: of the whole process.
        status: 'reached', 'not_reached' within the limit of steps, or why there is no answer.
        steps: taken; for 'reached' those at the first evaluation that met the target.
        train_s: the seconds of training that they took.
        evaluate_s: seconds of all evaluations, which are no part of `train_s`.
        compile: of the training step; no part of `train_s` either.
        evaluation_compile_ns: of the program that predicts the held-out data.
        evaluations: all of them, in order, the first before any step.
        log_tail: a traceback, or the last lines of a process that died.
    """

    seed: NotNegative
    started_at: str
    duration_s: Seconds
    status: AttemptStatus
    reason: str | None = None
    steps: NotNegative | None = None
    train_s: Seconds | None = None
    evaluate_s: Seconds | None = None
    compile: Compile | None = None
    evaluation_compile_ns: NotNegative | None = None
    data: Data | None = None
    evaluations: list[Evaluation] = msgspec.field(default_factory=list)
    log_tail: str | None = None


class Summary(Record):
    """Derived from the attempts. One that has not reached its target took longer than any that has.

    Attributes:
        steps: median over the attempts; null where half of them or more have not reached the target.
        steps_low: fewest of those that reached it.
        steps_high: most; null where an attempt has not reached it.
        train_s: the same of the seconds.
        best: the best value that any attempt came to.
    """

    attempts: int
    reached: int
    steps: float | None
    steps_low: int | None
    steps_high: int | None
    train_s: float | None
    train_s_low: float | None
    train_s_high: float | None
    best: float | None


class TaskResult(Record):
    """One task: every attempt, those that failed or did not reach the target included."""

    task: Task
    key: str
    attempts: list[Attempt]
    summary: Summary


class LearningRun(Record):
    """The execution itself; the fields are those of a run of step times."""

    id: str
    config: str
    config_sha256: str
    started_at: str
    finished_at: str | None
    state: State
    command: list[str]
    suite_version: str
    git: str | None
    seeds: Positive
    timeout_s: float


class LearningFile(Record):
    """One execution of `jaxmark learn`."""

    kind: Literal["learning"]
    schema_version: int
    run: LearningRun
    environment: Environment
    results: list[TaskResult]


def is_learning(path: Path) -> bool:
    """Whether a file says that it holds times to a target."""
    return loading.kind(path) == KIND


def load(path: Path) -> LearningFile:
    """Reads a file of `jaxmark learn`.

    Raises:
        ResultFileError: says what was expected, what was found and where.
    """
    data = loading.read(path)
    try:
        file = msgspec.json.decode(data, type=LearningFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultFileError(f"{path} is not a valid file of `jaxmark learn`: {error}.") from error
    if file.schema_version > SCHEMA_VERSION:
        raise ResultFileError(
            f"{path} has schema version {file.schema_version}, and this jaxmark reads up to "
            f"{SCHEMA_VERSION}. Update jaxmark to read it."
        )
    return file
