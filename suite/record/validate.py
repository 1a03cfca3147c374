"""Everything that can be checked of a result file, its derived figures included."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from suite.errors import ResultFileError
from suite.record import invariants, loading, store
from suite.record.schema import Result, ResultFile
from suite.record.store import Fold, unfold

# Summaries are recomputed from the same samples; only the printing of floats may differ.
_RELATIVE = 1e-9


def problems(path: Path, fold: Fold) -> list[str]:
    """Lists what is wrong with a result file; nothing when it is valid.

    A journal is checked line by line. Types and units come first: figures derived from broken
    fields are not looked at.

    Args:
        path: of the file.
        fold: recomputes status and summary from the raw samples.
    """
    try:
        if path.suffix == ".journal":
            file = store.load(path, fold)
        else:
            file = loading.convert(loading.read(path), str(path))
    except ResultFileError as error:
        return [str(error)]
    found = list(invariants.problems(file))
    return found or list(_derived(file, fold))


def _derived(file: ResultFile, fold: Fold) -> Iterator[str]:
    header, outcomes = unfold(file)
    again = fold(header, outcomes, file.run.state, file.run.finished_at)
    for number, (stored, derived) in enumerate(zip(file.results, again.results, strict=True)):
        yield from _compare(f"results[{number}]", stored, derived)


def _compare(where: str, stored: Result, derived: Result) -> Iterator[str]:
    if stored.status != derived.status:
        yield f"{where}.status: its processes and failures give {derived.status!r}, found {stored.status!r}"
    before: dict[str, Any] = msgspec.to_builtins(stored.summary)
    after: dict[str, Any] = msgspec.to_builtins(derived.summary)
    for name, value in after.items():
        if not _equal(before[name], value):
            yield f"{where}.summary.{name}: the raw samples give {_json(value)}, found {_json(before[name])}"


def _json(value: object) -> str:
    return "null" if value is None else str(value)


def _equal(stored: object, derived: object) -> bool:
    if isinstance(stored, float) and isinstance(derived, float):
        return math.isclose(stored, derived, rel_tol=_RELATIVE)
    return stored == derived
