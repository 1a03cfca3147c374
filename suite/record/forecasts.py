"""A file of forecasts: what `jaxmark forecast --format json` prints.

A kind of file of its own: nothing in it was measured, so nothing that compares runs reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from suite.errors import ResultFileError
from suite.record.base import Record, to_json
from suite.record.forecast import Forecast

KIND: Literal["forecast"] = "forecast"
SCHEMA_VERSION: Literal[1] = 1


class ForecastFile(Record, kw_only=True):
    """Forecasts as a file holds them."""

    kind: Literal["forecast"] = KIND
    schema_version: Literal[1] = SCHEMA_VERSION
    forecasts: list[Forecast]


def encode(forecasts: Sequence[Forecast]) -> str:
    """The text of a file of forecasts."""
    return msgspec.json.format(to_json(ForecastFile(forecasts=list(forecasts))), indent=1).decode()


def load(paths: Sequence[Path]) -> list[Forecast]:
    """The forecasts of files, and of every .json file in folders, in order; of two of one case, the later.

    Raises:
        ResultFileError: one is not there, cannot be read, or holds something else.
    """
    found: dict[tuple[str, str], Forecast] = {}
    for path in paths:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise ResultFileError(f"{path}: expected files of `jaxmark forecast --format json`, found none.")
        for file in files:
            found |= {(each.target, each.key): each for each in _load(file)}
    return list(found.values())


def problems(path: Path) -> list[str]:
    """Lists what is wrong with a file of forecasts; nothing when it is valid."""
    try:
        _load(path)
    except ResultFileError as error:
        return [str(error)]
    return []


def _load(path: Path) -> list[Forecast]:
    try:
        document: Any = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise ResultFileError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultFileError(f"{path}: expected forecasts, found no JSON: {error}.") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ResultFileError(
            f"{path}: expected forecasts, which `jaxmark forecast --format json` prints, found another kind "
            "of file."
        )
    if isinstance(version := document.get("schema_version"), int) and version > SCHEMA_VERSION:
        raise ResultFileError(
            f"{path}: expected forecasts of schema version {SCHEMA_VERSION} or older, found {version}. "
            "A newer jaxmark wrote it: update."
        )
    try:
        return msgspec.convert(document, ForecastFile).forecasts
    except msgspec.ValidationError as error:
        raise ResultFileError(f"{path} holds no valid forecasts: {error}.") from error
