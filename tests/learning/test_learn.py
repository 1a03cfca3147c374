"""Real training in real processes, as short as can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suite.learning import attempt as attempts
from suite.learning import training
from suite.learning.protocol import Job
from suite.record import learning
from suite.spec import catalogue
from suite.spec.learning import Task
from tests.run.command import jaxmark

TEXT = """
[learn]
seeds = 1

[[task]]
data = "prose"
workload = "gpt"
preset = "smoke"
precision = "fp32"
layers = "unroll"
loss = {loss}
limit_steps = 12
evaluate_every = 5
"""
MLP = catalogue.resolve("mlp", preset="digits", mode="train", precision="fp32")
DIGITS = Task(data="digits", case=MLP, measure="accuracy", target=0.8, limit_steps=100, evaluate_every=10)


def test_a_target_out_of_reach_is_a_row_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TEXT.format(loss=0.5))
    code, out, err = jaxmark(tmp_path, "learn", "mine.toml", "--machine", "test")
    assert (code, err) == (1, "")
    assert "target not reached: loss" in out
    (path,) = (tmp_path / "results").glob("*/learning/*-mine-*.json")
    (one,) = learning.load(path).results[0].attempts
    assert [seen.steps for seen in one.evaluations] == [0, 5, 10, 12]
    values = [seen.value for seen in one.evaluations if seen.value is not None]
    assert values[-1] < values[0] < 5.0
    seconds = [seen.train_s for seen in one.evaluations]
    assert seconds[0] == 0.0
    assert seconds == sorted(seconds)
    assert one.train_s == seconds[-1]
    assert one.compile is not None
    assert one.compile.compile_ns
    assert one.data is not None
    assert one.data.source.endswith("pydoc_data.topics")
    assert jaxmark(tmp_path, "validate", str(path))[0] == 0


def test_digits_are_learnt_from_what_the_benchmark_measures() -> None:
    pytest.importorskip("sklearn")
    told = []
    found = training.train(DIGITS, 0, told.append)
    assert (found.status, found.evaluations) == ("reached", told)
    assert found.steps is not None
    assert 10 <= found.steps <= 100
    assert found.evaluations[-1].value is not None
    assert found.evaluations[-1].value >= 0.8


def test_a_worker_that_dies_and_one_that_takes_too_long_are_rows() -> None:
    job = Job(task=DIGITS, seed=3, platform="cpu")
    dead = attempts.attempt(job, 30.0, lambda _: None, command=("python3", "-c", "raise SystemExit(7)"))
    assert (dead.status, dead.seed) == ("crashed", 3)
    assert "exit code 7" in (dead.reason or "")
    late = attempts.attempt(job, 0.2, lambda _: None, command=("sleep", "60"))
    assert (late.status, late.reason) == (
        "timeout",
        "still training after 0.2 s, the time limit of a process",
    )


def test_what_is_evaluated_is_the_plain_loss_and_the_share_of_right_answers() -> None:
    logits = np.array([[[2.0, 0.0], [0.0, 1.0]]], dtype=np.float32)
    targets = np.array([[0, 0]])
    expected = (np.log1p(np.exp(-2)) + np.log1p(np.exp(1))) / 2
    assert training.cross_entropy(logits, targets) == pytest.approx(expected)
    assert training.accuracy(logits, targets) == 0.5
    assert np.isnan(training.accuracy(logits * np.nan, targets))
