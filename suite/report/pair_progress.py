"""Shows pairs as they are measured: a live table on a terminal, plain lines elsewhere.

What it shows between the looks is labelled 'not a verdict': who stops when he likes what he sees
is wrong more often than the level says.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from suite.analysis.looks import LOOKS, Look, live, next_look
from suite.analysis.metrics import figure_of
from suite.analysis.paired import differences
from suite.analysis.stats import median
from suite.record.paired import SideName
from suite.record.schema import JournalHeader, Outcome, Process, Stage
from suite.report import units
from suite.report.comparing import words
from suite.report.live import LiveTable
from suite.report.text import clean
from suite.run.pairs import Ended, PairPlan, processes_of
from suite.run.schedule import usual_seconds
from suite.spec.case import Case
from suite.spec.durations import format_duration

NOT_A_VERDICT = "not a verdict"


class PairBoard:
    """What is known so far, as both displays need it."""

    def __init__(self, headers: Sequence[JournalHeader], plan: PairPlan) -> None:
        self.cases = headers[0].cases
        self.looks: dict[str, Look] = {}
        self.current: tuple[Case, int, SideName] | None = None
        self.stage: Stage = "start"
        self.index = 0
        self.open = len(self.cases)
        self._plan = plan
        self._outcomes: dict[SideName, list[Outcome]] = {"base": [], "new": []}
        self._began = time.monotonic()
        # Worked out once a process: what is drawn while a worker measures must cost next to nothing.
        self._changes = {case.key: "" for case in self.cases}

    def pair(self, index: int, cases: int) -> None:
        """Pair `index` of so many cases begins."""
        self.index, self.open = index, cases

    def start(self, case: Case, index: int, side: SideName) -> None:
        """A process begins."""
        self.current, self.stage = (case, index, side), "start"

    def finish(self, side: SideName, outcome: Outcome) -> None:
        """The current process has ended."""
        self.current = None
        self._outcomes[side].append(outcome)
        self._changes[outcome.key] = self._change(outcome.key)

    def figure(self, key: str, side: SideName) -> str:
        """'4.15 ms': the median over the processes of one side."""
        found = [figure_of(process, self._plan.metric) for process in self._processes(side, key)]
        values = [value for value in found if value is not None]
        if not values:
            return ""
        middle = median(values)
        return units.size(round(middle)) if self._plan.metric == "memory" else units.time_ns(middle)

    def change(self, key: str) -> str:
        """'+8.1% (+5.0 to +11.2)' over the pairs so far; '' before the first."""
        return self._changes[key]

    def pairs(self, key: str) -> int:
        """Pairs that are whole."""
        return min(len(self._processes("base", key)), len(self._processes("new", key)))

    def status(self, key: str) -> str:
        """The verdict, what failed, 'measuring', or 'not a verdict'."""
        failure = self._failure(key)
        if failure is not None:
            return failure
        look = self.looks.get(key)
        if look is not None and look.final:
            return words.verdict(look.verdict)
        if self.current is not None and self.current[0].key == key:
            return f"measuring {self.current[2]}"
        return NOT_A_VERDICT if self.pairs(key) else "waiting"

    def heading(self) -> str:
        """'pair 3, next look after 8, about 2 min to it'."""
        coming = next_look(self.index) or LOOKS[-1]
        a_pair = sum(
            usual_seconds(outcomes, case.key)
            for outcomes in self._outcomes.values()
            for case in self.cases
            if not self._settled(case.key)
        )
        parts = [f"pair {self.index + 1}", f"next look after {coming}"]
        if a_pair:
            parts.append(f"about {format_duration(a_pair * (coming - self.index))} to it")
        if self._plan.budget_s is not None:
            left = max(0.0, self._plan.budget_s - (time.monotonic() - self._began))
            parts.append(f"{format_duration(left)} of the budget left")
        return ", ".join(parts)

    def reason(self, side: SideName, outcome: Outcome) -> str:
        """One line on what a process gave: the pairs so far, or why it failed."""
        if outcome.failure is not None:
            stage = outcome.failure.stage.replace("_", " ")
            return f"{side} {outcome.failure.status}: {clean(outcome.failure.reason)} ({stage})"
        key = outcome.key
        figures = ", ".join(f"{name} {self.figure(key, name)}" for name in _SIDES if self.figure(key, name))
        if not self.change(key):
            return figures
        count = units.counted(self.pairs(key), "pair", "pairs")
        return f"{figures}: {self.change(key)} over {count}, {NOT_A_VERDICT}"

    def _settled(self, key: str) -> bool:
        return (key in self.looks and self.looks[key].final) or self._failure(key) is not None

    def _failure(self, key: str) -> str | None:
        outcomes = [outcome for side in _SIDES for outcome in self._outcomes[side]]
        failed = (o.failure.status for o in outcomes if o.key == key and o.failure is not None)
        return next(failed, None)

    def _processes(self, side: SideName, key: str) -> list[Process]:
        return processes_of(self._outcomes[side], key)

    def _change(self, key: str) -> str:
        base, new = (self._processes(side, key) for side in _SIDES)
        found = differences(base, new, self._plan.metric)
        return words.change(live(found, len(self.cases))) if found else ""


class PlainPairProgress:
    """One line for each thing that happens: for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def close(self) -> None:
        """Leaves the screen as it is."""

    def started(self, headers: Sequence[JournalHeader], plan: PairPlan, paths: Sequence[Path]) -> None:
        """Names the files."""
        self._board = PairBoard(headers, plan)
        self._width = max(len(case.key) for case in self._board.cases)
        for side, path in zip(_SIDES, paths, strict=True):
            self._say(f"{side}: writing {path}")

    def pair_started(self, index: int, cases: int) -> None:
        """Names the pair, the next look and the time to it."""
        self._board.pair(index, cases)
        self._say(f"{self._board.heading()}: {units.counted(cases, 'case', 'cases')}")

    def process_started(self, case: Case, index: int, side: SideName) -> None:
        """Says nothing: the outcome will."""
        self._board.start(case, index, side)

    def stage_entered(self, stage: Stage) -> None:
        """Says nothing."""
        self._board.stage = stage

    def tick(self) -> None:
        """Says nothing."""

    def process_finished(self, side: SideName, outcome: Outcome) -> None:
        """Says what the pair gave, once it is whole, or what failed."""
        self._board.finish(side, outcome)
        if outcome.failure is not None or self._board.pairs(outcome.key) == outcome.index + 1:
            self._say(f"  {clean(outcome.key):{self._width}}  {self._board.reason(side, outcome)}")

    def looked(self, key: str, look: Look) -> None:
        """Says what the look gave."""
        self._board.looks[key] = look
        self._say(f"  {clean(key):{self._width}}  {look_in_words(look)}")

    def stopping(self) -> None:
        """Says that it ends early."""
        self._say("interrupted: writing what there is")

    def finished(self, ended: Ended) -> None:
        """Says nothing: the results follow."""

    def _say(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


class LivePairProgress(LiveTable):
    """A table that is drawn anew in place: for terminals. It goes when the pairs end."""

    def started(self, headers: Sequence[JournalHeader], plan: PairPlan, paths: Sequence[Path]) -> None:
        """Starts the table."""
        self._board = PairBoard(headers, plan)
        self._begin()

    def pair_started(self, index: int, cases: int) -> None:
        """Shows the pair."""
        self._board.pair(index, cases)
        self._draw()

    def process_started(self, case: Case, index: int, side: SideName) -> None:
        """Shows which case is measured."""
        self._board.start(case, index, side)
        self._draw()

    def stage_entered(self, stage: Stage) -> None:
        """Shows the stage, with the next drawing that is due."""
        self._board.stage = stage
        self.tick()

    def process_finished(self, side: SideName, outcome: Outcome) -> None:
        """Shows the new figures; a failure stays on the screen above the table."""
        self._board.finish(side, outcome)
        if outcome.failure is not None:
            self._say_failed(outcome.key, self._board.reason(side, outcome))
        self._draw()

    def looked(self, key: str, look: Look) -> None:
        """Shows the verdict."""
        self._board.looks[key] = look
        self._draw()

    def finished(self, ended: Ended) -> None:
        """Takes the table away; the results follow."""
        self.close()

    def _heading(self) -> Text:
        parts = [self._board.heading()]
        if self._board.current is not None:
            case, _, side = self._board.current
            parts.append(f"{clean(case.key)} {side}: {self._board.stage}")
        return Text(" · ".join(parts), no_wrap=True, overflow="ellipsis")

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("case", overflow="fold")
        for name in ("base", "new", "change so far", "pairs"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("status", no_wrap=True)
        board = self._board
        for case in self._visible(board.cases, board.current and board.current[0]):
            figures = [board.figure(case.key, side) for side in _SIDES]
            row = [clean(case.key), *figures, board.change(case.key), str(board.pairs(case.key))]
            table.add_row(*(Text(text) for text in (*row, board.status(case.key))))
        return table


_SIDES: tuple[SideName, SideName] = ("base", "new")


def look_in_words(look: Look) -> str:
    """'look after 8 pairs: regressed, +8.1% (+6.0 to +10.2)'."""
    change = words.change(look.verdict.ratio)
    return f"look after {look.pairs} pairs: {words.verdict(look.verdict)}, {change}"


def make_pair_progress(console: Console) -> PlainPairProgress | LivePairProgress:
    """The live table on a terminal, plain lines elsewhere."""
    return LivePairProgress(console) if console.is_terminal else PlainPairProgress(console)
