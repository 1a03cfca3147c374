"""`jaxmark history`: the runs of each machine over time, and where its cases changed."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import msgspec
import numpy as np

from suite.analysis.changes import Change, Floats, find_changes
from suite.analysis.identity import Difference, by_machine, field_differences
from suite.analysis.index.database import Line
from suite.analysis.index.reading import summaries
from suite.analysis.metrics import Metric
from suite.errors import ConfigError, nearest
from suite.record.process import MemoryMethod, Status
from suite.record.schema import Machine
from suite.spec.case import Case

NEARBY = 3
"""Runs: a change of level is located to about so many, so a change of software so near may be its cause."""

Outcomes = list[tuple[Status, MemoryMethod | None]]


@dataclass(frozen=True)
class Run:
    """A run, as the history needs it."""

    id: str
    path: str
    started_at: str
    state: str
    software: Mapping[str, str]


@dataclass(frozen=True)
class Found:
    """A change of level, and what changed beside it.

    Attributes:
        change: where, and how large.
        differences: of the software between the runs before and after it.
        runs_away: how many runs after the change the software changed; negative for before.
    """

    change: Change
    differences: tuple[Difference, ...]
    runs_away: int = 0


@dataclass(frozen=True)
class Series:
    """One case over time: the runs that have a figure for it, oldest first.

    Attributes:
        case: of them all.
        method: of memory; None for other metrics. Peaks by two methods are two series.
        runs: numbers of the runs in their section.
        values: the median over processes in each run, in nanoseconds or bytes.
        changes: of the level, oldest first.
        failures: how many runs of the case ended in each status but 'ok' and 'skipped'.
    """

    case: Case
    method: MemoryMethod | None
    runs: Sequence[int]
    values: Sequence[float]
    changes: tuple[Found, ...]
    failures: Mapping[Status, int]

    @property
    def key(self) -> str:
        """Of the case."""
        return self.case.key


@dataclass(frozen=True)
class Section:
    """The history of one machine.

    Attributes:
        machine: as its newest run describes it.
        runs: oldest first.
        series: one for each case, in the order in which they first came up.
    """

    machine: Machine
    runs: tuple[Run, ...]
    series: tuple[Series, ...]


@dataclass(frozen=True)
class History:
    """Everything that the reports print.

    Attributes:
        metric: whose figures these are.
        threshold: the least change that is told, as a fraction.
        sections: one for each machine.
        skipped: files that have no part in it, and why.
        notes: what made reading slow.
        files_read: files that had to be read; the index knew the others.
    """

    metric: Metric
    threshold: float
    sections: tuple[Section, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    files_read: int

    @property
    def series(self) -> list[Series]:
        """Of all machines."""
        return [series for section in self.sections for series in section.series]


def history(
    arguments: Sequence[str],
    metric: Metric = "step_time",
    *,
    case: str | None = None,
    machine: str | None = None,
    threshold: float = 0.05,
    say: Callable[[str], None] = lambda _: None,
) -> History:
    """Reads the runs below folders and finds what changed.

    Args:
        arguments: folders, globs and files.
        metric: to follow.
        case: keep the cases of this key, or those that match this glob.
        machine: keep the machines of this id, or those that match this glob.
        threshold: the least change that is worth telling, as a fraction.
        say: is told when many files have to be read.

    Raises:
        ResultFileError: a named file cannot be read, or nothing in a folder or glob can be.
        ConfigError: no case or no machine matches.
    """
    found = summaries(arguments, metric, say=say)
    lines, left_out = _each_once(line for line in found.lines if line.paired is None)
    left_out += [
        f"{line.path}: a side of `jaxmark ab`, an experiment and no ordinary run"
        for line in sorted(found.lines)
        if line.paired is not None
    ]
    groups = _of_machines(lines, machine)
    keys = _chosen_keys(lines, case)
    drafts = [(place, group, _drafts(group, metric, keys)) for place, group in groups]
    count = sum(bool(draft.values) for _, _, of_machine in drafts for draft in of_machine)
    sections = [_section(place, group, of_machine, count, threshold) for place, group, of_machine in drafts]
    return History(metric, threshold, tuple(sections), (*found.skipped, *left_out), found.notes, found.read)


def _each_once(lines: Iterable[Line]) -> tuple[list[Line], list[str]]:
    """The runs in the order of their start; copies of one are named and left out."""
    seen: dict[tuple[str, str], Line] = {}
    twice = []
    for line in sorted(lines, key=lambda line: (datetime.fromisoformat(line.started_at), line.path)):
        first = seen.setdefault((line.run, line.started_at), line)
        if first is not line:
            twice.append(f"{line.path}: the same run as {first.path} (id {line.run})")
    return list(seen.values()), twice


def _of_machines(lines: Sequence[Line], wanted: str | None) -> list[tuple[Machine, list[Line]]]:
    """The lines of each machine that is wanted, which is described as in its newest run."""
    machines = {text: msgspec.json.decode(text, type=Machine) for text in {line.machine for line in lines}}
    groups = by_machine(lines, lambda line: machines[line.machine])
    found = [(machines[group[-1].machine], group) for group in groups]
    if wanted is None:
        return found
    chosen = [pair for pair in found if _matches(pair[0].machine_id, wanted)]
    if not chosen:
        ids = {machine.machine_id for machine, _ in found}
        raise ConfigError(f"--machine: no run of a machine {wanted!r}. {nearest(wanted, ids)}")
    return chosen


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatch.fnmatchcase(name, pattern)


def _chosen_keys(lines: Sequence[Line], pattern: str | None) -> set[str] | None:
    """The keys that match; None for all."""
    if pattern is None:
        return None
    keys = {case.key for text in {line.cases for line in lines} for case in _cases(text)}
    chosen = {pattern} if pattern in keys else {key for key in keys if fnmatch.fnmatchcase(key, pattern)}
    if not chosen:
        raise ConfigError(
            f"--case: no case {pattern!r} in these files. {nearest(pattern, keys)} A glob is fine too: "
            "'gpt/*'."
        )
    return chosen


def _cases(text: str) -> list[Case]:
    return msgspec.json.decode(text, type=list[Case])


@dataclass
class _Draft:
    """A series that is being put together."""

    case: Case
    method: MemoryMethod | None
    runs: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    failures: dict[Status, int] = field(default_factory=dict)

    @cached_property
    def logs(self) -> list[float]:
        return [math.log(value) for value in self.values]


def _drafts(lines: Sequence[Line], metric: Metric, keys: set[str] | None) -> list[_Draft]:
    """A series for each case, and for each method of memory."""
    # Runs of one config share the text of their cases and, where all went well, of their outcomes: a
    # table for each pair of texts is worked through by columns.
    tables: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(lines):
        tables.setdefault((line.cases, line.outcomes), []).append(number)
    drafts: dict[tuple[str, MemoryMethod | None], _Draft] = {}
    for (cases, outcomes), numbers in tables.items():
        known = msgspec.json.decode(outcomes, type=Outcomes)
        values = np.frombuffer(b"".join(lines[number].medians for number in numbers), dtype=np.float64)
        columns = values.reshape(len(numbers), -1).T
        for case, (status, method), column in zip(_cases(cases), known, columns, strict=True):
            if keys is None or case.key in keys:
                draft = drafts.setdefault(
                    (case.key, method if metric == "memory" else None),
                    _Draft(case, method if metric == "memory" else None),
                )
                _add(draft, status, numbers, column)
    return [_in_order(draft) for draft in drafts.values()]


def _add(draft: _Draft, status: Status, numbers: Sequence[int], column: Floats) -> None:
    if status == "ok":
        known = ~np.isnan(column)
        draft.runs += np.asarray(numbers)[known].tolist()
        draft.values += column[known].tolist()
    elif status != "skipped":
        draft.failures[status] = draft.failures.get(status, 0) + len(numbers)


def _in_order(draft: _Draft) -> _Draft:
    order = np.argsort(np.asarray(draft.runs, dtype=np.int64), kind="stable")
    draft.runs = [draft.runs[n] for n in order]
    draft.values = [draft.values[n] for n in order]
    return draft


def _section(
    machine: Machine, lines: Sequence[Line], drafts: Sequence[_Draft], count: int, threshold: float
) -> Section:
    software = {
        text: msgspec.json.decode(text, type=dict[str, str]) for text in {line.software for line in lines}
    }
    runs = [Run(line.run, line.path, line.started_at, line.state, software[line.software]) for line in lines]
    series = []
    for draft in drafts:
        changes = find_changes(draft.logs, count, threshold)
        told = tuple(_told(change, [runs[n] for n in draft.runs]) for change in changes)
        series.append(Series(draft.case, draft.method, draft.runs, draft.values, told, draft.failures))
    return Section(machine, tuple(runs), tuple(series))


def _told(change: Change, runs: Sequence[Run]) -> Found:
    """A change with the software that changed there, or else nearby."""
    for away in sorted(range(-NEARBY, NEARBY + 1), key=lambda away: (abs(away), away)):
        after = change.at + away
        if 0 < after < len(runs) and runs[after].software is not runs[after - 1].software:
            different = field_differences([runs[after - 1].software], [runs[after].software])
            return Found(change, tuple(different), away)
    return Found(change, ())
