"""Ctrl-C, and the polite SIGTERM that job schedulers send: one ends the run, two end the program."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns both signals into KeyboardInterrupt, but never while a result is being stored.

    Use it in a `with` statement. Off the main thread, where Python delivers no signals, it does
    nothing.
    """

    def __init__(self) -> None:
        self._holding = False
        self._pending = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """A signal that comes inside is delivered at the end.

        A finished process would be lost if an interrupt fell between its line in the journal and
        the list that the file is written from.
        """
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt

    def let_the_next_one_kill(self) -> None:
        """From here on a signal ends the program at once."""
        for number in self._before:
            signal.signal(number, signal.SIG_DFL)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._holding:
            raise KeyboardInterrupt
        self._pending = True
