"""Trains a workload of the catalogue on real data until it reaches a target.

The model, its loss, its optimiser and its compiled step are those that `jaxmark run` measures;
only the batches are real, and another one each step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import jax
import numpy as np

from suite.learning import data
from suite.learning.data import HostBatch
from suite.measurement.aot import AotStep
from suite.record.learning import Attempt, AttemptStatus, Evaluation
from suite.run.subject import initial
from suite.spec import catalogue
from suite.spec.learning import Task
from suite.workloads import build

Evaluate = Callable[[Any], float]
"""Takes the state of a training step and returns the accuracy or loss on the held-out data."""


def train(task: Task, seed: int, say: Callable[[Evaluation], None]) -> Attempt:
    """Trains from one seed until the target is reached, or the limit of steps.

    Args:
        task: what to learn.
        seed: of the initial state and of the order of the data.
        say: told of each evaluation.

    Raises:
        ConfigError: the data do not fit the workload.
        StepFailedError: the step cannot be compiled in place.
    """
    workload = build(task.case)
    state, like = initial(workload, seed)
    dims = catalogue.dims_of(task.case, catalogue.preset_of(task.case))
    dataset = data.load(task.data, dims, like)
    step = AotStep(workload.step, state, like)
    evaluate, evaluation_ns = _compile_evaluation(task, workload.forward, step.state(), dataset.held_out)
    batches = _on_device(dataset.batches(np.random.default_rng(seed), catalogue.batch_of(task.case)))
    attempt = _until(task, step, batches, evaluate, say)
    last = attempt.evaluations[-1]
    attempt.seed, attempt.data = seed, dataset.facts
    attempt.steps, attempt.train_s = last.steps, last.train_s
    attempt.compile, attempt.evaluation_compile_ns = step.program.compile, evaluation_ns
    return attempt


def _until(
    task: Task,
    step: AotStep,
    batches: Iterator[Any],
    evaluate: Evaluate,
    say: Callable[[Evaluation], None],
) -> Attempt:
    """Evaluates and trains in turn, each timed apart, until there is nothing more to find out."""
    seen: list[Evaluation] = []
    train_ns = evaluate_ns = steps = 0
    while True:
        began = time.perf_counter_ns()
        value = evaluate(step.state())
        evaluate_ns += time.perf_counter_ns() - began
        number = value if math.isfinite(value) else None
        seen.append(Evaluation(steps=steps, train_s=train_ns / 1e9, value=number))
        say(seen[-1])
        status, reason = _verdict(task, seen[-1])
        if status is not None:
            break
        count = min(task.evaluate_every, task.limit_steps - steps)
        began = time.perf_counter_ns()
        step.run_over(islice(batches, count))
        train_ns += time.perf_counter_ns() - began
        steps += count
    return Attempt(
        seed=0,
        started_at="",
        duration_s=0.0,
        status=status,
        reason=reason,
        evaluate_s=evaluate_ns / 1e9,
        evaluations=seen,
    )


def _verdict(task: Task, last: Evaluation) -> tuple[AttemptStatus | None, str | None]:
    """How an attempt has ended with its last evaluation, and why; None if it has not."""
    if last.value is None:
        return "not_finite", f"the {task.measure} is no number after {last.steps:,} steps"
    if task.reached_by(last.value):
        return "reached", None
    if last.steps >= task.limit_steps:
        return (
            "not_reached",
            f"{task.measure} {last.value:.4g} after {last.steps:,} steps, which is the limit",
        )
    return None, None


def _on_device(batches: Iterator[HostBatch]) -> Iterator[Any]:
    device = jax.devices()[0]
    return (jax.device_put(batch, device) for batch in batches)


def _compile_evaluation(task: Task, forward: Any, state: Any, held_out: HostBatch) -> tuple[Evaluate, int]:
    """Compiles the workload's own predictions for the whole of the held-out data."""
    batch = jax.device_put(held_out, jax.devices()[0])
    began = time.perf_counter_ns()
    predict = jax.jit(forward).lower(state, batch).compile()
    spent = time.perf_counter_ns() - began
    score = accuracy if task.measure == "accuracy" else cross_entropy
    return lambda state: score(np.asarray(predict(state, batch)), held_out["targets"]), spent


def accuracy(logits: np.ndarray, targets: np.ndarray) -> float:
    """The share of right answers: logits (..., classes), targets (...)."""
    return (
        float(np.mean(np.argmax(logits, axis=-1) == targets)) if np.isfinite(logits).all() else float("nan")
    )


def cross_entropy(logits: np.ndarray, targets: np.ndarray) -> float:
    """The mean cross-entropy in nats, labels not smoothed: logits (..., classes), targets (...)."""
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    normaliser = np.log(np.exp(shifted).sum(axis=-1))
    right = np.take_along_axis(shifted, targets[..., None], axis=-1)[..., 0]
    return float(np.mean(normaliser - right))
