"""Rounds, K, caches, budget, interrupts and resuming, with fake workers and a real store."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from suite.analysis.summary import fold
from suite.errors import StorageError
from suite.record.schema import Failure, Outcome, Process, ResultFile
from suite.record.store import Store, load
from suite.run.orchestrator import run
from suite.run.protocol import Job
from suite.run.schedule import Plan
from tests.builders import case, failure, header, process
from tests.run.fakes import FakeWorkers, Heard, new_store

A, B, C = case(batch=1), case(batch=2), case(batch=3)


def interrupt(job: Job) -> Process | Failure:
    raise KeyboardInterrupt


def fail(job: Job) -> Process | Failure:
    return failure(job.index, status="oom", reason="too large")


def statuses(result: ResultFile) -> list[str]:
    return [one.status for one in result.results]


def counts(result: ResultFile) -> list[int]:
    return [len(one.processes) for one in result.results]


def test_every_case_runs_once_a_round(tmp_path: Path) -> None:
    store, heard, workers = new_store(tmp_path, header(A, B, processes_planned=3)), Heard(), FakeWorkers()
    result = run(Plan(expected_s={A.key: 9.0, B.key: 1.0}), store, heard, workers)
    assert heard.started[:2] == ["b2/0", "b1/0"]
    assert sorted(heard.started) == ["b1/0", "b1/1", "b1/2", "b2/0", "b2/1", "b2/2"]
    assert (statuses(result), counts(result), result.run.state) == (["ok", "ok"], [3, 3], "complete")
    assert heard.lines[0] == "run 2 cases, 0 done"
    assert heard.lines[-1] == "end complete"
    assert load(store.path, fold) == result
    assert not store.path.with_suffix(".journal").exists()


def test_block_steps_of_the_first_process_serve_the_others(tmp_path: Path) -> None:
    workers = FakeWorkers()
    run(Plan(), new_store(tmp_path, header(A, B, processes_planned=3)), Heard(), workers)
    asked = {(job.case.batch, job.index): job.block_steps for job in workers.jobs}
    assert asked == {(1, 0): None, (1, 1): 11, (1, 2): 11, (2, 0): None, (2, 1): 12, (2, 2): 12}


def test_only_the_first_process_of_a_case_is_verified(tmp_path: Path) -> None:
    workers = FakeWorkers()
    run(Plan(), new_store(tmp_path, header(A, processes_planned=3)), Heard(), workers)
    assert [job.verify for job in workers.jobs] == [True, False, False]


def test_the_job_carries_what_the_run_says(tmp_path: Path) -> None:
    head = header(A, processes_planned=1, seed=5)
    head.sources[A.key] = "net.py:make"
    workers = FakeWorkers()
    run(Plan(memory_limit_bytes=123), new_store(tmp_path, head), Heard(), workers)
    (job,) = workers.jobs
    assert (job.platform, job.seed, job.source, job.memory_limit_bytes) == ("cpu", 5, "net.py:make", 123)
    assert job.settings == head.run.settings


def test_a_cold_run_has_no_cache(tmp_path: Path) -> None:
    workers = FakeWorkers()
    run(Plan(), new_store(tmp_path, header(A, processes_planned=3)), Heard(), workers)
    assert {job.cache_dir for job in workers.jobs} == {None}


def test_a_cached_run_fills_a_fresh_cache_with_its_second_process(tmp_path: Path) -> None:
    seen: list[bool] = []

    def look(job: Job) -> Process | Failure:
        seen.append(Path(str(job.cache_dir)).is_dir())
        return process(job.index)

    workers = FakeWorkers({"b1/1": look, "b1/2": look, "b1/3": look})
    run(Plan(), new_store(tmp_path, header(A, processes_planned=4, compile_cache="cached")), Heard(), workers)
    folders = [job.cache_dir for job in workers.jobs]
    assert folders[0] is None
    assert len(set(folders[1:])) == 1
    assert seen == [True, True, True]
    assert not Path(str(folders[1])).exists()


def test_a_failed_case_is_a_row_and_is_not_tried_again(tmp_path: Path) -> None:
    heard, workers = Heard(), FakeWorkers({"b2/1": fail})
    result = run(Plan(), new_store(tmp_path, header(A, B, C, processes_planned=3)), heard, workers)
    assert (statuses(result), counts(result)) == (["ok", "oom", "ok"], [3, 1, 3])
    assert result.run.state == "complete"
    assert "b2/2" not in heard.started


def test_the_budget_stops_between_processes_and_leaves_skipped_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("suite.run.orchestrator.time.monotonic", lambda: now[0])

    def slow(job: Job) -> Process | Failure:
        now[0] += 10.0
        return process(job.index)

    heard, workers = Heard(), FakeWorkers({"b1/0": slow, "b2/0": slow, "b3/0": slow})
    result = run(Plan(budget_s=15.0), new_store(tmp_path, header(A, B, C)), heard, workers)
    assert heard.started == ["b1/0", "b2/0"]
    assert heard.lines[-1] == "end budget"
    assert (statuses(result), result.run.state) == (["ok", "ok", "skipped"], "interrupted")


def test_a_case_that_would_outlast_the_budget_makes_way_for_cheaper_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("suite.run.orchestrator.time.monotonic", lambda: now[0])

    def lasting(seconds: float) -> Callable[[Job], Process | Failure]:
        def take(job: Job) -> Process | Failure:
            now[0] += seconds
            return process(job.index, duration_s=seconds)

        return take

    workers = FakeWorkers(
        {f"b1/{i}": lasting(1.0) for i in range(3)} | {f"b2/{i}": lasting(20.0) for i in range(3)}
    )
    result = run(
        Plan(budget_s=30.0), new_store(tmp_path, header(A, B, processes_planned=3)), Heard(), workers
    )
    assert counts(result) == [3, 1]
    assert now[0] <= 30.0
    assert result.run.state == "interrupted"


def test_an_interrupt_finishes_the_file_with_what_there_is(tmp_path: Path) -> None:
    store, heard = new_store(tmp_path, header(A, B, processes_planned=2)), Heard()
    result = run(Plan(), store, heard, FakeWorkers({"b2/0": interrupt}))
    assert heard.lines[-2:] == ["stopping", "end interrupted"]
    assert (statuses(result), result.run.state) == (["ok", "skipped"], "interrupted")
    assert load(store.path, fold) == result
    assert not store.path.with_suffix(".journal").exists()


def test_signals_are_as_before_after_a_run(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run(Plan(), new_store(tmp_path, header(A)), Heard(), FakeWorkers({"b1/0": interrupt}))
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_polite_kill_is_an_interrupt(tmp_path: Path) -> None:
    def terminate(job: Job) -> Process | Failure:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the signal was not delivered")

    result = run(Plan(), new_store(tmp_path, header(A)), Heard(), FakeWorkers({"b1/0": terminate}))
    assert result.run.state == "interrupted"


def test_an_interrupt_while_a_process_is_stored_waits_until_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path, header(A, B))

    def interrupted(outcome: Outcome) -> None:
        store._journal.append(outcome)
        signal.raise_signal(signal.SIGINT)  # between the journal's line and the list in memory
        store.outcomes.append(outcome)

    monkeypatch.setattr(store, "append", interrupted)
    result = run(Plan(), store, Heard(), FakeWorkers())
    assert (counts(result), result.run.state) == ([1, 0], "interrupted")


def test_a_second_interrupt_ends_the_program_at_once(tmp_path: Path) -> None:
    heard = Heard()
    seen: list[object] = []
    heard.stopping = lambda: seen.extend(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))  # type: ignore[method-assign]
    run(Plan(), new_store(tmp_path, header(A)), heard, FakeWorkers({"b1/0": interrupt}))
    assert seen == [signal.SIG_DFL, signal.SIG_DFL]


def test_resuming_does_only_what_is_missing_with_the_same_block_steps(tmp_path: Path) -> None:
    store = new_store(tmp_path, header(A, B, C, processes_planned=3))
    run(Plan(), store, Heard(), FakeWorkers({"b3/0": fail, "b2/1": interrupt}))
    first = load(store.path, fold)
    heard, workers = Heard(), FakeWorkers()
    again = Store.resume(store.path, fold)
    result = run(Plan(), again, heard, workers)
    assert (statuses(result), counts(result)) == (["ok", "ok", "oom"], [3, 3, 0])
    done = sum(counts(first))
    assert len(workers.jobs) == 6 - done
    assert {job.block_steps for job in workers.jobs} == {11, 12}
    assert not any(job.verify for job in workers.jobs)
    for before, after in zip(first.results, result.results, strict=True):
        assert before.processes == after.processes[: len(before.processes)]
        assert [p.index for p in after.processes] == sorted({p.index for p in after.processes})


def test_a_journal_alone_can_be_resumed(tmp_path: Path) -> None:
    store = new_store(tmp_path, header(A, processes_planned=2))
    workers = FakeWorkers()
    store.append(
        workers(
            Job(case=A, index=0, platform="cpu", seed=0, settings=store.header.run.settings),
            1.0,
            print,
            print,
        )
    )
    store.close()
    result = run(Plan(), Store.resume(store.path.with_suffix(".journal"), fold), Heard(), FakeWorkers())
    assert counts(result) == [2]


def test_the_file_is_whole_after_each_round(tmp_path: Path) -> None:
    store = new_store(tmp_path, header(A, B, processes_planned=2))
    seen: list[ResultFile] = []

    def look(job: Job) -> Process | Failure:
        seen.append(msgspec.json.decode(store.path.read_bytes(), type=ResultFile))
        return process(job.index)

    run(Plan(), store, Heard(), FakeWorkers({"b1/1": look}))
    assert seen[0].run.state == "running"
    assert counts(seen[0]) == [1, 1]


def test_a_full_disk_ends_the_run_and_loses_nothing_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path, header(A, B, processes_planned=2))
    append = store.append

    def full(outcome: Outcome) -> None:
        if len(store.outcomes) == 3:
            raise StorageError("the disk is full")
        append(outcome)

    monkeypatch.setattr(store, "append", full)
    with pytest.raises(StorageError):
        run(Plan(), store, Heard(), FakeWorkers())
    store.close()
    assert sum(counts(load(store.path, fold))) == 3
