"""`jaxmark learn` and what `jaxmark show` prints of its files: seconds and steps to a target."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from rich.console import Console

from suite.errors import ConfigError
from suite.record.learning import Attempt, Evaluation, LearningFile, Summary, TaskResult
from suite.report import units
from suite.report.rows import to_tsv
from suite.report.show import device_name
from suite.report.text import Cell, Page
from suite.spec.learning import Task
from suite.spec.patterns import matches

_NA = "n/a"
_QUIET_SECONDS = 10.0


class Progress:
    """Says on the console what is going on: a line for each process, and one at times in a long one."""

    def __init__(self, console: Console) -> None:
        self._page = Page(console)
        self._said = 0.0

    def started(self, task: Task, seed: int) -> None:
        """Names the task and the seed."""
        self._page.line(f"{task.key}, seed {seed}")
        self._said = time.monotonic()

    def evaluated(self, task: Task, evaluation: Evaluation) -> None:
        """Says how far training has come, now and then."""
        if time.monotonic() - self._said < _QUIET_SECONDS:
            return
        self._said = time.monotonic()
        value = _value(task, evaluation.value)
        self._page.line(f"{evaluation.steps:,} steps: {value}; target {_target(task)}", indent=2)

    def ended(self, task: Task, attempt: Attempt) -> None:
        """Says what came of it."""
        self._page.line(_outcome(task, attempt), indent=2)


def show_learning(file: LearningFile, console: Console, only: str | None = None) -> None:
    """Prints a row for each task; with `only`, each attempt of the tasks whose key matches.

    Raises:
        ConfigError: no task matches.
    """
    page, results = Page(console), _select(file, only)
    run, software = file.run, file.environment.software
    page.heading(f"{run.config} on {device_name(file.environment)}: time to a target")
    page.line(
        f"run       {run.state}, started {run.started_at}, jaxmark {run.suite_version}, jax {software.jax}"
    )
    console.print()
    page.table(
        ("task", "target", "reached", "seconds", "steps", "best"),
        [_row(result) for result in results],
        wraps=0,
    )
    _not_reached(page, results)
    _data(page, results)
    page.heading("How to read it")
    page.line(
        "Median over the seeds, each a fresh process, with the range in brackets. A seed that has not "
        "reached the target counts as slower than any that has. Seconds are those of training: drawing "
        "batches, moving them to the device, taking steps. Compiling and evaluating are not in them; both "
        "are in the file. Steps are those at the first evaluation that met the target.",
        indent=2,
    )
    if only is not None:
        for result in results:
            _attempts(page, result)


def as_json(file: LearningFile) -> str:
    """The whole file, as it is stored."""
    return msgspec.json.format(msgspec.json.encode(file), indent=2).decode()


def as_tsv(file: LearningFile, only: str | None = None) -> str:
    """A row for each attempt, for scripts.

    Raises:
        ConfigError: no task matches.
    """
    rows = [
        {
            "key": result.key,
            "seed": one.seed,
            "status": one.status,
            "steps": one.steps,
            "train_s": one.train_s,
            "evaluate_s": one.evaluate_s,
            "value": one.evaluations[-1].value if one.evaluations else None,
        }
        for result in _select(file, only)
        for one in result.attempts
    ]
    return to_tsv(rows)


def _select(file: LearningFile, only: str | None) -> list[TaskResult]:
    found = [result for result in file.results if only is None or matches(result.key, only)]
    if not found:
        keys = "\n  ".join(result.key for result in file.results)
        raise ConfigError(f"--case {only!r} matches no task. The tasks:\n  {keys}")
    return found


def _row(result: TaskResult) -> list[Cell]:
    summary, task = result.summary, result.task
    all_reached = summary.attempts == summary.reached
    return [
        f"{task.data}/{task.case.key}",
        _target(task),
        (f"{summary.reached} of {summary.attempts}", "green" if all_reached else "red"),
        _range(summary, units.significant, summary.train_s, summary.train_s_low, summary.train_s_high),
        _range(summary, "{:,g}".format, summary.steps, summary.steps_low, summary.steps_high),
        _value(task, summary.best),
    ]


def _range(
    summary: Summary,
    write: Callable[[float], str],
    middle: float | None,
    low: float | None,
    high: float | None,
) -> str:
    """'1.20 (1.10-1.31)', '1.20 (1.10-not reached)', 'not reached'."""
    if low is None:
        return "target not reached" if summary.attempts else _NA
    ends = f"{write(low)}-{'not reached' if high is None else write(high)}"
    return f"{'not reached' if middle is None else write(middle)} ({ends})"


def _target(task: Task) -> str:
    words = "accuracy at least" if task.measure == "accuracy" else "loss at most"
    return f"{words} {_value(task, task.target)}"


def _value(task: Task, value: float | None) -> str:
    if value is None:
        return _NA
    return f"{value:.2%}" if task.measure == "accuracy" else f"{value:.3f}"


def _outcome(task: Task, attempt: Attempt) -> str:
    if attempt.status != "reached":
        return f"{_status(attempt)}: {attempt.reason or 'no reason given'}"
    value = _value(task, attempt.evaluations[-1].value)
    return f"{value} after {attempt.steps or 0:,} steps and {units.significant(attempt.train_s or 0.0)} s"


def _status(attempt: Attempt) -> str:
    return "target not reached" if attempt.status == "not_reached" else attempt.status


def _not_reached(page: Page, results: list[TaskResult]) -> None:
    missed = [(result, one) for result in results for one in result.attempts if one.status != "reached"]
    if missed:
        page.heading("Target not reached")
    for result, one in missed:
        page.line(f"{result.key}, seed {one.seed}: {_outcome(result.task, one)}", indent=2)


def _data(page: Page, results: list[TaskResult]) -> None:
    found = {
        (result.task.data, one.data.sha256): one.data
        for result in results
        for one in result.attempts
        if one.data is not None
    }
    if found:
        page.heading("Data")
    for (name, _), data in found.items():
        page.line(
            f"{name}: {data.source}; {data.train_items:,} {data.item}s to train on and "
            f"{data.held_out_items:,} held out; {data.division}; sha256 {data.sha256[:16]}",
            indent=2,
        )


def _attempts(page: Page, result: TaskResult) -> None:
    page.heading(result.key)
    rows = []
    for one in result.attempts:
        compiled = one.compile
        parts = (compiled.trace_ns, compiled.lower_ns, compiled.compile_ns) if compiled else ()
        rows.append(
            [
                str(one.seed),
                _status(one),
                _NA if one.steps is None else f"{one.steps:,}",
                _NA if one.train_s is None else units.significant(one.train_s),
                _NA if one.evaluate_s is None else units.significant(one.evaluate_s),
                units.time_ns(sum(part or 0 for part in parts)) if parts else _NA,
                _value(result.task, one.evaluations[-1].value if one.evaluations else None),
            ]
        )
    page.table(
        ("seed", "status", "steps", "training s", "evaluating s", "compile", "last"), rows, (0, 1), indent=2
    )
