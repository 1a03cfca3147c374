"""One fresh worker process: started, listened to, and ended whatever it does.

The worker leads a process group of its own. So a Ctrl-C in the terminal reaches the orchestrator
alone, and ending the group ends whatever the worker has started. It leaves on its own when its
standard input closes, which is what a killed orchestrator leaves behind.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from suite.run.child import HERE, Place

WORKER = tuple(HERE.command("suite.run.worker"))
LOG_BYTES = 64 * 1024
_DRAIN_SECONDS = 2.0


@dataclass(frozen=True)
class Line:
    """A line that the worker wrote on its standard output."""

    text: bytes


@dataclass(frozen=True)
class Exit:
    """The worker is gone. `returncode` is negative for a signal."""

    returncode: int


class WorkerProcess:
    """A running worker; use it in a `with` statement, which always ends it.

    Args:
        command: of the worker.
        place: whose environment it gets.
    """

    def __init__(self, command: Sequence[str] = WORKER, place: Place = HERE) -> None:
        self._events: queue.Queue[Line | Exit] = queue.Queue()
        self._tail = bytearray()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=place.environment(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        self._readers = [
            _start(self._read_lines, self._process.stdout),
            _start(self._read_log, self._process.stderr),
        ]
        _start(self._wait)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def send(self, line: bytes) -> None:
        """Writes the job and leaves the input open. A worker that is gone already shows as `Exit`."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(line + b"\n")
            self._stdin.flush()

    def next_event(self, seconds: float) -> Line | Exit | None:
        """Waits for news; None if `seconds` go by without any."""
        try:
            return self._events.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return None

    def kill(self) -> None:
        """Ends the worker and all that it started, and waits until it is gone."""
        # The group outlives its leader while anything that the worker started still runs.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def log_tail(self) -> str:
        """The last part of what the worker wrote on its standard error."""
        return self._tail.decode(errors="replace").strip()

    def _wait(self) -> None:
        returncode = self._process.wait()
        for reader in self._readers:
            # A process that the worker left behind may hold a pipe open for ever.
            reader.join(_DRAIN_SECONDS)
        self._events.put(Exit(returncode))

    def _read_lines(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._events.put(Line(line))

    def _read_log(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 8192):
                self._tail += chunk
                del self._tail[:-LOG_BYTES]


def _start(target: object, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread
