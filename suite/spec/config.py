"""Configs: TOML files that list cases, with defaults and sweeps."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from suite.errors import ConfigError, nearest
from suite.spec.case import Case
from suite.spec.durations import parse_duration
from suite.spec.fields import CASE, RUN, check_table
from suite.spec.overrides import parse_overrides
from suite.spec.patterns import matches
from suite.spec.places import Place, Text, find_lines
from suite.spec.settings import MeasureSettings
from suite.spec.sweep import CaseTable, Table, expand

FLAGS = Text("command line", flags=True)
_TABLES = ("run", "defaults", "case")
_HEADER_OF_LEARN = re.compile(r"^\s*\[learn\]", re.MULTILINE)
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Config:
    """What a run is asked to measure.

    Attributes:
        name: the file's stem, or what a run without a file is called.
        path: the file; None where the cases come from flags.
        sha256: of the file's bytes; None where there is no file.
        processes: fresh processes per case.
        timeout_s: after which one process is killed, in seconds.
        budget_s: no process starts that would take the run beyond this many seconds; None for no budget.
        compile_cache: 'cold' compiles in every process; 'cached' in the first two only.
        seed: of inputs, initial states and the order of later rounds.
        sources: case key -> 'file.py:name' for the user's own workloads.
    """

    name: str
    path: Path | None
    sha256: str | None
    description: str
    processes: int
    timeout_s: float
    budget_s: float | None
    compile_cache: Literal["cold", "cached"]
    settings: MeasureSettings
    seed: int
    cases: list[Case]
    sources: dict[str, str]


def load(path_or_name: str, overrides: Sequence[str] = ()) -> Config:
    """Reads a config by its path, or by name from ./configs and then from those that ship.

    Args:
        path_or_name: 'quick', or a path that ends in .toml.
        overrides: 'key=value' as `--set` takes it; see `suite.spec.overrides`.

    Raises:
        ConfigError: the file, or what it says, cannot be understood.
    """
    path = find(path_or_name)
    data, document = read_toml(path)
    source = Text(str(path), find_lines(data.decode()))
    _check_tables(document, source)
    sha256 = hashlib.sha256(data).hexdigest()
    return _build(document, source, parse_overrides(overrides), path.stem, path, sha256)


def from_fields(fields: Table, overrides: Sequence[str] = ()) -> Config:
    """Makes a config of one table of case fields, as the flags of the command line give it.

    Raises:
        ConfigError: a field or override cannot be understood.
    """
    document = {"case": [dict(fields)]}
    _check_tables(document, FLAGS)
    name = Path(str(fields["workload"])).name.replace(".py:", "-").replace(":", "-")
    return _build(document, FLAGS, parse_overrides(overrides), name, None, None)


def select(config: Config, only: str) -> Config:
    """Keeps the cases whose key matches the pattern `only`, as file names match in a shell.

    Raises:
        ConfigError: none matches; the message lists the keys.
    """
    kept = [case for case in config.cases if matches(case.key, only)]
    if not kept:
        keys = "\n  ".join(case.key for case in config.cases)
        raise ConfigError(f"--only {only!r} matches no case of {config.name!r}. Its cases:\n  {keys}")
    keys_kept = {case.key for case in kept}
    sources = {key: source for key, source in config.sources.items() if key in keys_kept}
    return replace(config, cases=kept, sources=sources)


def find(path_or_name: str) -> Path:
    """Returns the path of a config.

    Raises:
        ConfigError: there is no such file or name.
    """
    if path_or_name.endswith(".toml") or "/" in path_or_name or "\\" in path_or_name:
        path = Path(path_or_name)
        if not path.is_file():
            raise ConfigError(f"there is no config file {path_or_name!r} (looked in {Path.cwd()}).")
        return path
    names = _files()
    if path_or_name not in names:
        raise ConfigError(f"there is no config named {path_or_name!r}. {nearest(path_or_name, names)}")
    return names[path_or_name]


def available() -> dict[str, Path]:
    """Every config of `jaxmark run` that a name reaches: ./configs, else those that ship with jaxmark."""
    return {name: path for name, path in _files().items() if not _HEADER_OF_LEARN.search(_text(path))}


def read_toml(path: Path) -> tuple[bytes, dict[str, Any]]:
    """Returns the bytes of a TOML file and what they say.

    Raises:
        ConfigError: it cannot be read, or is no TOML.
    """
    data = _read(path)
    try:
        return data, tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}.") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: not valid TOML: lists or tables nested too deep to read.") from error


def _files() -> dict[str, Path]:
    shipped = _PACKAGE / "_configs"
    folders = [shipped if shipped.is_dir() else _PACKAGE.parent / "configs", Path("configs")]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _text(path: Path) -> str:
    """The text of a file as far as it can be read: whoever loads it says what is wrong with it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the config {path}: {error.strerror}.") from error


def _check_tables(document: Mapping[str, Any], text: Text) -> None:
    """Raises ConfigError for anything in the document that no config may hold."""
    if "learn" in document:
        raise ConfigError(
            f"{text.name} is a config of `jaxmark learn`, which trains until a target is reached."
        )
    for name, table in document.items():
        if name not in _TABLES:
            place = Place(name) if isinstance(table, dict | list) else Place("", 0, name)
            what = "unknown table" if isinstance(table, dict | list) else "a key outside every table"
            raise ConfigError(f"{text.at(place)}: {what}. {nearest(name, _TABLES)}")
    for name, fields in (("run", RUN), ("defaults", CASE)):
        table = document.get(name, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{text.at(Place(name))}: expected a table [{name}].")
        check_table(table, fields, text, Place(name))
    cases = document.get("case", [])
    if not isinstance(cases, list) or not all(isinstance(table, dict) for table in cases):
        raise ConfigError(f"{text.at(Place('case'))}: expected [[case]] with two brackets each side.")
    if not cases:
        raise ConfigError(f'{text.name}: no cases. Add at least one:\n\n  [[case]]\n  workload = "linear"\n')
    for number, table in enumerate(cases, start=1):
        check_table(table, CASE, text, Place("case", number))


def _build(
    document: Mapping[str, Any],
    text: Text,
    overrides: Mapping[str, Any],
    name: str,
    path: Path | None,
    sha256: str | None,
) -> Config:
    run = document.get("run", {}) | {k: v for k, v in overrides.items() if k in RUN.checks}
    asked = {k: v for k, v in overrides.items() if k in CASE.checks}
    tables = [
        CaseTable(text, number, _merge(_merge(document.get("defaults", {}), table), asked))
        for number, table in enumerate(document["case"], start=1)
    ]
    cases, sources = expand(tables, path.parent if path else Path())
    timings = ("warmup_seconds", "block_seconds", "latency_seconds")
    budget = run.get("budget")
    return Config(
        name=name,
        path=path,
        sha256=sha256,
        description=run.get("description", ""),
        processes=run.get("processes", 7),
        timeout_s=parse_duration(run.get("timeout", "10m")),
        budget_s=parse_duration(budget) if budget is not None else None,
        compile_cache=run.get("compile", "cold"),
        settings=MeasureSettings(**{key: float(run[key]) for key in timings if key in run}),
        seed=run.get("seed", 0),
        cases=cases,
        sources=sources,
    )


def _merge(base: Table, over: Table) -> dict[str, Any]:
    """`over` laid on `base`; params are merged name by name."""
    merged = {**base, **over}
    if "params" in base and "params" in over:
        merged["params"] = {**base["params"], **over["params"]}
    return merged
