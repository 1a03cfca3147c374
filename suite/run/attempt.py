"""One process of one case, from its job to its outcome, whatever happens in between."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from suite.record.schema import Failure, Outcome, Stage, Status, to_json
from suite.run.child import HERE, Place
from suite.run.limits import oom_kills
from suite.run.protocol import Done, Job, Message
from suite.run.worker_process import WORKER, Exit, WorkerProcess
from suite.spec.durations import format_duration

TICK_SECONDS = 0.5
_GOODBYE_SECONDS = 30.0  # for a worker that has spoken its last word to let go of the device
_MEMORY_RAN_OUT = re.compile(
    r".*(?:std::bad_alloc|RESOURCE_EXHAUSTED|MemoryError|[Oo]ut of memory|Cannot allocate memory).*"
)
_LOG_CHARACTERS = 4000


@dataclass
class _Heard:
    """What a worker has said. `returncode` stays None if it had to be ended."""

    outcome: Outcome | None = None
    stage: Stage = "start"
    returncode: int | None = None
    noise: list[str] = field(default_factory=list)


def attempt(
    job: Job,
    timeout_s: float,
    on_stage: Callable[[Stage], None],
    tick: Callable[[], None],
    command: Sequence[str] = WORKER,
    place: Place = HERE,
) -> Outcome:
    """Runs a job in a fresh worker and returns what came back.

    Args:
        job: what to measure.
        timeout_s: after which the worker is ended, whatever stage it is in.
        on_stage: hears of each stage that the worker enters.
        tick: called about twice a second while there is no news.
        command: that starts a worker.
        place: whose environment it gets.

    Raises:
        KeyboardInterrupt: passes through; the worker is ended first.
    """
    started_at, began = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
    kills_before = oom_kills()
    with WorkerProcess(command, place) as worker:
        worker.send(to_json(job))
        heard = _listen(worker, began + timeout_s, on_stage, tick)
    if heard.outcome is not None:
        return heard.outcome
    log = "\n".join([*heard.noise, worker.log_tail()]).strip()
    status, reason = _cause(heard, log, timeout_s, oom_kills() > kills_before)
    failure = Failure(
        index=job.index,
        started_at=started_at,
        duration_s=time.monotonic() - began,
        status=status,
        stage=heard.stage,
        reason=reason,
        log_tail=log[-_LOG_CHARACTERS:] or None,
    )
    return Outcome(key=job.case.key, index=job.index, failure=failure)


def _listen(
    worker: WorkerProcess, deadline: float, on_stage: Callable[[Stage], None], tick: Callable[[], None]
) -> _Heard:
    """Hears a worker out: until its last word, its end, or the deadline."""
    heard = _Heard()
    while (left := deadline - time.monotonic()) > 0:
        event = worker.next_event(min(left, TICK_SECONDS))
        if event is None:
            tick()
        elif isinstance(event, Exit):
            heard.returncode = event.returncode
            return heard
        else:
            message = _decode(event.text)
            if isinstance(message, Done):
                heard.outcome = message.outcome
                _see_off(worker)
                return heard
            if message is None:
                # A library that writes to the descriptor itself; the worst is a long log.
                heard.noise = [*heard.noise[-20:], event.text.decode(errors="replace")[:500]]
            else:
                heard.stage = message.stage
                on_stage(message.stage)
    return heard


def _see_off(worker: WorkerProcess) -> None:
    """Waits until the worker has gone, so that the device is free for the next one."""
    deadline = time.monotonic() + _GOODBYE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        if isinstance(worker.next_event(left), Exit):
            return


def _cause(heard: _Heard, log: str, timeout_s: float, killed_for_memory: bool) -> tuple[Status, str]:
    """The status of a worker that gave no outcome, and why."""
    if heard.returncode is not None:
        return died(heard.returncode, log, killed_for_memory)
    limit = format_duration(timeout_s)
    return "timeout", f"still running after {limit}, the time limit of a process (--timeout)"


def _decode(line: bytes) -> Message | None:
    try:
        return msgspec.json.decode(line, type=Message)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def died(returncode: int, log: str, killed_for_memory: bool) -> tuple[Status, str]:
    """The status of a worker that ended without a result, and why."""
    if returncode == -signal.SIGKILL and killed_for_memory:
        return "oom", "the kernel killed the process (SIGKILL) because memory ran out"
    # Libraries print of memory running out while they cope; only an abort or an exception ends for it.
    gave_up = returncode > 0 or returncode == -signal.SIGABRT
    if gave_up and (found := _MEMORY_RAN_OUT.search(log)):
        return "oom", f"memory ran out: {found[0].strip()[:200]}"
    if returncode < 0:
        name = _signal_name(-returncode)
        hint = "; another program sent it, perhaps for want of memory" if name == "SIGKILL" else ""
        return "crashed", f"killed by {name}{hint}"
    last = log.splitlines()[-1].strip()[:200] if log else "nothing"
    return "crashed", f"ended with exit code {returncode} and no result; its last words: {last}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
