"""Reading a result file that may be anything: what it is, and why it cannot be read."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from suite.errors import ResultFileError
from suite.record import invariants
from suite.record.migrate import migrate
from suite.record.schema import ResultFile

_SHOWN_PROBLEMS = 3


def read(path: Path) -> bytes:
    """Reads the bytes of a result file or journal.

    Raises:
        ResultFileError: it is not there, a folder, or cannot be opened.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ResultFileError(f"No file {path}. {_neighbours(path)}") from error
    except IsADirectoryError as error:
        raise ResultFileError(f"{path} is a folder; expected one result file. {_newest(path)}") from error
    except OSError as error:
        raise ResultFileError(f"Cannot read {path}: {error.strerror or error}.") from error


def kind(path: Path) -> str | None:
    """What a file says that it is: 'forecast' or 'learning'; None for result files and everything else."""
    try:
        document: Any = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    said = document.get("kind") if isinstance(document, dict) else None
    return said if isinstance(said, str) else None


def decode(data: bytes, where: str) -> ResultFile:
    """Decodes a result file and checks all that can be known without computing summaries.

    Args:
        data: content of the file.
        where: its name, for messages.

    Raises:
        ResultFileError: says what was expected, what was found, and where in the file.
    """
    file = convert(data, where)
    found = list(invariants.problems(file))
    if found:
        more = f" (and {len(found) - _SHOWN_PROBLEMS} more)" if len(found) > _SHOWN_PROBLEMS else ""
        raise ResultFileError(f"{where} contradicts itself: {'; '.join(found[:_SHOWN_PROBLEMS])}{more}.")
    return file


def convert(data: bytes, where: str) -> ResultFile:
    """Decodes a result file and checks the types of its fields, not more.

    Raises:
        ResultFileError: no JSON, not of jaxmark, of a newer schema, or with wrong types.
    """
    document = parse(data, where, "a result file of jaxmark")
    if isinstance(document, dict) and document.get("kind") == "learning":
        raise ResultFileError(
            f"{where}: expected step times, found times to a target, which `jaxmark learn` wrote. "
            "`jaxmark show` prints them."
        )
    if isinstance(document, dict) and document.get("kind") == "forecast":
        raise ResultFileError(
            f"{where}: expected what was measured, found forecasts, which `jaxmark forecast` made. "
            "`jaxmark show RUN.json --forecast FILE` puts them beside a run."
        )
    if not isinstance(document, dict) or "schema_version" not in document:
        raise ResultFileError(
            f"{where}: expected a result file of jaxmark, found {describe(document)}. "
            "`jaxmark run` writes one."
        )
    try:
        return msgspec.convert(migrate(document, where), ResultFile)
    except msgspec.ValidationError as error:
        raise ResultFileError(
            f"{where} is not a valid result file: {error}{_found_there(document, str(error))}. `jaxmark "
            "schema` prints what is expected."
        ) from error


def parse(data: bytes, where: str, expected: str) -> Any:
    """Decodes JSON.

    Args:
        data: content of a file.
        where: its name, for messages.
        expected: what it should hold, for messages.

    Raises:
        ResultFileError: it is empty, cut off, binary or another text.
    """
    if not data.strip():
        raise ResultFileError(f"{where} is empty; expected {expected} (JSON).")
    try:
        data.decode("utf-8")
        if b"\0" in data:
            raise ResultFileError(f"{where}: expected JSON text, found binary data (a zero byte).")
        return msgspec.json.decode(data)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        # A cut may fall inside a number or a character, which then look malformed and not cut.
        opened, closed = data.lstrip()[:1] in (b"{", b"["), data.rstrip()[-1:] in (b"}", b"]")
        if opened and ("truncated" in str(error) or not closed):
            raise ResultFileError(
                f"{where} ends in the middle, after {len(data)} bytes; expected {expected}. It was cut off "
                "while being copied or downloaded: copy it again."
            ) from error
        if isinstance(error, UnicodeDecodeError):
            found = f"binary data (byte {error.start} is no UTF-8)"
            raise ResultFileError(f"{where}: expected JSON text, found {found}.") from error
        raise ResultFileError(f"{where}: expected JSON, found something else: {error}.") from error
    except RecursionError as error:
        raise ResultFileError(
            f"{where}: expected {expected}, found lists or objects nested too deep to read."
        ) from error


def _found_there(document: Any, message: str) -> str:
    """What stands where a message of msgspec points to; it tells types that are wrong, and no values."""
    path = re.search(r"at `\$((?:\.\w+|\[\d+\])+)`$", message)
    if path is None or ", got " in message:
        return ""
    value = document
    try:
        for name, number in re.findall(r"\.(\w+)|\[(\d+)\]", path[1]):
            value = value[name or int(number)]
    except (KeyError, IndexError, TypeError):
        return ""
    return f", found {value!r:.60}"


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda document: isinstance(document, dict) and all(key in document for key in keys)


def _is_action_list(document: Any) -> bool:
    return isinstance(document, list) and all(map(_has("name", "unit", "value"), document)) and bool(document)


def _is_bencher(document: Any) -> bool:
    """Benchmarks by name, in each measures by name, in each a value."""
    measures = list(document.values()) if isinstance(document, dict) else []
    metrics = [metric for measure in measures if isinstance(measure, dict) for metric in measure.values()]
    return bool(metrics) and all(map(_has("value"), metrics))


_OTHER_TOOLS: Mapping[str, Callable[[Any], bool]] = {
    "what `jaxmark show --format json` printed, without the samples": _has("run", "environment", "results"),
    "what `jaxmark compare --format json` printed": _has("metric", "base", "comparisons"),
    "results of pytest-benchmark": _has("machine_info", "benchmarks"),
    "results of google-benchmark": _has("context", "benchmarks"),
    "results of pyperf": _has("benchmarks", "metadata", "version"),
    "results of asv": _has("commit_hash", "results", "params"),
    "results of hyperfine": lambda document: (
        _has("results")(document)
        and isinstance(document["results"], list)
        and any(map(_has("command", "times"), document["results"]))
    ),
    "data of github-action-benchmark": _has("repoUrl", "entries"),
    "a list for github-action-benchmark": _is_action_list,
    "metrics for Bencher": _is_bencher,
}


_NOT_OBJECTS: Mapping[type, str] = {
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def describe(document: Any) -> str:
    """What a JSON document is that is no result file: another tool's, or its keys."""
    for name, recognises in _OTHER_TOOLS.items():
        if recognises(document):
            return name
    if isinstance(document, dict):
        keys = ", ".join(repr(key) for key in list(document)[:4])
        return f"JSON without 'schema_version' (its keys: {keys or 'none'})"
    return f"JSON that is {_NOT_OBJECTS[type(document)]}, no object"


def _neighbours(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"There is no folder {folder} either."
    # A link to nothing has a name, and is no file to look at.
    names = [
        entry.name
        for entry in folder.iterdir()
        if entry.suffix in (".json", ".journal") and os.path.isfile(entry)
    ]
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"Did you mean {folder / close[0]}?" if close else "`jaxmark run` prints where it puts its file."


def _newest(folder: Path) -> str:
    # os.path.isfile: pathlib's own raises for a link that leads round in a circle.
    found = (entry for entry in folder.rglob("*.json") if os.path.isfile(entry))
    files = sorted(found, key=lambda entry: entry.stat().st_mtime)
    return f"The newest in it is {files[-1]}." if files else "There is no .json file in it."
