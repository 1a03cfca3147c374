"""What is drawn anew in place while something is measured: for terminals."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from suite.report.text import clean
from suite.spec.case import Case

_LEAST_SECONDS_BETWEEN = 0.5
_LEAST_ROWS = 3
_OTHER_LINES = 4
"""Of the screen: the heading, the table's header, and room below."""


class LiveTable(ABC):
    """A heading and a table, drawn from the caller's own thread; both go when the measuring ends.

    At most twice a second while a worker measures, so that drawing takes nothing from the cores
    that are being timed.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._drawn_at = 0.0

    @abstractmethod
    def _heading(self) -> Text: ...

    @abstractmethod
    def _table(self) -> Table: ...

    def tick(self) -> None:
        """Draws, unless that was just done."""
        if time.monotonic() - self._drawn_at >= _LEAST_SECONDS_BETWEEN:
            self._draw()

    def stopping(self) -> None:
        """Takes the table away before files are written, so that a second Ctrl-C leaves a whole screen."""
        self._live.stop()
        self._console.print("interrupted: writing what there is")

    def close(self) -> None:
        """Takes the table away, however it ended. Closing twice is fine."""
        self._live.stop()

    def _begin(self) -> None:
        self._live.start()
        self._draw()

    def _draw(self) -> None:
        self._drawn_at = time.monotonic()
        self._live.update(Group(self._heading(), self._table()), refresh=True)

    def _say_failed(self, key: str, reason: str) -> None:
        """A failure stays on the screen above the table."""
        self._console.print(Text(f"{clean(key)}  {reason}", style="red"), soft_wrap=True)

    def _visible(self, cases: Sequence[Case], current: Case | None) -> Sequence[Case]:
        """The cases that fit on the screen, the current one among them."""
        room = max(_LEAST_ROWS, self._console.size.height - _OTHER_LINES)
        if len(cases) <= room:
            return cases
        at = cases.index(current) if current is not None else 0
        first = min(max(0, at - room // 2), len(cases) - room)
        return cases[first : first + room]
