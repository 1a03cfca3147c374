"""One fresh process that trains from one seed: `python -m suite.learning.worker`, job on stdin.

jax is imported only after its environment is set and standard output is out of its reach.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO

import msgspec

from suite.learning.protocol import Done, Job, Message, Seen
from suite.record.learning import Attempt, AttemptStatus, Evaluation
from suite.run.worker import (
    check_platform,
    leave_with_parent,
    limit_memory,
    set_platform,
    take_stdin,
    take_stdout,
)

_STATUSES: dict[str, AttemptStatus] = {
    "oom": "oom",
    "does_not_fit": "oom",
    "unsupported": "unsupported",
    "not_finite": "not_finite",
}


def main() -> None:
    """Reads the job, trains, answers. A failure is an answer; the exit code is 0."""
    stream, orders = take_stdout(), take_stdin()
    job = msgspec.json.decode(orders.readline(), type=Job)
    leave_with_parent(orders)
    set_platform(job.platform)
    began, started_at = time.perf_counter(), datetime.now(UTC).isoformat(timespec="milliseconds")
    attempt = _attempt(job, stream)
    attempt.seed, attempt.started_at = job.seed, started_at
    attempt.duration_s = time.perf_counter() - began
    _send(stream, Done(attempt=attempt))


def _attempt(job: Job, stream: IO[bytes]) -> Attempt:
    seen: list[Evaluation] = []

    def say(evaluation: Evaluation) -> None:
        seen.append(evaluation)
        _send(stream, Seen(evaluation=evaluation))

    try:
        return _train(job, say)
    # Whatever JAX raises is what became of this attempt, and stands in the file with its traceback.
    except Exception as error:
        from suite.errors import JaxmarkError, PlatformError
        from suite.measurement.failure import classify, short_traceback

        found, reason = classify(error, "blocks")
        status = "unsupported" if isinstance(error, PlatformError) else _STATUSES.get(found, "error")
        return Attempt(
            seed=job.seed,
            started_at="",
            duration_s=0.0,
            status=status,
            reason=reason,
            evaluations=seen,
            log_tail=None if isinstance(error, JaxmarkError) else short_traceback(error),
        )


def _train(job: Job, say: Callable[[Evaluation], None]) -> Attempt:
    import jax

    # As the worker that measures sets them: the compiled step must be the same.
    jax.config.update("jax_default_prng_impl", job.task.case.prng)
    jax.config.update("jax_threefry_partitionable", True)
    jax.config.update("jax_enable_compilation_cache", False)
    check_platform(job.platform)
    if job.memory_limit_bytes is not None:
        limit_memory(job.memory_limit_bytes)
    from suite.learning.training import train

    return train(job.task, job.seed, say)


def _send(stream: IO[bytes], message: Message) -> None:
    stream.write(msgspec.json.encode(message) + b"\n")
    stream.flush()


if __name__ == "__main__":
    main()
    # Backends can hang while they are taken down; everything is written, so leave at once.
    sys.stdout.flush()
    os._exit(0)
