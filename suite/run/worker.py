"""One fresh process that measures one case once: `python -m suite.run.worker`, job on stdin.

jax is imported only after the environment is set and standard output is out of its reach.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import msgspec

from suite.hardware import host, throttling
from suite.record.schema import Failure, Outcome, Stage
from suite.run.protocol import Done, Job, Message, Progress


class Channel:
    """The worker's line to the orchestrator, and the stage that it last told."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.stage: Stage = "start"

    def enter(self, stage: Stage) -> None:
        """Tells that `stage` begins."""
        self.stage = stage
        self.send(Progress(stage=stage))

    def send(self, message: Message) -> None:
        """Writes one line."""
        self._stream.write(msgspec.json.encode(message) + b"\n")
        self._stream.flush()


def main() -> None:
    """Reads the job, measures, answers. A failure is an answer; the exit code is 0."""
    channel = Channel(take_stdout())
    orders = take_stdin()
    job = msgspec.json.decode(orders.readline(), type=Job)
    leave_with_parent(orders)
    set_platform(job.platform)
    channel.send(Done(outcome=_outcome(job, channel)))


def take_stdout() -> IO[bytes]:
    """Keeps the real standard output for the protocol and sends everyone else's to stderr."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


def take_stdin() -> IO[bytes]:
    """Keeps the real standard input for the protocol; whoever else reads there finds its end.

    A user's code that asks a question would wait for ever, since nobody is there to answer.
    """
    stream = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return stream


def leave_with_parent(orders: IO[bytes]) -> None:
    """Has this process end when the orchestrator's end of its input closes, however it died."""

    def wait() -> None:
        while os.read(orders.fileno(), 4096):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def set_platform(platform: str) -> None:
    """Has JAX, not yet imported, start on `platform`.

    The host's own backend stays beside an accelerator's: initial states are made there.
    """
    os.environ["JAX_PLATFORMS"] = "cpu" if platform == "cpu" else f"{platform},cpu"


def _outcome(job: Job, channel: Channel) -> Outcome:
    began, started_at = time.perf_counter(), datetime.now(UTC).isoformat(timespec="milliseconds")
    load, mhz = host.load_average(), host.cpu_mhz()
    # Before JAX takes hold of the device: whoever is on it now is another program.
    strain, others = throttling.read(job.platform), throttling.device_processes(job.platform)
    try:
        outcome = _measure(job, channel)
        if outcome.process is not None:  # of the worker's whole life, import and compiling included
            outcome.process.started_at, outcome.process.duration_s = started_at, time.perf_counter() - began
            conditions = outcome.process.conditions
            conditions.load_average_before, conditions.cpu_mhz_before = load, mhz
            since = throttling.read(job.platform).since(strain)
            conditions.throttle_events, conditions.device_throttled_ms = since
            conditions.device_other_processes = others
        return outcome
    # Also sys.exit() and KeyboardInterrupt, which in a user's code are mistakes like any other.
    except BaseException as error:
        from suite.errors import JaxmarkError, PlatformError
        from suite.measurement.failure import StepFailedError, classify, short_traceback

        status, reason = classify(error, channel.stage)
        if isinstance(error, PlatformError):
            status = "unsupported"
        expected = isinstance(error, StepFailedError | JaxmarkError)
        failure = Failure(
            index=job.index,
            started_at=started_at,
            duration_s=time.perf_counter() - began,
            status=status,
            stage=channel.stage,
            reason=reason,
            traceback=None if expected else short_traceback(error),
        )
        return Outcome(key=job.case.key, index=job.index, failure=failure)


def _measure(job: Job, channel: Channel) -> Outcome:
    channel.enter("import")
    _configure_jax(job)
    if job.memory_limit_bytes is not None:
        limit_memory(job.memory_limit_bytes)
    import jax

    from suite.measurement import process
    from suite.measurement.memory import MemoryProbe
    from suite.run import subject, verify
    from suite.workloads import own

    channel.enter("build")
    # Before the user's code runs, which may go to another folder.
    source_sha256 = own.source_sha256(job.source) if job.source is not None else None
    memory = MemoryProbe(jax.devices()[0])
    if job.source is None:
        measured = subject.from_catalogue(job.case, job.seed, memory, channel.enter)
    else:
        measured = subject.from_own(job.source, job.seed, memory, channel.enter)
    plan = process.Plan(
        settings=job.settings,
        index=job.index,
        block_steps=job.block_steps,
        loss=measured.loss,
        loss_falls=measured.loss_falls,
    )
    found = process.measure(measured.step, memory, plan, channel.enter, measured.init_ns)
    channel.enter("checks")
    verify.complete(found.checks, job)
    return Outcome(
        key=job.case.key,
        index=job.index,
        process=found,
        work=measured.work,
        source_sha256=source_sha256,
    )


def _configure_jax(job: Job) -> None:
    """Pins what the case's identity names and makes sure of the platform."""
    import jax

    jax.config.update("jax_default_prng_impl", job.case.prng)
    jax.config.update("jax_threefry_partitionable", True)
    jax.config.update("jax_enable_compilation_cache", job.cache_dir is not None)
    if job.cache_dir is not None:
        jax.config.update("jax_compilation_cache_dir", job.cache_dir)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    check_platform(job.platform)


def check_platform(expected: str) -> None:
    """Raises if JAX's first device is not of the platform asked for: never a silent CPU."""
    import jax

    from suite.errors import PlatformError

    device = jax.devices()[0]
    names = {device.platform, device.client.platform}
    if expected not in names:
        raise PlatformError(
            f"expected platform {expected!r}, JAX gave {device.platform!r} ({device.device_kind})"
        )


def limit_memory(limit_bytes: int) -> None:
    """Bounds this process's own memory, so that running out is an error here and no SIGKILL.

    Data rather than address space is bounded: XLA reserves far more addresses than it uses.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return
    now = next(
        int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmData:")
    )
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = now + limit_bytes
    resource.setrlimit(
        resource.RLIMIT_DATA, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
    )


if __name__ == "__main__":
    main()
    # Backends can hang while they are taken down; everything is written, so leave at once.
    sys.stdout.flush()
    os._exit(0)
