"""Does every workload compile for every chip? Each case, for each target, with the compiler. No jax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from suite.errors import ConfigError
from suite.forecast.compiler import Compiler
from suite.forecast.known import Problem, explanation, solved
from suite.forecast.protocol import Job
from suite.forecast.targets import Target, find
from suite.record.forecast import Forecast
from suite.record.machine import cache_folder
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.patterns import matches

Listener = Callable[[int, int, Forecast], None]
"""Told of each answer: its number, of how many, and the answer."""

SMOKE = "smoke"
# An answer about the chip; everything else is a fault of the program, the compiler or this code.
_ANSWERS = ("ok", "does_not_fit")


def plan(
    targets: Sequence[Target],
    precisions: Sequence[str],
    only: str | None = None,
    *,
    all_layers: bool = False,
) -> list[Job]:
    """What is to be compiled, target by target.

    Args:
        targets: the chips.
        precisions: of the cases; 'native' is each chip's own training precision.
        only: patterns of case keys with commas, of every preset; None for the smoke presets.
        all_layers: also the ways to compile repeated layers that are not a workload's default; a
            pattern reaches them without it.

    Raises:
        ConfigError: a precision is unknown, or nothing matches.
    """
    jobs: dict[tuple[str, str], Job] = {}
    for target in targets:
        for case in _cases([target.native(precision) for precision in precisions]):
            # One program once, where 'native' and a precision by name are the same.
            usual = case.preset == SMOKE and (all_layers or _default_layers(case))
            if usual if only is None else _matches(case, only):
                jobs[target.name, case.key] = Job(case=case, target=target.name)
    if not jobs:
        raise ConfigError(
            f"--only {only!r} matches no case. Keys look like gpt/124m/train/bf16/b8/scan/v2; "
            "see `jaxmark list` for workloads and presets."
        )
    return list(jobs.values())


def plan_largest(
    targets: Sequence[Target], precisions: Sequence[str], only: str | None = None
) -> list[list[Job]]:
    """For each workload, mode, precision and chip its presets, the largest first.

    Each at its own batch, and with repeated layers compiled as they are by default.

    Raises:
        ConfigError: a precision is unknown, or nothing matches.
    """
    wanted = [
        [Job(case=case, target=target.name) for case in reversed(cases)]
        for target in targets
        for precision in dict.fromkeys(target.native(precision) for precision in precisions)
        for cases in _by_mode(precision)
    ]
    kept = [[job for job in jobs if only is None or _matches(job.case, only)] for jobs in wanted]
    if not any(kept):
        raise ConfigError(f"--only {only!r} matches no case; see `jaxmark list` for workloads and presets.")
    return [jobs for jobs in kept if jobs]


def run_largest(groups: Sequence[Sequence[Job]], compiler: Compiler, listener: Listener) -> list[Forecast]:
    """The answers for each group's presets, down to the first that is not too large."""
    answers: list[Forecast] = []
    for number, jobs in enumerate(groups, start=1):
        for job in jobs:
            answers.append(too_large_by_itself(job) or ask_one(job, compiler))
            listener(number, len(groups), answers[-1])
            if answers[-1].status != "does_not_fit":
                break
    return answers


def too_large_by_itself(job: Job, usable_bytes: int | None = None) -> Forecast | None:
    """An answer without compiling, where the parameters alone are more than the chip has; else None.

    Args:
        job: a built-in case.
        usable_bytes: what a program can use; by default of the job's chip.
    """
    target = find(job.target)
    usable_bytes = target.usable_bytes if usable_bytes is None else usable_bytes
    parameters = catalogue.preset_of(job.case).parameters * catalogue.stored_bytes(job.case)
    if parameters <= usable_bytes:
        return None
    needs, usable = parameters / 2**30, usable_bytes / 2**30
    return Forecast(
        key=job.case.key,
        target=target.name,
        device_kind=None,
        status="does_not_fit",
        reason=f"its parameters alone take {needs:.2f} GiB, and a program can use {usable:.2f} GiB",
        emulated=target.emulation(job.case.precision),
        capacity_bytes=usable_bytes,
        compile_s=0.0,
        versions={},
    )


def ask(jobs: Sequence[Job], compiler: Compiler, listener: Listener) -> list[Forecast]:
    """The answers of a compiler that is there, earlier ones from the user's cache folder."""
    answers: list[Forecast] = []
    for number, job in enumerate(jobs, start=1):
        answers.append(ask_one(job, compiler))
        listener(number, len(jobs), answers[-1])
    return answers


def ask_one(job: Job, compiler: Compiler) -> Forecast:
    """The answer to one job, an earlier one from the user's cache folder where there is one."""
    job.cache = str(cache_folder() / "forecasts")
    return compiler.compile(job)


def all_answered(answers: Sequence[Forecast], problems: Sequence[Problem] = ()) -> bool:
    """Whether each case compiles, is only too large, or fails for a known reason that still holds."""
    explained = all(
        answer.status in _ANSWERS or explanation(answer, problems) is not None for answer in answers
    )
    return explained and not solved(answers, problems)


def _matches(case: Case, only: str) -> bool:
    return any(matches(case.key, pattern.strip()) for pattern in only.split(","))


def _default_layers(case: Case) -> bool:
    return case.layers == catalogue.get(case.workload).default_layers(case.mode)


def _cases(precisions: Sequence[str]) -> list[Case]:
    return [
        catalogue.resolve(spec.name, preset=preset, mode=mode, precision=precision, layers=layers)
        for precision in precisions
        for spec in catalogue.all_specs()
        for preset in spec.presets
        for mode in spec.modes
        for layers in spec.layers
    ]


def _by_mode(precision: str) -> list[list[Case]]:
    """For each workload and mode the cases of its presets, the smallest first."""
    return [
        [
            catalogue.resolve(spec.name, preset=preset, mode=mode, precision=precision)
            for preset in spec.presets
        ]
        for spec in catalogue.all_specs()
        for mode in spec.modes
        if precision in spec.precisions
    ]
