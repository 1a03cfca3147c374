"""Real workers, real signals, real files: what a run leaves when things go wrong."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.files import load, problems
from suite.record.schema import MeasureSettings, Result, ResultFile, Stage
from suite.run.attempt import attempt
from suite.run.protocol import Job
from suite.spec.sources import own_case, own_name
from tests.run.command import (
    BRIEF,
    OWN,
    descendants,
    is_running,
    jaxmark,
    journal_lines,
    only_result,
    result_paths,
    start,
    wait_for,
)

ONE_CASE = ["--workload", "linear", "--preset", "smoke", "--batch", "8", *BRIEF]
TWO_CASES = ["--workload", "linear", "--preset", "smoke", "--batch", "8,16", *BRIEF]


@pytest.fixture(scope="module")
def unlucky(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, Path, ResultFile]:
    """One run of eight workloads, six of which go wrong, each in its own way."""
    folder = tmp_path_factory.mktemp("unlucky")
    code, out, _ = jaxmark(folder, "run", str(OWN / "bad_luck.toml"))
    path, result = only_result(folder / "results")
    return code, out, path, result


def row(run: tuple[int, str, Path, ResultFile], name: str) -> Result:
    (found,) = (one for one in run[3].results if one.case.workload == f"tiny:{name}")
    return found


@pytest.mark.parametrize(
    ("name", "status", "stage", "reason"),
    [
        ("huge", "oom", "first_call", "Out of memory allocating"),
        ("segfaults", "crashed", "first_call", "killed by SIGSEGV"),
        ("is_killed", "crashed", "first_call", "killed by SIGKILL"),
        ("not_a_number", "not_finite", "first_call", "nan"),
        ("raises", "error", "build", "RuntimeError: the user's own mistake"),
        ("hangs", "timeout", "first_call", "still running after 15 s"),
    ],
)
def test_each_misfortune_is_a_row_with_its_status(
    unlucky: tuple[int, str, Path, ResultFile], name: str, status: str, stage: str, reason: str
) -> None:
    found = row(unlucky, name)
    (failure,) = found.failures
    assert (found.status, failure.status, failure.stage) == (status, status, stage)
    assert reason in failure.reason
    assert found.processes == []


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
def test_a_worker_runs_out_of_its_own_limit_before_the_machine_does() -> None:
    source = f"{OWN / 'tiny.py'}:large"
    settings = MeasureSettings(warmup_seconds=0.02, block_seconds=0.02, latency_seconds=0.02)
    job = Job(
        case=own_case(own_name(source)),
        index=0,
        platform="cpu",
        seed=0,
        settings=settings,
        source=source,
        memory_limit_bytes=512 * 2**20,
    )
    stages: list[Stage] = []
    failure = attempt(job, 120.0, stages.append, lambda: None).failure
    assert failure is not None
    assert (failure.status, failure.stage) == ("oom", "first_call")
    assert stages == ["import", "build", "compile", "first_call"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raises_what_is_no_text", r"RuntimeError: no such file: \udcff.npz"),
        ("raises_what_cannot_be_printed", "Unspeakable: its message cannot be had (ValueError in __str__)"),
        ("exits", "SystemExit: bye"),
    ],
)
def test_whatever_users_code_raises_comes_back_with_its_traceback(name: str, reason: str) -> None:
    source = f"{OWN / 'tiny.py'}:{name}"
    job = Job(
        case=own_case(own_name(source)),
        index=0,
        platform="cpu",
        seed=0,
        settings=MeasureSettings(),
        source=source,
    )
    failure = attempt(job, 120.0, lambda stage: None, lambda: None).failure
    assert failure is not None
    assert (failure.status, failure.stage, failure.reason) == ("error", "build", reason)
    assert f"in {name}" in (failure.traceback or "")


def test_the_neighbours_are_as_if_it_had_not_been(unlucky: tuple[int, str, Path, ResultFile]) -> None:
    for name in ("good", "called"):
        found = row(unlucky, name)
        assert (found.status, len(found.processes), found.failures) == ("ok", 1, [])
    assert unlucky[0] == 1
    assert unlucky[3].run.state == "complete"


def test_the_users_code_says_what_its_case_is(unlucky: tuple[int, str, Path, ResultFile]) -> None:
    assert row(unlucky, "good").key == "tiny:good/own/own/own/b8/own/v3"
    assert row(unlucky, "called").key == "tiny:called/own/own/own/b-/own/v1/call"


def test_a_traceback_is_in_the_file_and_one_line_on_the_screen(
    unlucky: tuple[int, str, Path, ResultFile],
) -> None:
    _, out, _, _ = unlucky
    (failure,) = row(unlucky, "raises").failures
    assert failure.traceback is not None
    assert "in raises\n    raise RuntimeError" in failure.traceback
    assert "Traceback" not in out
    assert "RuntimeError: the user's own mistake" in out


def test_the_file_is_strict_json_and_valid(unlucky: tuple[int, str, Path, ResultFile]) -> None:
    _, _, path, _ = unlucky

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is no JSON")

    json.loads(path.read_text(), parse_constant=refuse)
    assert problems(path) == []
    assert not path.with_suffix(".journal").exists()


def test_a_run_that_measures_nothing_never_exits_0(tmp_path: Path) -> None:
    code, out, err = jaxmark(tmp_path, "run", "--workload", f"{OWN / 'tiny.py'}:raises")
    assert code == 1
    assert "nothing was measured" in err
    assert "Result file:" in out


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker through /proc")
@pytest.mark.parametrize("finished", [0, 2])
def test_a_killed_orchestrator_loses_no_finished_process(finished: int, tmp_path: Path) -> None:
    out = tmp_path / "results"
    with start(tmp_path, "run", *ONE_CASE, "--processes", "3") as run:
        wait_for(lambda: journal_lines(out) == 1 + finished and any(descendants(run.pid)), run)
        workers = list(descendants(run.pid))
        run.kill()
    for worker in workers:
        wait_for_end(worker)
    (journal,) = out.glob("*/*.journal")
    kept = load(journal).results[0].processes
    assert len(kept) == finished
    code, _, _ = jaxmark(tmp_path, "run", "--resume", str(journal))
    assert code == 0
    path, after = only_result(out)
    assert problems(path) == []
    assert after.run.state == "complete"
    processes = after.results[0].processes
    assert [process.index for process in processes] == [0, 1, 2]
    assert len({process.block_steps for process in processes}) == 1
    # What was finished before the kill is there as it was, and was not run again.
    assert processes[:finished] == kept
    data = path.read_bytes()
    code, said, _ = jaxmark(tmp_path, "run", "--resume", str(path))
    assert (code, "Nothing is missing" in said, path.read_bytes() == data) == (0, True, True)


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 30
    while is_running(pid):
        assert time.monotonic() < deadline, "the worker outlived its orchestrator"
        time.sleep(0.05)


def test_ctrl_c_once_finishes_the_file_and_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "results"
    with start(tmp_path, "run", *TWO_CASES, "--processes", "2") as run:
        wait_for(lambda: journal_lines(out) == 2, run)
        run.send_signal(signal.SIGINT)
        said, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    path, result = only_result(out)
    assert result.run.state == "interrupted"
    assert sorted(one.status for one in result.results) == ["ok", "skipped"]
    assert "interrupted" in said
    assert f"run --resume {path.relative_to(tmp_path)}" in said
    assert problems(path) == []
    code, said, _ = jaxmark(tmp_path, "run", "--resume", str(path), "--dry-run")
    assert (code, "3 processes" in said) == (0, True)


def test_the_budget_says_how_far_it_came_and_another_machine_cannot_go_on(tmp_path: Path) -> None:
    flags = ["--processes", "9", "--budget", "0.1s", "--machine", "one"]
    code, said, _ = jaxmark(tmp_path, "run", *TWO_CASES, *flags)
    path, before = only_result(tmp_path / "results")
    assert code == 0  # nothing failed; what a budget leaves undone is said, with the way to go on
    assert sorted(one.status for one in before.results) == ["ok", "skipped"]
    assert "Reached 0 to 1 of 9 processes a case." in said
    assert f"run --resume {path.relative_to(tmp_path)} --machine one" in said
    code, _, err = jaxmark(tmp_path, "run", "--resume", str(path), "--machine", "two")
    assert code == 2
    assert "machine_id: 'one' then, 'two' now" in err
    assert only_result(tmp_path / "results") == (path, before)
    assert problems(path) == []


def test_a_results_folder_that_cannot_be_is_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("I am a file")
    code, _, err = jaxmark(tmp_path, "run", *ONE_CASE)
    assert code == 2
    assert "results" in err
    assert "Nothing was measured" in err
    code, _, err = jaxmark(tmp_path, "run", *ONE_CASE, "--out", "/proc/nowhere")
    assert code == 2
    assert "/proc/nowhere" in err


def test_a_disk_that_fills_up_leaves_every_finished_process(tmp_path: Path) -> None:
    def little_room() -> None:
        # A header and a process or two.
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))

    code, _, err = jaxmark(tmp_path, "run", *ONE_CASE, "--processes", "30", preexec_fn=little_room)
    assert code == 2
    assert "journal" in err
    (journal,) = (tmp_path / "results").glob("*/*.journal")
    kept = load(journal)
    assert sum(len(one.processes) for one in kept.results) >= 1
    assert journal.read_bytes().endswith(b"\n")
    for path in result_paths(tmp_path / "results"):
        json.loads(path.read_bytes())
    assert not [name for name in os.listdir(journal.parent) if name.endswith(".tmp")]


def test_two_runs_into_one_folder_leave_two_files(tmp_path: Path) -> None:
    flags = ["run", *ONE_CASE, "--processes", "1"]
    with start(tmp_path, *flags) as first, start(tmp_path, *flags) as second:
        for run in (first, second):
            _, err = run.communicate(timeout=120)
            assert run.returncode == 0, err
    paths = result_paths(tmp_path / "results")
    assert len(paths) == 2
    assert [problems(path) for path in paths] == [[], []]
