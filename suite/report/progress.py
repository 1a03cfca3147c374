"""Shows a run as it goes: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from suite.analysis.summary import summarise
from suite.record.schema import JournalHeader, Outcome, Process, ResultFile, Stage, Work
from suite.report import units
from suite.report.live import LiveTable
from suite.report.text import clean
from suite.run.schedule import Plan, seconds_left
from suite.spec.case import Case
from suite.spec.durations import format_duration

_STATUS_STYLE = {"ok": "green", "measuring": "bold cyan", "waiting": "dim"}


class Board:
    """What is known of a run so far, as both displays need it."""

    def __init__(self, header: JournalHeader, plan: Plan, done: list[Outcome]) -> None:
        self.header = header
        self.outcomes = list(done)
        # Worked out once a process: what is drawn while a worker measures must cost next to nothing.
        self._figures = {case.key: self._figure(case.key) for case in header.cases}
        self.current: tuple[Case, int] | None = None
        self.stage: Stage = "start"
        self._plan = plan
        self._began = time.monotonic()
        self._current_began = self._began

    def start(self, case: Case, index: int) -> None:
        """A process of `case` begins."""
        self.current, self.stage = (case, index), "start"
        self._current_began = time.monotonic()

    def finish(self, outcome: Outcome) -> None:
        """The current process has ended."""
        self.current = None
        self.outcomes.append(outcome)
        self._figures[outcome.key] = self._figure(outcome.key)

    def processes(self, key: str) -> list[Process]:
        """The good processes of a case."""
        return [o.process for o in self.outcomes if o.key == key and o.process is not None]

    def status(self, key: str) -> str:
        """'measuring', 'waiting', 'ok', or the status of the case's failure."""
        if self.current is not None and self.current[0].key == key:
            return "measuring"
        failures = [o.failure.status for o in self.outcomes if o.key == key and o.failure is not None]
        return failures[0] if failures else "ok" if self.processes(key) else "waiting"

    def figure(self, key: str) -> str:
        """'4.15 ms (4.00-4.30)': the step time with its interval, as far as there is one."""
        return self._figures[key]

    def _figure(self, key: str) -> str:
        work: Work | None = next((o.work for o in self.outcomes if o.key == key and o.work), None)
        processes = self.processes(key)
        if not processes:
            return ""
        summary = summarise(processes, work)
        assert summary.step_time_ms is not None
        text = units.time_ms(summary.step_time_ms)
        if summary.step_time_ms_low is None or summary.step_time_ms_high is None:
            return text
        ends = units.range_ms(summary.step_time_ms_low, summary.step_time_ms_high, summary.step_time_ms)
        return f"{text} ({ends})"

    def time_left(self) -> str:
        """'about 3 min left', cut by the budget; '' while it cannot be told."""
        now = time.monotonic()
        seconds = seconds_left(self.header, self._plan, self.outcomes)
        if seconds is not None and self.current is not None:
            seconds = max(0.0, seconds - (now - self._current_began))
        if self._plan.budget_s is not None:
            budget_left = max(0.0, self._plan.budget_s - (now - self._began))
            if seconds is None or budget_left < seconds:
                return f"{format_duration(budget_left)} of the budget left"
        return "" if seconds is None else f"about {format_duration(seconds)} left"

    def reason(self, outcome: Outcome) -> str:
        """One line on what a process gave: its figure so far, or why it failed."""
        if outcome.failure is not None:
            stage = outcome.failure.stage.replace("_", " ")
            return f"{outcome.failure.status}: {clean(outcome.failure.reason)} ({stage})"
        count = len(self.processes(outcome.key))
        planned = units.counted(self.header.run.processes_planned, "process", "processes")
        return f"{self.figure(outcome.key)} a step, {count} of {planned}"


class PlainProgress:
    """One line for each thing that happens: for logs and pipes.

    Attributes:
        ended: 'complete', 'budget' or 'interrupted', once the run has ended.
    """

    def __init__(self, console: Console) -> None:
        self.ended: str | None = None
        self._console = console

    def close(self) -> None:
        """Leaves the screen as it is."""

    def run_started(self, header: JournalHeader, plan: Plan, path: Path, done: list[Outcome]) -> None:
        """Names the file."""
        self._board = Board(header, plan, done)
        if done:
            self._say(f"going on after {units.counted(len(done), 'finished process', 'finished processes')}")
        self._say(f"writing {path}")

    def round_started(self, index: int, cases: int) -> None:
        """Names the round and the time left."""
        left = self._board.time_left()
        rounds = self._board.header.run.processes_planned
        waiting = units.counted(cases, "process", "processes")
        self._say(f"round {index + 1} of {rounds}: {waiting}" + (f", {left}" if left else ""))

    def process_started(self, case: Case, index: int) -> None:
        """Says nothing: the outcome will."""
        self._board.start(case, index)

    def stage_entered(self, stage: Stage) -> None:
        """Says nothing."""
        self._board.stage = stage

    def tick(self) -> None:
        """Says nothing."""

    def process_finished(self, outcome: Outcome) -> None:
        """Says what the process gave."""
        self._board.finish(outcome)
        width = max(len(case.key) for case in self._board.header.cases)
        self._say(f"  {clean(outcome.key):{width}}  {self._board.reason(outcome)}")

    def stopping(self) -> None:
        """Says that the run ends early."""
        self._say("interrupted: writing what there is")

    def run_finished(self, result: ResultFile, ended: str) -> None:
        """Says nothing: the results follow."""
        self.ended = ended

    def _say(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


class LiveProgress(LiveTable):
    """A table that is drawn anew in place: for terminals. It goes when the run ends.

    Attributes:
        ended: 'complete', 'budget' or 'interrupted', once the run has ended.
    """

    def __init__(self, console: Console) -> None:
        self.ended: str | None = None
        super().__init__(console)

    def run_started(self, header: JournalHeader, plan: Plan, path: Path, done: list[Outcome]) -> None:
        """Starts the table."""
        self._board = Board(header, plan, done)
        self._path = path
        self._round = 0
        self._begin()

    def round_started(self, index: int, cases: int) -> None:
        """Shows the round."""
        self._round = index
        self._draw()

    def process_started(self, case: Case, index: int) -> None:
        """Shows which case is measured."""
        self._board.start(case, index)
        self._draw()

    def stage_entered(self, stage: Stage) -> None:
        """Shows the stage, with the next drawing that is due."""
        self._board.stage = stage
        self.tick()

    def process_finished(self, outcome: Outcome) -> None:
        """Shows the new figure; a failure stays on the screen above the table."""
        self._board.finish(outcome)
        if outcome.failure is not None:
            self._say_failed(outcome.key, self._board.reason(outcome))
        self._draw()

    def run_finished(self, result: ResultFile, ended: str) -> None:
        """Takes the table away; the results follow."""
        self.ended = ended
        self.close()

    def _heading(self) -> Text:
        rounds = self._board.header.run.processes_planned
        parts = [f"round {self._round + 1} of {rounds}", self._board.time_left()]
        if self._board.current is not None:
            case, _ = self._board.current
            parts.append(f"{clean(case.key)}: {self._board.stage}")
        return Text(" · ".join(part for part in parts if part), no_wrap=True, overflow="ellipsis")

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("case", overflow="fold")
        table.add_column("step time", justify="right", no_wrap=True)
        table.add_column("processes", justify="right", no_wrap=True)
        table.add_column("status", no_wrap=True)
        planned = self._board.header.run.processes_planned
        current = self._board.current
        for case in self._visible(self._board.header.cases, current and current[0]):
            status = self._board.status(case.key)
            table.add_row(
                Text(clean(case.key)),
                Text(self._board.figure(case.key)),
                f"{len(self._board.processes(case.key))}/{planned}",
                Text(status, style=_STATUS_STYLE.get(status, "red")),
            )
        return table


def make_progress(console: Console) -> PlainProgress | LiveProgress:
    """The live table on a terminal, plain lines elsewhere."""
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)
