"""Results from Python: `suite.load(...)`, and tables for pandas and Parquet.

    runs = suite.load("results/")            files, folders, globs
    runs.to_pandas()                         a row for each process of each case of each run
    runs.to_pandas(per="case")               a row for each case of each run, failed ones included
    suite.load("results/.../RUN.json").results[0].processes[0].block_ns     the raw samples

The tables come from the index, so that a large folder is read once; `files` reads them whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from suite.analysis.files import load as load_file
from suite.analysis.index.database import Line
from suite.analysis.index.reading import Summaries, summaries
from suite.analysis.metrics import METRICS
from suite.errors import ConfigError
from suite.record.schema import Environment, Machine, Result, ResultFile, Run
from suite.spec.case import Case

if TYPE_CHECKING:
    import pandas

Per = Literal["process", "case"]
Columns = dict[str, list[Any]]

_NAMES = {
    "step_time": "step_time_ns",
    "latency": "latency_ns",
    "tail": "latency_p95_ns",
    "memory": "peak_bytes",
    "compile": "compile_ns",
}
_MACHINE = ("machine_id", "platform", "device_kind", "device_count", "cpu_model")
_SOFTWARE = ("python", "jax", "jaxlib", "flax", "git commit", "XLA_FLAGS")
_CASE = tuple(name for name in Case.__struct_fields__ if name != "params")


class Loaded:
    """Runs that were loaded; of one file also its content, under the names that it has there."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Reads what the arguments name; use `load`."""
        self._arguments = arguments
        # One file is read at once, so that what is wrong with it is said here and not later.
        self._only = load_file(arguments[0]) if len(arguments) == 1 and os.path.isfile(arguments[0]) else None
        if self._only is None:
            _ = self._summaries

    @cached_property
    def _summaries(self) -> Summaries:
        return summaries(self._arguments, processes=True)

    @cached_property
    def _lines(self) -> list[Line]:
        return sorted(self._summaries.lines, key=lambda line: (line.started_at, line.path))

    @property
    def skipped(self) -> tuple[str, ...]:
        """Files in folders and globs that are no result files, and why not."""
        return () if self._only is not None else self._summaries.skipped

    @cached_property
    def files(self) -> list[ResultFile]:
        """The files with all raw samples, oldest first; they are read when this is first asked for."""
        if self._only is not None:
            return [self._only]
        return [load_file(line.path) for line in self._lines]

    @property
    def file(self) -> ResultFile:
        """The only file.

        Raises:
            ConfigError: there are several.
        """
        if self._only is not None:
            return self._only
        if len(self._lines) != 1:
            raise ConfigError(
                f"expected one run, found {len(self)}: use `files`, or load one of them by itself"
            )
        return self.files[0]

    @property
    def run(self) -> Run:
        """Of the only file."""
        return self.file.run

    @property
    def environment(self) -> Environment:
        """Of the only file."""
        return self.file.environment

    @property
    def results(self) -> list[Result]:
        """The cases of the only file, raw samples and all."""
        return self.file.results

    def __len__(self) -> int:
        return 1 if self._only is not None else len(self._lines)

    def columns(self, per: Per = "process") -> Columns:
        """A tidy table by columns: `docs/result-file.md` says what they are.

        Args:
            per: a row for each 'process' that was measured, or for each 'case', measured or not.

        Raises:
            ConfigError: `per` is neither.
        """
        if per not in ("process", "case"):
            raise ConfigError(f"per: expected 'process' or 'case', found {per!r}")
        rows = [row for line in self._lines for row in _rows(line, per)]
        names = _header(per)
        return {name: [row[name] for row in rows] for name in names}

    def to_pandas(self, per: Per = "process") -> pandas.DataFrame:
        """The table as a DataFrame; times of day as timestamps in UTC.

        Raises:
            ConfigError: pandas is not installed, or `per` is unknown.
        """
        frames = needed("pandas", "pandas", "to_pandas()")
        frame: pandas.DataFrame = frames.DataFrame(self.columns(per))
        frame["started_at"] = frames.to_datetime(frame["started_at"], utc=True, format="ISO8601")
        return frame

    def __repr__(self) -> str:
        lines = self._lines
        machines = len({line.machine for line in lines})
        cases = len({case.key for text in {line.cases for line in lines} for case in _cases(text)})
        span = f"{lines[0].started_at} to {lines[-1].started_at}"
        counts = f"runs={len(self)} cases={cases} machines={machines} skipped={len(self.skipped)}"
        return f"<jaxmark: {counts}, {span}>"


def load(*paths: str | os.PathLike[str]) -> Loaded:
    """Loads result files, folders of them, and globs.

    Raises:
        ResultFileError: a named file cannot be read, or nothing in a folder or glob can be; says what was
            expected, what was found, where, and what to do.
        ConfigError: no path.
    """
    if not paths:
        raise ConfigError("load: expected a result file, a folder or a glob, found nothing")
    return Loaded([os.fspath(path) for path in paths])


def needed(module: str, extra: str, what: str) -> Any:
    """Imports a module of an extra.

    Raises:
        ConfigError: it is not installed; says how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{what} needs {module.partition('.')[0]}, which is not installed here: "
            f"pip install 'jaxmark[{extra}]'"
        ) from error


def _header(per: Per) -> list[str]:
    software = [name.replace(" ", "_") for name in _SOFTWARE]
    counts = ["process"] if per == "process" else ["status", "processes"]
    figures = ["step_time_ns", "latency_ns", "latency_p95_ns", "peak_bytes", "peak_method", "compile_ns"]
    return [
        *("run", "config", "started_at", "state", "paired", "file"),
        *_MACHINE,
        *software,
        "key",
        *_CASE,
        "params",
        *counts,
        *figures,
    ]


def _rows(line: Line, per: Per) -> Iterator[dict[str, Any]]:
    machine = msgspec.json.decode(line.machine, type=Machine)
    software = msgspec.json.decode(line.software, type=dict[str, str])
    common: dict[str, Any] = {
        "run": line.run,
        "config": line.config,
        "started_at": line.started_at,
        "state": line.state,
        "paired": line.paired,
        "file": line.path,
    }
    common |= {name: getattr(machine, name) for name in _MACHINE}
    common |= {name.replace(" ", "_"): software.get(name) for name in _SOFTWARE}
    outcomes = msgspec.json.decode(line.outcomes)
    figures = msgspec.msgpack.decode(line.processes)
    for case, (status, method), values in zip(_cases(line.cases), outcomes, figures, strict=True):
        own = common | {"key": case.key, **{name: getattr(case, name) for name in _CASE}}
        own["params"] = " ".join(f"{name}={value}" for name, value in sorted(case.params.items()))
        if per == "case":
            found = {_NAMES[metric]: _median(values[metric]) for metric in METRICS}
            yield own | {"status": status, "processes": len(values["index"]), "peak_method": method} | found
            continue
        for number, index in enumerate(values["index"]):
            found = {_NAMES[metric]: values[metric][number] for metric in METRICS}
            known = method if found["peak_bytes"] is not None else None
            yield own | {"process": index, "peak_method": known} | found


def _cases(text: str) -> list[Case]:
    return msgspec.json.decode(text, type=list[Case])


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
