"""What `jaxmark ab` does: from flags to two result files, verdicts and an exit code."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from suite.analysis.looks import LOOKS
from suite.analysis.paired import compare_pairs
from suite.analysis.sides import Gathered, side_of
from suite.analysis.summary import fold
from suite.cli.compare import parse_threshold, report
from suite.cli.exits import INTERRUPTED
from suite.cli.run import ASK_ABOVE_SECONDS, program
from suite.cli.selection import make_config
from suite.errors import ConfigError, NothingMeasuredError, PlatformError
from suite.record import store as storage
from suite.record.paired import Paired, SideName
from suite.record.private import hide_home
from suite.record.schema import Environment, JournalHeader
from suite.report import units
from suite.report.pair_progress import make_pair_progress
from suite.report.plan import PlannedCase, in_words, total_seconds
from suite.report.show import device_name
from suite.report.text import Page, make_console
from suite.run import estimate, prepare
from suite.run.attempt import attempt
from suite.run.child import Place
from suite.run.interpreter import place
from suite.run.limits import worker_memory_limit
from suite.run.matching import same_cases, same_devices
from suite.run.orchestrator import Attempt
from suite.run.own_identity import with_identities
from suite.run.pairs import Arm, PairPlan, order_of, run_pairs
from suite.run.probe_client import probe
from suite.spec.config import Config
from suite.spec.durations import format_duration

SIDES: tuple[SideName, SideName] = ("base", "new")


def ab(asked: Namespace) -> int:
    """Measures two sides in pairs and returns the exit code.

    Raises:
        JaxmarkError: bad input, sides that do not compare, hardware or storage that is not there, or
            nothing measured.
    """
    console = make_console(stderr=asked.format != "text")
    threshold = parse_threshold(asked.threshold)
    variables = {side: parse_variables(getattr(asked, f"{side}_env"), f"--{side}-env") for side in SIDES}
    configs = _configs(asked)
    with contextlib.ExitStack() as stack:
        places = {
            side: stack.enter_context(
                place(getattr(asked, f"{side}_python"), variables[side], f"--{side}-python")
            )
            for side in SIDES
        }
        headers = _headers(asked, configs, places)
        plan = PairPlan(
            metric=asked.metric,
            threshold=threshold,
            budget_s=configs["new"].budget_s,
            memory_limit_bytes=worker_memory_limit(headers["new"].environment.machine.platform),
        )
        _announce(headers["new"], plan, asked, console)
        return _measure(asked, headers, places, plan, console)


def parse_variables(pairs: list[str], flag: str) -> dict[str, str]:
    """'NAME=VALUE' of each; the last one of a name counts.

    Raises:
        ConfigError: there is no name, or no '='.
    """
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or "\0" in pair:
            raise ConfigError(f"{flag}: expected NAME=VALUE, such as OMP_NUM_THREADS=1, found {pair!r}.")
        found[name.strip()] = value
    return found


def _configs(asked: Namespace) -> dict[SideName, Config]:
    """The config of each side; they differ where a workload is named apart for each."""
    asked.processes = None
    apart = {side: getattr(asked, f"{side}_workload") for side in SIDES}
    if not any(apart.values()):
        config = make_config(asked)
        return dict.fromkeys(SIDES, config)
    if not all(apart.values()):
        raise ConfigError("--base-workload and --new-workload go together: one revision of it for each side.")
    if asked.workload is not None or asked.config is not None:
        raise ConfigError(
            "expected a config, --workload, or --base-workload with --new-workload; found more than one."
        )
    return {side: make_config(Namespace(**{**vars(asked), "workload": name})) for side, name in apart.items()}


def _headers(
    asked: Namespace, configs: dict[SideName, Config], places: Mapping[SideName, Place]
) -> dict[SideName, JournalHeader]:
    """The header of each side's run, once it is known that they measure the same.

    Raises:
        NotComparableError: a case or the devices differ.
        PlatformError: JAX is not there, or not what was asked for.
    """
    environments: dict[SideName, Environment] = {}
    for side in SIDES:
        try:
            found = probe(asked.platform, place=places[side])
        except PlatformError as error:
            raise PlatformError(f"{side}: {error}") from error
        environments[side] = prepare.named(found, asked.machine)
        if asked.require is not None:
            prepare.require(environments[side], asked.require)
    same_devices(environments["base"], environments["new"])
    platform = environments["new"].machine.platform
    known = {side: with_identities(configs[side], platform, places[side]) for side in SIDES}
    known["base"] = same_cases(known["base"], known["new"], revisions=asked.base_workload is not None)
    command = ["jaxmark", *sys.argv[1:]]
    headers = {side: prepare.new_header(known[side], environments[side], command) for side in SIDES}
    first = order_of([case.key for case in known["new"].cases], known["new"].seed)
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        run = headers[side].run
        run.config, run.processes_planned = f"{configs['new'].name}-{side}", LOOKS[-1]
        run.paired = Paired(
            side=side,
            partner=headers[other].run.id,
            first=first,
            python=hide_home(places[side].python) if getattr(asked, f"{side}_python") else None,
            variables=_variables(places, side),
        )
    return headers


def _variables(places: Mapping[SideName, Place], side: SideName) -> dict[str, str]:
    """Every variable that was named for either side, as this one has it."""
    here = {**os.environ, **places[side].variables}
    names = sorted({name for where in places.values() for name in where.variables})
    return {name: hide_home(here[name]) for name in names if name in here}


def _announce(header: JournalHeader, plan: PairPlan, asked: Namespace, console: Console) -> None:
    """Says how long it may take.

    Raises:
        ConfigError: more than half an hour, and nobody said yes.
    """
    rates = estimate.rates_of(header.environment.machine)
    expected = estimate.expected_of_all(header.cases, header.run.settings, rates)
    planned = [PlannedCase(case.key, 2 * LOOKS[-1], expected[case.key]) for case in header.cases]
    words = in_words(planned, plan.budget_s)
    seconds = min(total_seconds(planned)[0], plan.budget_s or float("inf"))
    if seconds > ASK_ABOVE_SECONDS and not asked.yes:
        raise ConfigError(
            f"{LOOKS[-1]} pairs of {units.counted(len(planned), 'case', 'cases')} may take {words}, and more "
            f"than {format_duration(ASK_ABOVE_SECONDS)} needs your word: add --yes, or limit it with "
            "--budget 20m or --only GLOB. It ends earlier where verdicts come earlier."
        )
    cases = units.counted(len(planned), "case", "cases")
    where = device_name(header.environment)
    pairs = f"{LOOKS[0]} to {LOOKS[-1]} pairs of processes"
    Page(console).line(f"base against new on {where}: {cases}, {pairs}, at most {words}")


def _measure(
    asked: Namespace,
    headers: Mapping[SideName, JournalHeader],
    places: Mapping[SideName, Place],
    plan: PairPlan,
    console: Console,
) -> int:
    """Measures the pairs, prints the verdicts and says where the files are."""
    with contextlib.ExitStack() as stack:
        stores = {
            side: stack.enter_context(
                contextlib.closing(storage.Store.create(Path(asked.out), headers[side], fold))
            )
            for side in SIDES
        }
        arms = [Arm(side, stores[side], _attempt_in(places[side])) for side in SIDES]
        progress = stack.enter_context(contextlib.closing(make_pair_progress(console)))
        base, new, ended = run_pairs(plan, (arms[0], arms[1]), progress)
    gathered = Gathered((side_of(stores["base"].path, base), side_of(stores["new"].path, new)), ())
    code = report(compare_pairs(gathered, plan.metric, plan.threshold), asked.format, asked.strict)
    paths = [str(stores[side].path) for side in SIDES]
    console.print()
    if ended == "budget":
        console.print("The budget ended it: the next look would have come after it.", soft_wrap=True)
    for side, path in zip(SIDES, paths, strict=True):
        console.print(f"Result file of {side}: {path}", soft_wrap=True)
    console.print(f"The verdicts again:  {program()} compare {shlex.join(paths)}", soft_wrap=True)
    if ended == "interrupted":
        return INTERRUPTED
    if not any(result.processes for file in (base, new) for result in file.results):
        raise NothingMeasuredError(f"nothing was measured; the reasons are above and in {paths[0]}.")
    return code


def _attempt_in(where: Place) -> Attempt:
    return functools.partial(attempt, command=where.command("suite.run.worker"), place=where)
