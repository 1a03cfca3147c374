"""Names of a user's own workload. Nothing here runs the user's code."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

from suite.errors import WorkloadError
from suite.spec.case import Case
from suite.spec.case import Path as CasePath

ENTRY_POINTS = "jaxmark.workloads"


def entry_points() -> dict[str, str]:
    """Workloads that installed packages bring: name -> 'package.module:name'."""
    return {point.name: point.value for point in metadata.entry_points(group=ENTRY_POINTS)}


def source_of(name: str, folder: Path) -> str | None:
    """Returns 'file.py:name' or 'package.module:name' for a user's workload; None for other names.

    The path of a file is relative to `folder`: the config's own, or the current one for the
    command line. It comes back relative to the current folder where it lies below that, so that
    a result file carries no user's home.

    Raises:
        WorkloadError: the file is not there, or no name follows it.
    """
    if ":" not in name and not name.endswith(".py"):
        return entry_points().get(name)
    place, _, attribute = name.rpartition(":")
    if not place or not attribute.isidentifier():
        raise WorkloadError(
            f"expected 'path/to/file.py:name' for a workload of your own, found {name!r}. The name is that "
            "of a function without arguments, at the top of the file, that returns a suite.Call, Step or "
            "Workload."
        )
    if not place.endswith(".py"):
        return name
    path = folder / place
    if not path.is_file():
        raise WorkloadError(f"there is no workload file {str(path)!r} (looked from {Path.cwd()}).")
    return f"{_short(path)}:{attribute}"


def own_name(source: str) -> str:
    """What a user's workload is called: the file's stem, or the package's module, and the name in it."""
    place, _, name = source.rpartition(":")
    return f"{Path(place).stem if place.endswith('.py') else place}:{name}"


def own_case(workload: str, *, version: int = 1, batch: int | None = None, path: CasePath = "aot") -> Case:
    """The identity of a workload outside the catalogue.

    What only its code knows has a default, which stands until that code has been asked.
    """
    return Case(
        workload=workload,
        version=version,
        preset="own",
        mode="own",
        precision="own",
        batch=batch,
        layers="own",
        path=path,
    )


def _short(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path.resolve()) if relative.startswith("..") else relative
