"""Which files of a large folder a comparison needs: those with the newest result of some case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from suite.analysis.identity import by_machine
from suite.analysis.index.database import Line
from suite.analysis.index.reading import summaries
from suite.record.schema import Machine
from suite.spec.case import Case


@dataclass(frozen=True)
class Group:
    """The runs of one machine.

    Attributes:
        lines: all of them, oldest first.
        needed: paths of those that have the newest result of some case.
        results: how many results all of them have.
    """

    lines: tuple[Line, ...]
    needed: frozenset[str]
    results: int


@dataclass(frozen=True)
class Newest:
    """What a folder or glob has.

    Attributes:
        groups: one for each machine.
        skipped: why other files were passed over.
        notes: what made reading slow.
    """

    groups: tuple[Group, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]


def newest(argument: str, without: frozenset[str], say: Callable[[str], None]) -> Newest:
    """The runs of each machine in a folder or glob.

    Args:
        argument: a folder or a glob.
        without: paths that turned out not to be readable.
        say: is told when many files have to be read.

    Raises:
        ResultFileError: nothing in it can be read.
    """
    found = summaries([argument], say=say)
    lines = [line for line in found.lines if line.path not in without]
    lines.sort(key=lambda line: (line.started_at, line.path))
    machines = {text: msgspec.json.decode(text, type=Machine) for text in {line.machine for line in lines}}
    groups = by_machine(lines, lambda line: machines[line.machine])
    return Newest(tuple(_group(group) for group in groups), found.skipped, found.notes)


def _group(lines: Sequence[Line]) -> Group:
    keys: dict[str, list[str]] = {}
    statuses: dict[str, list[str]] = {}
    newest_of: dict[str, str] = {}
    total = 0
    for line in lines:
        if line.cases not in keys:
            keys[line.cases] = [case.key for case in msgspec.json.decode(line.cases, type=list[Case])]
        if line.outcomes not in statuses:
            statuses[line.outcomes] = [status for status, _ in msgspec.json.decode(line.outcomes)]
        for key, status in zip(keys[line.cases], statuses[line.outcomes], strict=True):
            total += 1
            if status != "skipped" or key not in newest_of:
                newest_of[key] = line.path
    return Group(tuple(lines), frozenset(newest_of.values()), total)
