"""`jaxmark import`: other tools' files as result files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from suite.bridges import from_pytest_benchmark
from suite.errors import ConfigError, ResultFileError, StorageError, nearest
from suite.record import loading
from suite.record.atomic import replace_file
from suite.record.schema import ResultFile, to_json

TOOLS: Mapping[str, Callable[[bytes, str], tuple[ResultFile | None, list[str]]]] = {
    "pytest-benchmark": from_pytest_benchmark.read,
}


def read(path: Path, tool: str) -> tuple[ResultFile | None, list[str]]:
    """Reads another tool's file.

    Args:
        path: of the file.
        tool: a key of `TOOLS`.

    Returns:
        A result file, or None where nothing in it can be one; and what was left out, with the reason.

    Raises:
        ConfigError: the tool is unknown.
        ResultFileError: the file cannot be read, or is not of this tool; it says of which.
    """
    if tool not in TOOLS:
        raise ConfigError(f"--from: no tool {tool!r}. {nearest(tool, TOOLS)}")
    data = loading.read(path)
    what = _what(loading.parse(data, str(path), f"results of {tool}"))
    if tool not in what:
        raise ResultFileError(f"{path}: expected results of {tool}, found {what}.")
    return TOOLS[tool](data, str(path))


def _what(document: Any) -> str:
    if isinstance(document, dict) and "schema_version" in document:
        return "a result file of jaxmark, which needs no import"
    return loading.describe(document)


def write(file: ResultFile, path: Path) -> None:
    """Writes an imported file where nothing is yet.

    Raises:
        ConfigError: something is there.
        StorageError: it cannot be written.
    """
    if path.exists():
        raise ConfigError(
            f"{path} is there already, and no result is overwritten. Name another with -o FILE."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, to_json(file) + b"\n")
    except OSError as error:
        raise StorageError(
            f"Cannot write {path}: {error.strerror or error}. Name another with -o FILE."
        ) from error
