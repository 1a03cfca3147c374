"""Configs of `jaxmark learn`: models that learn real data until they reach a target."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from suite.errors import ConfigError
from suite.spec import catalogue, config
from suite.spec.case import Case
from suite.spec.durations import parse_duration
from suite.spec.fields import LEARN, TASK, check_table
from suite.spec.patterns import matches
from suite.spec.places import Place, Text, find_lines

Measure = Literal["accuracy", "loss"]
_CASE_FIELDS = ("preset", "precision", "batch", "layers", "params")
_TABLES = ("learn", "task")


class Task(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model, real data and a target on the part of the data that it does not train on.

    Attributes:
        data: 'digits' or 'prose'.
        case: the training case whose model, optimiser and step learn; its own batch is not used.
        measure: 'accuracy' is the share of right answers, 'loss' the mean cross-entropy in nats,
            labels not smoothed.
        target: an accuracy of at least this, or a loss of at most this.
        limit_steps: training that has not reached the target by then has not reached it.
        evaluate_every: steps between two evaluations.
    """

    data: str
    case: Case
    measure: Measure
    target: float
    limit_steps: int
    evaluate_every: int

    @property
    def key(self) -> str:
        """The identity as one string, such as 'digits/accuracy>=0.97/mlp/digits/train/fp32/b64/unroll/v2'."""
        sign = ">=" if self.measure == "accuracy" else "<="
        return f"{self.data}/{self.measure}{sign}{self.target:g}/{self.case.key}"

    def reached_by(self, value: float) -> bool:
        """Whether an evaluation meets the target."""
        return value >= self.target if self.measure == "accuracy" else value <= self.target


@dataclass(frozen=True)
class LearnConfig:
    """What `jaxmark learn` is asked for.

    Attributes:
        sha256: of the file's bytes.
        seeds: fresh processes per task; process n draws everything from seed n.
        timeout_s: after which one process is ended, in seconds.
    """

    name: str
    sha256: str
    description: str
    seeds: int
    timeout_s: float
    tasks: tuple[Task, ...]


def load(path_or_name: str) -> LearnConfig:
    """Reads a config by its path, or by name from ./configs and then from those that ship.

    Raises:
        ConfigError: the file, or what it says, cannot be understood.
    """
    path = config.find(path_or_name)
    data, document = config.read_toml(path)
    text = Text(str(path), find_lines(data.decode()))
    _check(document, text)
    learn: Mapping[str, Any] = document.get("learn", {})
    tasks = [_task(table, text, number) for number, table in enumerate(document["task"], start=1)]
    keys = [task.key for task in tasks]
    for number, key in enumerate(keys, start=1):
        if keys.index(key) < number - 1:
            raise ConfigError(f"{text.at(Place('task', number))}: the task {key} is there twice.")
    return LearnConfig(
        name=path.stem,
        sha256=hashlib.sha256(data).hexdigest(),
        description=learn.get("description", ""),
        seeds=learn.get("seeds", 3),
        timeout_s=parse_duration(learn.get("timeout", "20m")),
        tasks=tuple(tasks),
    )


def with_overrides(
    found: LearnConfig, only: str | None, seeds: int | None, timeout: str | None
) -> LearnConfig:
    """Lays the flags of the command line on a config; None leaves it as it is.

    Args:
        found: the config.
        only: pattern of the keys of the tasks to keep.
        seeds: processes per task.
        timeout: of a process, such as '5m'.

    Raises:
        ConfigError: no task matches, or a value cannot be understood.
    """
    if seeds is not None and seeds < 1:
        raise ConfigError(f"expected --seeds to be at least 1, found {seeds}.")
    kept = tuple(task for task in found.tasks if only is None or matches(task.key, only))
    if not kept:
        keys = "\n  ".join(task.key for task in found.tasks)
        raise ConfigError(f"--only {only!r} matches no task of {found.name!r}. Its tasks:\n  {keys}")
    return replace(
        found,
        tasks=kept,
        seeds=found.seeds if seeds is None else seeds,
        timeout_s=found.timeout_s if timeout is None else parse_duration(timeout),
    )


def _check(document: Mapping[str, Any], text: Text) -> None:
    if "case" in document:
        raise ConfigError(f"{text.name} is a config of `jaxmark run`, which measures how long a step takes.")
    for name in document:
        if name not in _TABLES:
            raise ConfigError(f"{text.at(Place(name))}: unknown table. Known: [learn] and [[task]].")
    learn, tasks = document.get("learn", {}), document.get("task")
    if not isinstance(learn, dict):
        raise ConfigError(f"{text.at(Place('learn'))}: expected a table [learn].")
    check_table(learn, LEARN, text, Place("learn"))
    if not isinstance(tasks, list) or not tasks or not all(isinstance(table, dict) for table in tasks):
        raise ConfigError(
            f"{text.name}: no tasks. Expected [[task]] at least once, with two brackets each side."
        )
    for number, table in enumerate(tasks, start=1):
        check_table(table, TASK, text, Place("task", number))


def _task(table: Mapping[str, Any], text: Text, number: int) -> Task:
    where = text.at(Place("task", number))
    for key in ("data", "workload", "limit_steps", "evaluate_every"):
        if key not in table:
            raise ConfigError(f"{where}: no {key}. `configs/learn.toml` shows a task.")
    measures: list[Measure] = [name for name in ("accuracy", "loss") if name in table]
    if len(measures) != 1:
        raise ConfigError(f"{where}: expected one target, 'accuracy' or 'loss', found {len(measures)}.")
    fields = {key: table[key] for key in _CASE_FIELDS if key in table}
    try:
        case = catalogue.resolve(table["workload"], mode="train", **fields)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return Task(
        data=table["data"],
        case=case,
        measure=measures[0],
        target=float(table[measures[0]]),
        limit_steps=table["limit_steps"],
        evaluate_every=table["evaluate_every"],
    )
