"""What a forecast is asked for: cases, for chips, each in the chip's own precision or a named one. No jax."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from suite.errors import ConfigError
from suite.forecast.meshes import MeshSpec, parse_mesh
from suite.forecast.protocol import Job
from suite.forecast.targets import Target
from suite.spec import catalogue, config
from suite.spec.case import Case, ParamValue
from suite.spec.sources import own_case, own_name, source_of

NATIVE = "native"
Slice = tuple[Target, int]


@dataclass(frozen=True)
class Wanted:
    """The fields of the cases that a forecast is of; None takes the workload's default.

    Attributes:
        workload: of the catalogue, or 'file.py:name'.
        mode: None is every mode of the workload, side by side.
        precision: 'native' is each chip's own for training: bf16, or fp16 before Ampere.
    """

    workload: str
    preset: str | None = None
    mode: str | None = None
    precision: str = NATIVE
    batch: int | None = None
    layers: str | None = None
    params: Mapping[str, ParamValue] = field(default_factory=dict)


def plan(wanted: Wanted, slices: Sequence[Slice], mesh: str | None = None) -> list[Job]:
    """Each case for each chip, chip by chip.

    Raises:
        ConfigError: a field is unknown or out of range, or mesh and slice contradict each other.
        WorkloadError: there is no such file.
    """
    source = source_of(wanted.workload, Path.cwd())
    jobs: list[Job] = []
    for target, chips in slices:
        spread = mesh_for(target, chips, mesh)
        cases = [_own(source, wanted)] if source is not None else _built_in(wanted, target)
        jobs += [_job(case, target, spread, source) for case in cases]
    return jobs


def plan_config(name: str, overrides: Sequence[str], slices: Sequence[Slice]) -> list[Job]:
    """Each case of a config for each chip; a precision that none names is the chip's own.

    Raises:
        ConfigError: see `suite.spec.config.load`.
    """
    loaded = config.load(name, overrides)
    return [
        _job(case, target, mesh_for(target, chips, None), loaded.sources.get(case.key))
        for target, chips in slices
        for case in loaded.cases
    ]


def mesh_for(target: Target, chips: int, mesh: str | None) -> MeshSpec | None:
    """How a step is spread: as asked, else over the batch where a slice has several chips.

    Raises:
        ConfigError: the mesh is not written so, or the slice has another number of chips.
    """
    if mesh is None:
        return MeshSpec({"data": chips}) if chips > 1 else None
    spread = parse_mesh(mesh)
    if chips > 1 and spread.chips != chips:
        raise ConfigError(
            f"--mesh {mesh} is {spread.chips} chips, and the target a slice of {chips} {target.name} chips. "
            "Name the chip alone, or give a mesh of as many."
        )
    return spread


def with_batch(job: Job, batch: int) -> Job:
    """The same job at another batch."""
    return msgspec.structs.replace(job, case=msgspec.structs.replace(job.case, batch=batch))


def check_has_batch(jobs: Iterable[Job]) -> None:
    """Makes sure that a batch can be chosen.

    Raises:
        ConfigError: a job is of a user's own workload, whose batch is in its code.
    """
    for job in jobs:
        if job.source is not None:
            raise ConfigError(
                f"the batch of {job.source} is made by its own code, which takes no other: forecast it as it "
                "is, without --batch and --max-batch."
            )


def _built_in(wanted: Wanted, target: Target) -> list[Case]:
    modes = catalogue.get(wanted.workload).modes if wanted.mode is None else (wanted.mode,)
    return [
        catalogue.resolve(
            wanted.workload,
            preset=wanted.preset,
            mode=mode,
            precision=target.native(wanted.precision),
            batch=wanted.batch,
            layers=wanted.layers,
            params=_of_mode(wanted, mode),
        )
        for mode in modes
    ]


def _of_mode(wanted: Wanted, mode: str) -> dict[str, ParamValue]:
    """The parameters that mean something in a mode, where all modes were asked for."""
    if wanted.mode is not None:
        return dict(wanted.params)
    known = catalogue.get(wanted.workload).settings
    return {
        name: value
        for name, value in wanted.params.items()
        if name not in known or known[name].modes is None or mode in (known[name].modes or ())
    }


def _own(source: str, wanted: Wanted) -> Case:
    given = {name: getattr(wanted, name) for name in ("preset", "mode", "batch", "layers")}
    refused = [name for name, value in given.items() if value is not None]
    refused += ["precision"] if wanted.precision != NATIVE else []
    refused += ["set"] if wanted.params else []
    if refused:
        names = ", ".join(f"--{name}" for name in refused)
        raise ConfigError(f"{names}: expected none for a workload of your own, whose code says what it is.")
    return own_case(own_name(source))


def _job(case: Case, target: Target, mesh: MeshSpec | None, source: str | None) -> Job:
    if mesh is not None:
        case = msgspec.structs.replace(case, mesh=str(mesh))
    return Job(case=case, target=target.name, source=source)
