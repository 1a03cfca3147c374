"""Two sides measured in pairs: for each case one fresh worker of each, right after each other.

Which of the two comes first is drawn anew for each pair, since a machine that warms up or slows
down would otherwise favour one side. After 8, 16 and 32 pairs, and at no other time, the cases are
looked at, and one that has its verdict is measured no further. Nothing here imports jax.
"""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from suite.analysis.looks import LOOKS, Look, latest_look, next_look
from suite.analysis.metrics import Metric
from suite.analysis.paired import differences
from suite.record.paired import SideName
from suite.record.schema import JournalHeader, Outcome, Process, ResultFile, Stage
from suite.run.interrupts import Interrupts
from suite.run.jobs import cache_folder, make_job, timeout_s
from suite.run.orchestrator import Attempt, RunStore
from suite.run.schedule import block_steps, round_order, usual_seconds
from suite.spec.case import Case

Ended = Literal["complete", "budget", "interrupted"]


@dataclass(frozen=True)
class Arm:
    """One of the two sides.

    Attributes:
        name: which.
        store: the files of its run.
        attempt: runs one job in its environment.
    """

    name: SideName
    store: RunStore
    attempt: Attempt


@dataclass(frozen=True)
class PairPlan:
    """How the pairs are measured and looked at.

    Attributes:
        metric: that is looked at.
        threshold: a change that matters, as a fraction.
        budget_s: no look is gone for that would take longer than this; None for no budget.
        memory_limit_bytes: what each worker may use; None for no limit.
    """

    metric: Metric = "step_time"
    threshold: float = 0.05
    budget_s: float | None = None
    memory_limit_bytes: int | None = None


class PairListener(Protocol):
    """Hears of the pairs as they go. Calls come from one thread, between and during processes."""

    def started(self, headers: Sequence[JournalHeader], plan: PairPlan, paths: Sequence[Path]) -> None:
        """Everything begins; base first."""

    def pair_started(self, index: int, cases: int) -> None:
        """Pair `index`, from 0, of each of so many cases follows."""

    def process_started(self, case: Case, index: int, side: SideName) -> None:
        """A fresh worker has started."""

    def stage_entered(self, stage: Stage) -> None:
        """The current worker has entered a stage."""

    def tick(self) -> None:
        """Half a second or so has gone without news."""

    def process_finished(self, side: SideName, outcome: Outcome) -> None:
        """The worker's outcome is on the disk."""

    def looked(self, key: str, look: Look) -> None:
        """A case was looked at."""

    def stopping(self) -> None:
        """It was interrupted and its worker ended; the files are about to be written."""

    def finished(self, ended: Ended) -> None:
        """Both files are whole."""


def order_of(keys: Sequence[str], seed: int) -> dict[str, list[SideName]]:
    """Which side runs first, for each pair of each case, drawn from the seed."""
    drawn = random.Random(f"{seed}/pairs")
    sides: tuple[SideName, SideName] = ("base", "new")
    return {key: [drawn.choice(sides) for _ in range(LOOKS[-1])] for key in keys}


def run_pairs(
    plan: PairPlan, arms: tuple[Arm, Arm], listener: PairListener
) -> tuple[ResultFile, ResultFile, Ended]:
    """Measures pairs until every case has its verdict, the last look is over, or the budget.

    Args:
        plan: how.
        arms: base and new; the headers of their stores have the same cases, and the order of the pairs.
        listener: hears of everything that happens.

    Returns:
        What was written for each, and how it ended. An interrupt is no error.

    Raises:
        StorageError: the disk refused a finished process or a file.
    """
    with contextlib.ExitStack() as stack:
        folders = {arm.name: stack.enter_context(cache_folder(arm.store.header)) for arm in arms}
        interrupts = stack.enter_context(Interrupts())
        pairs = _Pairs(plan, arms, listener, folders, interrupts)
        try:
            headers, paths = [arm.store.header for arm in arms], [arm.store.path for arm in arms]
            listener.started(headers, plan, paths)
            ended = pairs.run()
        except KeyboardInterrupt:
            ended = "interrupted"
            interrupts.let_the_next_one_kill()
            listener.stopping()
        base, new = (_finish(arm, ended) for arm in arms)
        listener.finished(ended)
    return base, new, ended


def _finish(arm: Arm, ended: Ended) -> ResultFile:
    header = arm.store.header
    if ended == "complete":
        # It was planned to stop once every case has its verdict.
        header.run.processes_planned = max([1, *(outcome.index + 1 for outcome in arm.store.outcomes)])
    return arm.store.finish("complete" if ended == "complete" else "interrupted")


class _Pairs:
    """The loop, and what it knows."""

    def __init__(
        self,
        plan: PairPlan,
        arms: tuple[Arm, Arm],
        listener: PairListener,
        folders: dict[SideName, str | None],
        interrupts: Interrupts,
    ) -> None:
        self._plan, self._arms, self._listener = plan, arms, listener
        self._folders, self._interrupts = folders, interrupts
        self._deadline = math.inf if plan.budget_s is None else time.monotonic() + plan.budget_s
        header = arms[0].store.header
        assert header.run.paired is not None
        self._cases, self._seed, self._first = header.cases, header.run.seed, header.run.paired.first
        self._open = list(header.cases)

    def run(self) -> Ended:
        for index in range(LOOKS[-1]):
            if not self._fits(index):
                return "budget"
            self._listener.pair_started(index, len(self._open))
            for case in round_order(self._cases, index + 1, self._seed, {}):
                if case in self._open:
                    self._pair(case, index)
            with self._interrupts.held():
                for arm in self._arms:
                    arm.store.write()
            self._open = [case for case in self._open if not self._failed(case)]
            if index + 1 in LOOKS:
                self._open = [case for case in self._open if not self._settled(case)]
            if not self._open:
                break
        return "complete"

    def _pair(self, case: Case, index: int) -> None:
        arms = {arm.name: arm for arm in self._arms}
        first = self._first[case.key][index]
        second: SideName = "new" if first == "base" else "base"
        for name in (first, second):
            arm = arms[name]
            job = make_job(
                arm.store.header,
                arm.store.outcomes,
                case,
                index,
                # As many steps in a block on both sides: its end costs each the same.
                block_steps=self._block_steps(case.key),
                cache_dir=self._folders[name],
                memory_limit_bytes=self._plan.memory_limit_bytes,
            )
            self._listener.process_started(case, index, name)
            limit = timeout_s(arm.store.header)
            outcome = arm.attempt(job, limit, self._listener.stage_entered, self._listener.tick)
            with self._interrupts.held():
                arm.store.append(outcome)
                self._listener.process_finished(name, outcome)

    def _block_steps(self, key: str) -> int | None:
        return block_steps([outcome for arm in self._arms for outcome in arm.store.outcomes], key)

    def _failed(self, case: Case) -> bool:
        outcomes = [outcome for arm in self._arms for outcome in arm.store.outcomes]
        return any(outcome.key == case.key and outcome.failure is not None for outcome in outcomes)

    def _settled(self, case: Case) -> bool:
        base, new = (processes_of(arm.store.outcomes, case.key) for arm in self._arms)
        found = differences(base, new, self._plan.metric)
        look = latest_look(found, self._plan.threshold, len(self._cases))
        if look is None:
            return not found  # the metric cannot be had, or not in every pair
        self._listener.looked(case.key, look)
        return look.final

    def _fits(self, index: int) -> bool:
        """Whether the next look, or on the way there the next pair, comes before the budget's end.

        What a pair takes is known after the first.
        """
        on_the_way = index not in (0, 1, *LOOKS)
        pairs = 1 if on_the_way else (next_look(index) or index) - index
        a_pair = sum(usual_seconds(arm.store.outcomes, case.key) for arm in self._arms for case in self._open)
        return time.monotonic() + pairs * a_pair < self._deadline


def processes_of(outcomes: Sequence[Outcome], key: str) -> list[Process]:
    """The good processes of a case."""
    return [o.process for o in outcomes if o.key == key and o.process is not None]
