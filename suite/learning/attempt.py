"""One process of one task, from its job to its attempt, whatever happens in between. No jax."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from suite.learning.protocol import Done, Job, Message
from suite.record.learning import Attempt, AttemptStatus, Evaluation
from suite.run.attempt import died
from suite.run.child import HERE
from suite.run.limits import oom_kills
from suite.run.worker_process import Exit, WorkerProcess
from suite.spec.durations import format_duration

WORKER = tuple(HERE.command("suite.learning.worker"))
_WAIT_SECONDS = 0.5
_GOODBYE_SECONDS = 30.0  # for a worker that has spoken its last word to let go of the device
_LOG_CHARACTERS = 4000


def attempt(
    job: Job, timeout_s: float, listen: Callable[[Evaluation], None], command: Sequence[str] = WORKER
) -> Attempt:
    """Trains in a fresh worker and returns what came of it.

    Args:
        job: what to train.
        timeout_s: after which the worker is ended.
        listen: told of each evaluation as it comes.
        command: that starts a worker.

    Raises:
        KeyboardInterrupt: passes through; the worker is ended first.
    """
    started_at, began = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
    kills_before, seen = oom_kills(), list[Evaluation]()
    status: AttemptStatus = "timeout"
    reason = f"still training after {format_duration(timeout_s)}, the time limit of a process"
    with WorkerProcess(command) as worker:
        worker.send(msgspec.json.encode(job))
        while (left := began + timeout_s - time.monotonic()) > 0:
            event = worker.next_event(min(left, _WAIT_SECONDS))
            if isinstance(event, Exit):
                found, reason = died(event.returncode, worker.log_tail(), oom_kills() > kills_before)
                status = "oom" if found == "oom" else "crashed"
                break
            message = None if event is None else _decode(event.text)
            if isinstance(message, Done):
                worker.next_event(_GOODBYE_SECONDS)  # the device is free for the next one
                return message.attempt
            if message is not None:
                seen.append(message.evaluation)
                listen(message.evaluation)
    return Attempt(
        seed=job.seed,
        started_at=started_at,
        duration_s=time.monotonic() - began,
        status=status,
        reason=reason,
        evaluations=seen,
        log_tail=worker.log_tail()[-_LOG_CHARACTERS:] or None,
    )


def _decode(line: bytes) -> Message | None:
    """None for what a library has written to the descriptor itself."""
    try:
        return msgspec.json.decode(line, type=Message)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
