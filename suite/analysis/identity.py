"""The three identities: of the case, of the machine, and of the software.

Case      differs: not comparable, never a ratio
Machine   differs: a comparison of hardware, no verdict
Software  differs: what a regression check is about; every difference is said
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from suite.record.schema import Environment, Machine, ResultFile, Run
from suite.spec.case import Case

_T = TypeVar("_T")

# Kernels and firmware keep a little more or less of it for themselves from version to version.
_RAM_TOLERANCE = 0.05
# Two cases further apart than this are two cases, not one measured in another way.
_MOST_DIFFERENCES = 2


@dataclass(frozen=True)
class Difference:
    """A field that two runs do not share, with its value, or values, on each side."""

    field: str
    base: str
    new: str


def same_machine(base: Machine, new: Machine) -> bool:
    """Whether two runs took place on one machine, on the same devices of it."""
    return base.machine_id == new.machine_id and looks_alike(base, new)


def devices(machine: Machine) -> str:
    """'2 x NVIDIA L4'; the kind alone where nobody counted them."""
    count = "" if machine.device_count is None else f"{machine.device_count} x "
    return f"{count}{machine.device_kind}"


def by_machine(items: Iterable[_T], machine_of: Callable[[_T], Machine]) -> list[list[_T]]:
    """The items of each machine, in their order; machines in the order in which they first come up."""
    groups: list[list[_T]] = []
    of_id: dict[str, list[list[_T]]] = {}
    for item in items:
        machine = machine_of(item)
        alike = of_id.setdefault(machine.machine_id, [])
        group = next((group for group in alike if same_machine(machine_of(group[0]), machine)), None)
        if group is None:
            group = []
            groups.append(group)
            alike.append(group)
        group.append(item)
    return groups


def looks_alike(base: Machine, new: Machine) -> bool:
    """Whether two machines differ at most in their ids, as throw-away runners do."""
    sizes = (base.ram_bytes or 0, new.ram_bytes or 0)
    return (
        base.platform == new.platform
        and base.device_kind == new.device_kind
        and base.device_count == new.device_count
        and base.cpu_model == new.cpu_model
        and max(sizes) - min(sizes) <= _RAM_TOLERANCE * max(sizes)
    )


def case_differences(base: Case, new: Case) -> list[Difference]:
    """The fields of the identity in which two cases differ; each of `params` by itself."""
    before, after = _case_fields(base), _case_fields(new)
    return [
        Difference(name, str(before.get(name, "not set")), str(after.get(name, "not set")))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _case_fields(case: Case) -> dict[str, object]:
    fields = {name: getattr(case, name) for name in case.__struct_fields__ if name != "params"}
    return fields | {f"params.{name}": value for name, value in case.params.items()}


def nearest_cases(base: Iterable[Case], new: Iterable[Case]) -> Iterator[tuple[Case, Case, list[Difference]]]:
    """Pairs cases of one workload that differ in a field or two, the nearest first, each once."""
    others = list(new)
    pairs = [
        (differences, one, other)
        for one in base
        for other in others
        if one.workload == other.workload
        and len(differences := case_differences(one, other)) <= _MOST_DIFFERENCES
    ]
    taken: set[str] = set()
    for differences, one, other in sorted(pairs, key=lambda pair: len(pair[0])):
        names = {f"base {one.key}", f"new {other.key}"}
        if not names & taken:
            taken |= names
            yield one, other, differences


def software_differences(base: Sequence[ResultFile], new: Sequence[ResultFile]) -> list[Difference]:
    """Every field of software and settings that differs between the files of two sides.

    A side of several files can have several values of a field; all are given.
    """
    return field_differences([_software(file) for file in base], [_software(file) for file in new])


def field_differences(
    before: Sequence[Mapping[str, object]], after: Sequence[Mapping[str, object]]
) -> list[Difference]:
    """The fields, as `software_fields` gives them, in which two sets of runs differ."""
    names = {name: None for fields in (*before, *after) for name in fields}
    found = []
    for name in names:
        left, right = _values(before, name), _values(after, name)
        if left != right:
            found.append(Difference(name, " and ".join(left), " and ".join(right)))
    return found


def _values(files: Sequence[Mapping[str, object]], name: str) -> list[str]:
    return list(dict.fromkeys(str(fields.get(name, "not set")) for fields in files))


def _software(file: ResultFile) -> dict[str, object]:
    sources = {result.source: result.source_sha256 for result in file.results if result.source is not None}
    return software_fields(file.run, file.environment, sources)


def software_fields(
    run: Run, environment: Environment, sources: Mapping[str, str | None]
) -> dict[str, object]:
    """Every field of a run that may differ between runs of one machine, settings included.

    Args:
        run: the run.
        environment: where it took place.
        sources: 'file.py:name' of each workload of the user's own -> hash of its file, if known.
    """
    software, machine = environment.software, environment.machine
    fields: dict[str, object] = {
        name: value
        for name in software.__struct_fields__
        if name not in ("plugins", "variables") and (value := getattr(software, name)) is not None
    }
    fields |= dict(software.plugins) | dict(software.variables)
    fields |= {"git commit": run.git or "not set", "os": machine.os}
    if machine.cpu_cores_available is not None:
        fields["cores available"] = machine.cpu_cores_available
    if run.imported_from is not None:
        fields["measured by"] = run.imported_from
    else:
        fields |= {"jaxmark": run.suite_version, "compile cache": run.compile_cache}
        fields |= msgspec.to_builtins(run.settings)
    return fields | {f"code of {source}": (sha or "unknown")[:12] for source, sha in sources.items()}
