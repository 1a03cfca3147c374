"""What happens in a run, for whoever shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from suite.record.schema import JournalHeader, Outcome, ResultFile, Stage
from suite.run.schedule import Plan
from suite.spec.case import Case


class Listener(Protocol):
    """Hears of a run as it goes. Calls come from one thread, between and during processes."""

    def run_started(self, header: JournalHeader, plan: Plan, path: Path, done: list[Outcome]) -> None:
        """The run begins, or goes on from `done`."""

    def round_started(self, index: int, cases: int) -> None:
        """Round `index`, from 0, has `cases` processes to run."""

    def process_started(self, case: Case, index: int) -> None:
        """A fresh worker has started."""

    def stage_entered(self, stage: Stage) -> None:
        """The current worker has entered a stage."""

    def tick(self) -> None:
        """Half a second or so has gone without news."""

    def process_finished(self, outcome: Outcome) -> None:
        """The worker's outcome is on the disk."""

    def stopping(self) -> None:
        """The run was interrupted and its worker ended; the file is about to be written."""

    def run_finished(self, result: ResultFile, ended: str) -> None:
        """The file is whole; `ended` is 'complete', 'budget' or 'interrupted'."""
