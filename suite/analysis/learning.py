"""From attempts to reach a target to the figures of a task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from suite.analysis.stats import median_of_sorted
from suite.errors import ResultFileError
from suite.record import learning
from suite.record.learning import Attempt, Summary, TaskResult
from suite.spec.learning import Task


def result_of(task: Task, attempts: Sequence[Attempt]) -> TaskResult:
    """A task's result; none of its attempts is dropped."""
    return TaskResult(
        task=task, key=task.key, attempts=list(attempts), summary=summarise(task.measure, attempts)
    )


def summarise(measure: str, attempts: Sequence[Attempt]) -> Summary:
    """Median and range over the attempts.

    An attempt that has not reached the target counts as slower than every other, so that leaving
    out the slow ones makes nobody look fast. Those that broke down say nothing of the speed, but
    count in the same way: a target that is not reached is not reached.
    """
    steps = [float(one.steps) if _reached(one) and one.steps is not None else math.inf for one in attempts]
    seconds = [one.train_s if _reached(one) and one.train_s is not None else math.inf for one in attempts]
    values = [seen.value for one in attempts for seen in one.evaluations if seen.value is not None]
    best = max if measure == "accuracy" else min
    low, high = _finite(min(steps, default=math.inf)), _finite(max(steps, default=math.inf))
    return Summary(
        attempts=len(attempts),
        reached=sum(map(_reached, attempts)),
        steps=_finite(median_of_sorted(sorted(steps))) if steps else None,
        steps_low=None if low is None else int(low),
        steps_high=None if high is None else int(high),
        train_s=_finite(median_of_sorted(sorted(seconds))) if seconds else None,
        train_s_low=_finite(min(seconds, default=math.inf)),
        train_s_high=_finite(max(seconds, default=math.inf)),
        best=best(values) if values else None,
    )


def problems(path: Path) -> list[str]:
    """Lists what is wrong with a file of `jaxmark learn`, down to its derived figures."""
    try:
        file = learning.load(path)
    except ResultFileError as error:
        return [str(error)]
    found = []
    for number, stored in enumerate(file.results):
        derived = result_of(stored.task, stored.attempts)
        if stored != derived:
            found.append(f"results[{number}]: key or summary are not those of its task and attempts")
    return found


def _reached(attempt: Attempt) -> bool:
    return attempt.status == "reached"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
