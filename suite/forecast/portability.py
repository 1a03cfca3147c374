"""Does every workload compile for every chip? Each case, for each target, with the compiler. No jax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from suite.errors import ConfigError
from suite.forecast.compiler import Compiler
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


def plan(targets: Sequence[Target], precisions: Sequence[str], only: str | None = None) -> list[Job]:
    """What is to be compiled, target by target.

    Args:
        targets: the chips.
        precisions: of the cases; 'native' is each chip's own training precision.
        only: a pattern of case keys, of every preset; None for the smoke presets.

    Raises:
        ConfigError: a precision is unknown, or nothing matches.
    """
    jobs: dict[tuple[str, str], Job] = {}
    for target in targets:
        for case in _cases([target.native(precision) for precision in precisions]):
            # One program once, where 'native' and a precision by name are the same.
            if case.preset == SMOKE if only is None else matches(case.key, only):
                jobs[target.name, case.key] = Job(case=case, target=target.name)
    if not jobs:
        raise ConfigError(
            f"--only {only!r} matches no case. Keys look like gpt/124m/train/bf16/b8/scan/v2; "
            "see `jaxmark list` for workloads and presets."
        )
    return list(jobs.values())


def run(jobs: Sequence[Job], python: Path, timeout_s: float, listener: Listener) -> list[Forecast]:
    """Compiles each job, one at a time: a compiler uses every core that it finds.

    Args:
        jobs: from `plan`.
        python: interpreter of an environment that has the compilers.
        timeout_s: a job that takes longer is given up, in seconds.
        listener: told of each answer as it comes.

    Raises:
        PlatformError: the environment lacks a compiler, or does not run.
    """
    with Compiler(python, {find(job.target).platform for job in jobs}, timeout_s) as compiler:
        return ask(jobs, compiler, listener)


def ask(jobs: Sequence[Job], compiler: Compiler, listener: Listener) -> list[Forecast]:
    """The answers of a compiler that is there, earlier ones from the user's cache folder."""
    folder = str(cache_folder() / "forecasts")
    answers: list[Forecast] = []
    for number, job in enumerate(jobs, start=1):
        job.cache = folder
        answers.append(compiler.compile(job))
        listener(number, len(jobs), answers[-1])
    return answers


def all_answered(answers: Sequence[Forecast]) -> bool:
    """Whether each case compiles, or is only too large for its chip."""
    return all(answer.status in _ANSWERS for answer in answers)


def _cases(precisions: Sequence[str]) -> list[Case]:
    return [
        catalogue.resolve(spec.name, preset=preset, mode=mode, precision=precision, layers=layers)
        for precision in precisions
        for spec in catalogue.all_specs()
        for preset in spec.presets
        for mode in spec.modes
        for layers in spec.layers
    ]
