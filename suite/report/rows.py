"""A result file as rows of plain values: what tables and scripts are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

import msgspec

from suite.errors import ConfigError, nearest
from suite.record.schema import Result, ResultFile
from suite.report.text import clean
from suite.spec.case import Case


def select(file: ResultFile, pattern: str | None) -> list[Result]:
    """The results whose case key is `pattern` or matches it as file names match in a shell.

    Args:
        file: the run.
        pattern: a key or a glob, such as 'gpt/*'; None selects all.

    Raises:
        ConfigError: nothing matches; the message names the nearest.
    """
    if pattern is None:
        return file.results
    exact = [result for result in file.results if result.key == pattern]
    found = exact or [result for result in file.results if fnmatchcase(result.key, pattern)]
    if not found:
        keys = [result.key for result in file.results]
        raise ConfigError(
            f"No case {pattern!r} in this run. {nearest(pattern, keys)} A glob is fine too: 'gpt/*'."
        )
    return found


class Named(Protocol):
    """Anything of a case."""

    @property
    def key(self) -> str:
        """Of the case."""

    @property
    def case(self) -> Case:
        """Its fields."""


def labels(results: Sequence[Named]) -> dict[str, str]:
    """A shorter name for each key: without layers and version where it stays unique."""
    short = {result.key: _without_layers_and_version(result) for result in results}
    unique = len(set(short.values())) == len(short)
    return short if unique else {key: key for key in short}


def _without_layers_and_version(result: Named) -> str:
    return result.key.replace(f"/{result.case.layers}/v{result.case.version}", "", 1)


def as_row(result: Result) -> dict[str, Any]:
    """One flat row; units stand in the names, and what is not known is None."""
    case, work = result.case, result.work
    return {
        "key": result.key,
        "status": result.status,
        "reason": result.reason,
        "workload": case.workload,
        "version": case.version,
        "preset": case.preset,
        "mode": case.mode,
        "precision": case.precision,
        "batch": case.batch,
        "layers": case.layers,
        "path": case.path,
        **msgspec.to_builtins(result.summary),
        "failures": len(result.failures),
        "flops": work.flops if work else None,
        "items": work.items if work else None,
        "item": work.item if work else None,
        "parameters": work.parameters if work else None,
        "bytes_min": work.bytes_min if work else None,
        "warnings": [note.code for note in result.warnings],
    }


def as_tsv(file: ResultFile, case: str | None = None) -> str:
    """One line for each case, after a line of names; nothing where a figure is not known."""
    return to_tsv([as_row(result) for result in select(file, case)])


def as_json(file: ResultFile, case: str | None = None) -> str:
    """The run, its environment and a row for each case; the raw samples stay in the file."""
    results = [as_row(result) for result in select(file, case)]
    summary = {"run": msgspec.to_builtins(file.run), "environment": msgspec.to_builtins(file.environment)}
    return to_json(summary | {"results": results})


def to_json(value: Any) -> str:
    """Indented strict JSON."""
    return json.dumps(value, indent=2, allow_nan=False)


def to_tsv(rows: Sequence[dict[str, Any]]) -> str:
    """Tab-separated values; a tab or an end of line inside a value is escaped."""
    lines = [list(rows[0])] if rows else []
    lines += [[_tsv_cell(value) for value in row.values()] for row in rows]
    return "\n".join("\t".join(line) for line in lines)


def _tsv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        value = [f"{name}={part}" for name, part in value.items()]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return clean(str(value))
