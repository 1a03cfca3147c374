"""A run without workers: outcomes from a table, and a listener that writes down what it hears."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from suite.analysis.summary import fold
from suite.record.schema import Failure, JournalHeader, Outcome, Process, ResultFile, Stage
from suite.record.store import Store
from suite.run.protocol import Job
from suite.run.schedule import Plan
from suite.spec.case import Case
from tests.builders import outcome, process


class Heard:
    """A listener that keeps a line for each event."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def run_started(self, header: JournalHeader, plan: Plan, path: Path, done: list[Outcome]) -> None:
        self.lines.append(f"run {len(header.cases)} cases, {len(done)} done")

    def round_started(self, index: int, cases: int) -> None:
        self.lines.append(f"round {index}: {cases}")

    def process_started(self, case: Case, index: int) -> None:
        self.lines.append(f"start b{case.batch}/{index}")

    def stage_entered(self, stage: Stage) -> None:
        self.lines.append(stage)

    def tick(self) -> None:
        pass

    def process_finished(self, outcome: Outcome) -> None:
        self.lines.append("finish")

    def stopping(self) -> None:
        self.lines.append("stopping")

    def run_finished(self, result: ResultFile, ended: str) -> None:
        self.lines.append(f"end {ended}")

    @property
    def started(self) -> list[str]:
        """'b1/0', ... of each process in order."""
        return [line.removeprefix("start ") for line in self.lines if line.startswith("start")]


class FakeWorkers:
    """Stands for `attempt`: gives each job a good process, or what `special` says of it."""

    def __init__(self, special: Mapping[str, Callable[[Job], Process | Failure]] | None = None) -> None:
        self.jobs: list[Job] = []
        self._special = special or {}

    def __call__(
        self, job: Job, timeout_s: float, on_stage: Callable[[Stage], None], tick: Callable[[], None]
    ) -> Outcome:
        self.jobs.append(job)
        make = self._special.get(f"b{job.case.batch}/{job.index}")
        part = make(job) if make else process(job.index, steps=job.block_steps or 10 + (job.case.batch or 0))
        return outcome(job.case, part)


def new_store(folder: Path, header: JournalHeader) -> Store:
    """A real store."""
    return Store.create(folder, header, fold)
