"""The run: rounds over the cases, one fresh worker a process, everything stored at once.

Nothing here imports jax. What is on the disk is whole at any moment, so the run can be stopped,
killed or cut short, and goes on with `jaxmark run --resume FILE`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

from suite.record.schema import JournalHeader, Outcome, ResultFile, Stage, State
from suite.run.attempt import attempt
from suite.run.events import Listener
from suite.run.interrupts import Interrupts
from suite.run.jobs import cache_folder, make_job, timeout_s
from suite.run.protocol import Job
from suite.run.schedule import Plan, block_steps, remaining, round_order, still_to_run, usual_seconds
from suite.spec.case import Case

Ended = Literal["complete", "budget", "interrupted"]


class RunStore(Protocol):
    """What the orchestrator needs of `suite.record.store.Store`."""

    path: Path
    header: JournalHeader
    outcomes: list[Outcome]

    def append(self, outcome: Outcome) -> None:
        """Keeps an outcome; it is on the disk when this returns."""

    def write(self, state: State = "running") -> ResultFile:
        """Writes the result file as it stands."""

    def finish(self, state: State) -> ResultFile:
        """Writes the file a last time and removes the journal."""


Attempt = Callable[[Job, float, Callable[[Stage], None], Callable[[], None]], Outcome]


def run(plan: Plan, store: RunStore, listener: Listener, attempt: Attempt = attempt) -> ResultFile:
    """Runs every process that the store's run still misses.

    Args:
        plan: how to run them.
        store: the run's files; its header says what to run, its outcomes what is done.
        listener: hears of everything that happens.
        attempt: runs one job; replaced in tests.

    Returns:
        What was written: 'complete' if nothing is missing, else 'interrupted'. An interrupt or
        a budget that ends is no error.

    Raises:
        StorageError: the disk refused a finished process or the file.
    """
    with cache_folder(store.header) as cache_dir, Interrupts() as interrupts:
        try:
            listener.run_started(store.header, plan, store.path, list(store.outcomes))
            ended = _rounds(plan, store, listener, attempt, cache_dir, interrupts)
        except KeyboardInterrupt:
            ended = "interrupted"
            # The file is written whole or not at all, so a second Ctrl-C may end even this.
            interrupts.let_the_next_one_kill()
            listener.stopping()
        if not remaining(store.header, store.outcomes):
            ended = "complete"  # whatever came after the last process
        result = store.finish("complete" if ended == "complete" else "interrupted")
        listener.run_finished(result, ended)
    return result


def _rounds(
    plan: Plan,
    store: RunStore,
    listener: Listener,
    attempt: Attempt,
    cache_dir: str | None,
    interrupts: Interrupts,
) -> Ended:
    header = store.header
    deadline = math.inf if plan.budget_s is None else time.monotonic() + plan.budget_s
    ended: Ended = "complete"

    def fits(case: Case) -> bool:
        return time.monotonic() + usual_seconds(store.outcomes, case.key) < deadline

    for index in range(header.run.processes_planned):
        waiting = still_to_run(header.cases, index, store.outcomes)
        if not waiting:
            continue
        if not any(fits(case) for case in waiting):
            return "budget"
        listener.round_started(index, len(waiting))
        for case in round_order(header.cases, index, header.run.seed, plan.expected_s):
            if case not in waiting:
                continue
            if not fits(case):
                ended = "budget"  # a cheaper case may still fit
                continue
            job = _job(plan, store, case, index, cache_dir)
            listener.process_started(case, index)
            outcome = attempt(job, timeout_s(header), listener.stage_entered, listener.tick)
            with interrupts.held():
                store.append(outcome)
                listener.process_finished(outcome)
        with interrupts.held():
            store.write()
    return ended


def _job(plan: Plan, store: RunStore, case: Case, index: int, cache_dir: str | None) -> Job:
    return make_job(
        store.header,
        store.outcomes,
        case,
        index,
        block_steps=block_steps(store.outcomes, case.key),
        cache_dir=cache_dir,
        memory_limit_bytes=plan.memory_limit_bytes,
    )
