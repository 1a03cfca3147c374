"""`jaxmark run`: from flags to a finished result file, and what to do next."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from suite.analysis.summary import fold
from suite.cli.exits import ALL_OK, INTERRUPTED, NOT_ALL_OK
from suite.cli.selection import make_config, refuse_with_resume
from suite.errors import ConfigError, NothingMeasuredError
from suite.record import store as storage
from suite.record.schema import Environment, JournalHeader, Outcome, ResultFile
from suite.report import units
from suite.report.plan import PlannedCase, in_words, show_plan, total_seconds
from suite.report.progress import make_progress
from suite.report.show import device_name, show
from suite.report.text import make_console
from suite.run import estimate, orchestrator, prepare
from suite.run.limits import worker_memory_limit
from suite.run.own_identity import with_identities
from suite.run.probe_client import probe
from suite.run.schedule import Plan, remaining
from suite.spec.durations import format_duration, parse_duration

ASK_ABOVE_SECONDS = 30 * 60


def run(asked: Namespace) -> int:
    """Runs what was asked for and returns the exit code.

    Raises:
        JaxmarkError: bad input, hardware or storage that is not there, or nothing measured.
    """
    console = make_console()
    if asked.resume is not None:
        refuse_with_resume(asked)
        return _resume(Path(asked.resume), asked, console)
    return _start(asked, console)


def _start(asked: Namespace, console: Console) -> int:
    """Starts a new run."""
    config = make_config(asked)
    if asked.dry_run:
        rates = estimate.rates_here(asked.platform)
        expected = estimate.expected_of_all(config.cases, config.settings, rates)
        planned = [PlannedCase(case.key, config.processes, expected[case.key]) for case in config.cases]
        show_plan(console, planned, rates.basis, config.budget_s)
        return ALL_OK
    environment = _environment(asked.platform, asked)
    config = with_identities(config, environment.machine.platform)
    header = prepare.new_header(config, environment, ["jaxmark", *sys.argv[1:]])
    plan = _plan(header, config.budget_s)
    _announce(header, plan, [], asked, console)
    return _measure(storage.Store.create(Path(asked.out), header, fold), plan, asked, console)


def _resume(path: Path, asked: Namespace, console: Console) -> int:
    """Goes on with the run in `path`, its result file or its journal."""
    file = storage.load(path, fold)
    header, outcomes = storage.unfold(file)
    if header.run.paired is not None:
        raise ConfigError(
            f"{path} is the {header.run.paired.side} side of `jaxmark ab`, whose processes belong in pairs "
            f"with those of run {header.run.paired.partner}. Start `jaxmark ab` again; what there is stays, "
            "and `jaxmark compare` reads both files."
        )
    platform = header.environment.machine.platform
    budget_s = parse_duration(asked.budget) if asked.budget is not None else None
    if asked.dry_run:
        rates = estimate.rates_here(platform)
        expected = estimate.expected_of_all(header.cases, header.run.settings, rates)
        planned = _planned(header, outcomes, Plan(budget_s, expected_s=expected))
        show_plan(console, planned, rates.basis, budget_s)
        return ALL_OK
    if file.run.state == "complete" and not remaining(header, outcomes):
        console.print(f"Nothing is missing in {path}: every process has run.")
        return _exit_code(file)
    environment = _environment(platform, asked)
    prepare.check_resumable(header, environment)
    plan = _plan(header, budget_s)
    _announce(header, plan, outcomes, asked, console)
    return _measure(storage.Store.resume(path, fold), plan, asked, console)


def _environment(platform: str | None, asked: Namespace) -> Environment:
    environment = prepare.named(probe(platform), asked.machine)
    if asked.require is not None:
        prepare.require(environment, asked.require)
    return environment


def _plan(header: JournalHeader, budget_s: float | None) -> Plan:
    rates = estimate.rates_of(header.environment.machine)
    expected = estimate.expected_of_all(header.cases, header.run.settings, rates)
    return Plan(budget_s, worker_memory_limit(header.environment.machine.platform), expected)


def _planned(header: JournalHeader, outcomes: Sequence[Outcome], plan: Plan) -> list[PlannedCase]:
    """Each case that still has processes to run."""
    todo = [case.key for case, _ in remaining(header, outcomes)]
    return [PlannedCase(key, todo.count(key), plan.expected_s.get(key)) for key in dict.fromkeys(todo)]


def _announce(
    header: JournalHeader, plan: Plan, outcomes: Sequence[Outcome], asked: Namespace, console: Console
) -> None:
    """Says how long the run may take.

    Raises:
        ConfigError: more than half an hour, and nobody said yes.
    """
    planned = _planned(header, outcomes, plan)
    words = in_words(planned, plan.budget_s)
    seconds = min(total_seconds(planned)[0], plan.budget_s or float("inf"))
    if seconds > ASK_ABOVE_SECONDS and not asked.yes:
        raise ConfigError(
            f"{header.run.config} would take {words}, and more than {format_duration(ASK_ABOVE_SECONDS)} "
            "needs your word: add --yes, or limit it with --budget 20m, --only GLOB or --processes N. "
            "--dry-run shows each case."
        )
    count = units.counted(sum(case.processes for case in planned), "process", "processes")
    cases = units.counted(len(planned), "case", "cases")
    where = device_name(header.environment)
    console.print(f"{header.run.config} on {where}: {cases}, {count}, {words}", soft_wrap=True)


def _measure(store: storage.Store, plan: Plan, asked: Namespace, console: Console) -> int:
    """Runs what the store still misses, prints what there is and what to do next."""
    try:
        with contextlib.closing(store), contextlib.closing(make_progress(console)) as progress:
            result = orchestrator.run(plan, store, progress)
    except BrokenPipeError:
        if remaining(store.header, store.outcomes):
            _say_how_to_go_on(store, asked, make_console(stderr=True))
        raise
    show(result, console)
    console.print()
    console.print(f"Result file: {store.path}", soft_wrap=True)
    todo = remaining(store.header, store.outcomes)
    if todo:
        _say_how_to_go_on(store, asked, console)
    else:
        look = f"{program()} show {shlex.quote(str(store.path))} --case KEY"
        console.print(f"Everything about one case:  {look}", soft_wrap=True)
    if progress.ended == "interrupted":
        return INTERRUPTED
    if not any(one.processes for one in result.results):
        raise NothingMeasuredError(f"nothing was measured; the reasons are above and in {store.path}.")
    return _exit_code(result)


def _say_how_to_go_on(store: storage.Store, asked: Namespace, console: Console) -> None:
    """Says how far the run came, and the command that does the rest."""
    planned = store.header.run.processes_planned
    failed = {outcome.key for outcome in store.outcomes if outcome.failure is not None}
    keys = [case.key for case in store.header.cases if case.key not in failed]
    counts = [sum(outcome.key == key for outcome in store.outcomes) for key in keys]
    reached = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    command = [*shlex.split(program()), "run", "--resume", str(store.path)]
    command += ["--machine", asked.machine] if asked.machine is not None else []
    reached = f"Reached {reached} of {planned} processes a case."
    console.print(f"{reached} The rest:  {shlex.join(command)}", soft_wrap=True)


def _exit_code(result: ResultFile) -> int:
    """1 if a case failed. One that a budget left for later has not, and the run says how to go on."""
    return ALL_OK if all(one.status in ("ok", "skipped") for one in result.results) else NOT_ALL_OK


def program() -> str:
    """How this program was called, so that it can be called again from here."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" or not called.name:
        return f"{shlex.quote(sys.executable)} -m suite"
    if (found := shutil.which(called.name)) is not None and Path(found).resolve() == called.resolve():
        return called.name
    below = called.is_absolute() and Path.cwd() in called.parents
    return shlex.quote(os.path.relpath(called) if below else str(called))
