"""Every way for a worker to end, with small programs in its place that end so for real."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from suite.record.schema import MeasureSettings, Outcome, Stage, to_json
from suite.run.attempt import attempt
from suite.run.protocol import Done, Job, Progress
from tests.builders import case, outcome, process

A = case()
JOB = Job(case=A, index=0, platform="cpu", seed=0, settings=MeasureSettings())
SAY = """
import json, os, signal, subprocess, sys, time
def say(**message): print(json.dumps(message), flush=True)
job = json.loads(sys.stdin.readline())
say(type="progress", stage="import")
say(type="progress", stage="compile")
"""


def ended(script: str, timeout_s: float = 30.0, stages: list[Stage] | None = None) -> Outcome:
    heard: list[Stage] = [] if stages is None else stages
    return attempt(JOB, timeout_s, heard.append, lambda: None, [sys.executable, "-c", SAY + script])


def failed(script: str, timeout_s: float = 30.0) -> tuple[str, str, str | None]:
    found = ended(script, timeout_s)
    assert found.process is None
    assert found.failure is not None
    assert (found.key, found.index, found.failure.stage) == (A.key, 0, "compile")
    return found.failure.status, found.failure.reason, found.failure.log_tail


def test_an_outcome_comes_back_as_it_was_sent() -> None:
    sent = outcome(A, process(0))
    stages: list[Stage] = []
    line = to_json(Done(outcome=sent)).decode()
    assert ended(f"print({line!r}, flush=True)", stages=stages) == sent
    assert stages == ["import", "compile"]


def test_the_job_arrives_whole_and_input_stays_open() -> None:
    script = f"""
assert job["case"]["workload"] == "mlp", job
import select
assert not select.select([0], [], [], 0.2)[0], "standard input was closed"
print({to_json(Done(outcome=outcome(A, process(0)))).decode()!r}, flush=True)
"""
    assert ended(script).process is not None


def test_a_worker_that_hangs_is_ended_at_the_limit() -> None:
    began = time.monotonic()
    status, reason, _ = failed("time.sleep(60)", timeout_s=1.0)
    assert time.monotonic() - began < 20
    assert status == "timeout"
    assert reason == "still running after 1.0 s, the time limit of a process (--timeout)"


def test_what_a_worker_started_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    failed(
        f"child = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(file)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)",
        timeout_s=1.5,
    )
    pid = int(file.read_text())
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the worker's own child outlived it")


def test_a_child_that_holds_the_pipes_open_does_not_hold_the_run() -> None:
    began = time.monotonic()
    status, _, _ = failed("subprocess.Popen(['sleep', '20'], start_new_session=True); os._exit(3)")
    assert status == "crashed"
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGKILL", "SIGTERM"])
def test_a_signal_is_named(name: str) -> None:
    status, reason, _ = failed(f"os.kill(os.getpid(), signal.{name})")
    assert status == "crashed"
    assert reason.startswith(f"killed by {name}")


def test_a_kill_by_the_kernel_for_memory_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([3, 4])
    monkeypatch.setattr("suite.run.attempt.oom_kills", lambda: next(counts))
    status, reason, _ = failed("os.kill(os.getpid(), signal.SIGKILL)")
    assert status == "oom"
    assert "the kernel killed the process (SIGKILL)" in reason


def test_an_abort_for_memory_is_no_crash() -> None:
    script = "print('terminate called: std::bad_alloc', file=sys.stderr, flush=True); os.abort()"
    status, reason, log = failed(script)
    assert status == "oom"
    assert reason == "memory ran out: terminate called: std::bad_alloc"
    assert log is not None
    assert "std::bad_alloc" in log


def test_an_exit_without_a_word() -> None:
    assert failed("sys.exit(0)")[:2] == (
        "crashed",
        "ended with exit code 0 and no result; its last words: nothing",
    )
    status, reason, _ = failed("raise ValueError('no such thing')")
    assert status == "crashed"
    assert reason.endswith("its last words: ValueError: no such thing")


def test_noise_on_the_protocols_line_is_kept_in_the_log() -> None:
    _, _, log = failed(
        "print('hello from C', flush=True)\n"
        "sys.stdout.buffer.write(b'\\xff{}\\n')\n"
        "sys.stdout.flush()\n"
        "os._exit(1)"
    )
    assert log is not None
    assert "hello from C" in log


def test_a_flood_on_standard_error_is_bounded() -> None:
    script = (
        "for _ in range(20_000): sys.stderr.write('x' * 1000 + '\\n')\n"
        "print('the end', file=sys.stderr, flush=True)\n"
        "os._exit(1)"
    )
    _, reason, log = failed(script)
    assert reason.endswith("the end")
    assert log is not None
    assert len(log) <= 4000


def test_a_worker_that_will_not_leave_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.run.attempt._GOODBYE_SECONDS", 0.5)
    sent = outcome(A, process(0))
    began = time.monotonic()
    assert ended(f"print({to_json(Done(outcome=sent)).decode()!r}, flush=True); time.sleep(60)") == sent
    assert time.monotonic() - began < 20


def test_an_interrupt_ends_the_worker_and_passes_through(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = (
        SAY
        + f"open({str(file)!r}, 'w').write(str(os.getpid()))\n"
        + "say(type='progress', stage='blocks')\n"
        + "time.sleep(60)"
    )

    def interrupt(stage: Stage) -> None:
        if stage == "blocks":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(JOB, 30.0, interrupt, lambda: None, [sys.executable, "-c", script])
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


def test_ctrl_c_while_waiting_reaches_the_caller_not_the_worker() -> None:
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        failed("time.sleep(60)")
    timer.join()


def test_it_ticks_while_there_is_no_news() -> None:
    ticks: list[float] = []
    attempt(
        JOB,
        2.2,
        lambda stage: None,
        lambda: ticks.append(time.monotonic()),
        [sys.executable, "-c", SAY + "time.sleep(60)"],
    )
    assert 1 <= len(ticks) <= 6  # 2.2 seconds, one each half, the last one cut short


def test_progress_is_the_protocols_own() -> None:
    assert to_json(Progress(stage="import")) == b'{"type":"progress","stage":"import"}'
