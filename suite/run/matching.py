"""Whether two sides measure the same cases on the same devices, before anything is measured."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from suite.analysis.identity import case_differences, looks_alike
from suite.errors import NotComparableError
from suite.record.schema import Environment
from suite.spec.config import Config


def same_devices(base: Environment, new: Environment) -> None:
    """Gives both the machine's one id and makes sure that JAX gives both sides the same devices.

    Raises:
        NotComparableError: it does not; names the field and both values.
    """
    # An id that could not be kept is another one each time that it is asked for.
    new.machine.machine_id = base.machine.machine_id
    if looks_alike(base.machine, new.machine):
        return
    fields = ("platform", "device_kind", "device_count", "cpu_model", "ram_bytes")
    found = [(name, getattr(base.machine, name), getattr(new.machine, name)) for name in fields]
    said = ", ".join(f"{name} {before} against {after}" for name, before, after in found if before != after)
    raise NotComparableError(
        f"not comparable: {said} (base against new). Both sides must run on the same devices: see what each "
        "has with `jaxmark devices` there, or choose with --platform. Nothing was measured."
    )


def same_cases(base: Config, new: Config, *, revisions: bool) -> Config:
    """The config of base, with the cases of new.

    Args:
        base: of one side; own workloads are what their code says they are.
        new: of the other, with as many cases in the same order.
        revisions: their one workload was named apart for each side, as two revisions of one; it goes by
            the name that it has in new.

    Raises:
        NotComparableError: a field of a case's identity differs; names it with both values.
    """
    pairs = list(zip(base.cases, new.cases, strict=True))
    if revisions:
        pairs = [(msgspec.structs.replace(before, workload=after.workload), after) for before, after in pairs]
    said = [
        f"{after.key}: {', '.join(f'{d.field} {d.base} against {d.new}' for d in found)}"
        for before, after in pairs
        if (found := case_differences(before, after))
    ]
    if said:
        lines = "\n  ".join(said)
        raise NotComparableError(
            f"not comparable (base against new):\n  {lines}\n"
            "A case must be the same on both sides, its version too. Nothing was measured."
        )
    keys = {before.key: after.key for before, after in zip(base.cases, new.cases, strict=True)}
    sources = {keys[key]: source for key, source in base.sources.items()}
    return replace(base, cases=list(new.cases), sources=sources)
