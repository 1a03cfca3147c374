"""`jaxmark export`: result files as other tools read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite.analysis.sides import Source
from suite.bridges import bencher, github_action, pytest_benchmark, table
from suite.errors import ConfigError, nearest
from suite.record.schema import Result, ResultFile


@dataclass(frozen=True)
class Exported:
    """A document in another tool's format.

    Attributes:
        text: the whole of it.
        cases: that it has.
        left_out: cases that the format cannot hold because they were not measured, and why.
    """

    text: str
    cases: int
    left_out: tuple[str, ...]


_Writer = Callable[[Sequence[ResultFile], Sequence[Result]], str]


def _json(make: Callable[[Sequence[ResultFile], Sequence[Result]], Any]) -> _Writer:
    return lambda files, results: json.dumps(make(files, results), indent=2, allow_nan=False)


FORMATS: Mapping[str, _Writer] = {
    "pytest-benchmark": _json(pytest_benchmark.document),
    "github-action-benchmark": _json(github_action.document),
    "bencher": _json(bencher.document),
    "csv": table.document,
}
_EVERY_CASE = {"csv"}  # has a row for a case that failed, and may have one case several times


def export(sources: Sequence[Source], to: str) -> Exported:
    """Writes the measured cases of some files in another tool's format.

    Args:
        sources: of one machine, except for 'csv'.
        to: a key of `FORMATS`.

    Raises:
        ConfigError: the format is unknown, or has no room for one case in two files.
    """
    if to not in FORMATS:
        raise ConfigError(f"--to: no format {to!r}. {nearest(to, FORMATS)}")
    files = [source.file for source in sources]
    if to in _EVERY_CASE:
        results = [result for file in files for result in file.results]
        return Exported(FORMATS[to](files, results), len(results), ())
    _refuse_twice(sources, to)
    results = [result for file in files for result in file.results if result.status == "ok"]
    left_out = tuple(
        f"{result.key}: {result.status}: {result.reason or 'no reason given'}"
        for file in files
        for result in file.results
        if result.status != "ok"
    )
    return Exported(FORMATS[to](files, results), len(results), left_out)


def _refuse_twice(sources: Sequence[Source], to: str) -> None:
    """These formats know a case by its name alone: not by its machine, nor by its run."""
    seen: dict[str, Source] = {}
    for source in sources:
        for result in source.file.results:
            if result.key in seen:
                raise ConfigError(
                    f"{to}: {result.key} is in {seen[result.key].path} and in {source.path}, and this format "
                    "has one place for it. Export the files one at a time."
                )
            seen[result.key] = source
