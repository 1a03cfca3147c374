"""The command around the training: what is stored when, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from suite.analysis.files import load, problems
from suite.cli import main
from suite.errors import ResultFileError, StorageError
from suite.learning import running
from suite.learning.protocol import Job
from suite.record import learning
from suite.record.learning import Attempt, Evaluation, LearningFile
from suite.report.learning import Progress
from suite.report.text import make_console
from suite.spec.learning import LearnConfig, Task
from tests.builders import case, environment

TASK = Task(data="digits", case=case(), measure="accuracy", target=0.97, limit_steps=100, evaluate_every=10)
REACHED_AFTER = {0: 40, 1: 20, 2: 60}


def config(seeds: int = 3) -> LearnConfig:
    return LearnConfig(
        name="learn", sha256="0" * 64, description="", seeds=seeds, timeout_s=60.0, tasks=(TASK,)
    )


def attempt(seed: int, steps: int | None) -> Attempt:
    """Reaches the target after `steps`, 0.1 s each; never for None."""
    taken = 100 if steps is None else steps
    value = 0.95 if steps is None else 0.98
    return Attempt(
        seed=seed,
        started_at="2026-01-01T00:00:00Z",
        duration_s=9.0,
        status="not_reached" if steps is None else "reached",
        reason="accuracy 0.95 after 100 steps, which is the limit" if steps is None else None,
        steps=taken,
        train_s=taken / 10,
        evaluate_s=0.5,
        evaluations=[
            Evaluation(steps=0, train_s=0.0, value=0.1),
            Evaluation(steps=taken, train_s=taken / 10, value=value),
        ],
    )


def ran(folder: Path, attempting: running.Attempting) -> tuple[LearningFile, Path]:
    file = running.new_file(config(), environment(), ["jaxmark", "learn"])
    path = running.path_of(file, folder)
    return running.run(file, path, Progress(make_console()), attempting), path


def test_the_file_is_whole_after_each_process(tmp_path: Path) -> None:
    stored: list[int] = []

    def attempting(job: Job, timeout_s: float, listen: Callable[[Evaluation], None]) -> Attempt:
        (path,) = tmp_path.glob("*/learning/*-learn-*.json")
        file = learning.load(path)
        stored.append(len(file.results[0].attempts))
        assert file.run.state == "running"
        return attempt(job.seed, REACHED_AFTER[job.seed])

    file, path = ran(tmp_path, attempting)
    assert stored == [0, 1, 2]
    assert learning.load(path) == file
    assert file.run.state == "complete"
    summary = file.results[0].summary
    assert (summary.reached, summary.steps, summary.steps_low, summary.steps_high) == (3, 40, 20, 60)
    assert (summary.train_s, summary.train_s_low, summary.train_s_high) == (4.0, 2.0, 6.0)


def test_a_seed_that_does_not_reach_the_target_is_a_row_and_counts_as_slowest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = ran(tmp_path, lambda job, *_: attempt(job.seed, None if job.seed == 1 else 40))
    summary = file.results[0].summary
    assert (summary.attempts, summary.reached, summary.steps, summary.steps_high) == (3, 2, 40, None)
    assert main(["show", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 of 3" in said
    assert "40 (40-not reached)" in said
    assert "seed 1: target not reached: accuracy 0.95 after 100 steps, which is the limit" in said


def test_most_seeds_without_the_target_leave_no_median(tmp_path: Path) -> None:
    file, _ = ran(tmp_path, lambda job, *_: attempt(job.seed, 40 if job.seed == 1 else None))
    summary = file.results[0].summary
    assert (summary.steps, summary.train_s, summary.steps_low, summary.best) == (None, None, 40, 0.98)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    def attempting(job: Job, timeout_s: float, listen: Callable[[Evaluation], None]) -> Attempt:
        if job.seed == 1:
            raise KeyboardInterrupt
        return attempt(job.seed, 40)

    file, path = ran(tmp_path, attempting)
    assert file.run.state == "interrupted"
    assert [one.seed for one in learning.load(path).results[0].attempts] == [0]


def test_a_folder_that_cannot_be_written_is_said_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="choose another folder with --out DIR"):
        ran(tmp_path / "file", lambda *_: pytest.fail("trained"))


def test_it_is_not_taken_for_step_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, path = ran(tmp_path, lambda job, *_: attempt(job.seed, 40))
    capsys.readouterr()
    with pytest.raises(ResultFileError, match="expected step times, found times to a target"):
        load(path)
    assert main(["compare", str(path), str(path)]) == 2
    assert "`jaxmark show` prints them" in capsys.readouterr().err


def test_scripts_get_a_row_for_each_attempt_or_the_whole_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = ran(tmp_path, lambda job, *_: attempt(job.seed, 40))
    capsys.readouterr()
    assert main(["show", "--format", "tsv", str(path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split("\t")[:4] == ["key", "seed", "status", "steps"]
    assert [row.split("\t")[2:4] for row in rows[1:]] == [["reached", "40"]] * 3
    assert main(["show", "--format", "json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["key"] == TASK.key
    assert main(["show", "--case", "digits/*", str(path)]) == 0
    assert "evaluating s" in capsys.readouterr().out
    assert main(["show", "--case", "prose/*", str(path)]) == 2
    assert file.kind == "learning"


def test_validate_finds_a_summary_that_is_not_its_attempts_own(tmp_path: Path) -> None:
    _, path = ran(tmp_path, lambda job, *_: attempt(job.seed, 40))
    assert problems(path) == []
    path.write_text(path.read_text().replace('"train_s_low": 4.0', '"train_s_low": 3.0'))
    assert problems(path) == ["results[0]: key or summary are not those of its task and attempts"]
    path.write_text(path.read_text().replace('"status": "reached"', '"status": "fine"'))
    assert "is not a valid file of `jaxmark learn`" in problems(path)[0]
