"""From files, folders and globs to the sides of a comparison.

Every argument is a side. One that names several files, a folder or a glob, stands for the newest
result of each case in them; files of several machines make a side for each machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from suite.analysis.files import load
from suite.analysis.identity import by_machine
from suite.analysis.index.listing import listed
from suite.errors import ConfigError, ResultFileError
from suite.record.schema import Environment, Result, ResultFile


@dataclass(frozen=True)
class Source:
    """A result file and where it was read."""

    path: Path
    file: ResultFile


@dataclass(frozen=True)
class Side:
    """What one argument gives from one machine.

    Attributes:
        name: the file, or the folder or glob.
        runs: the files, oldest first.
        sources: those of them that gave results.
        results: case key -> its newest result that was measured, else its newest.
        origins: case key -> the source of that result.
        superseded: results of the same cases in older files.
    """

    name: str
    runs: tuple[Source, ...]
    sources: tuple[Source, ...]
    results: dict[str, Result]
    origins: dict[str, Source]
    superseded: int

    @property
    def environment(self) -> Environment:
        """That of the newest file."""
        return self.sources[-1].file.environment


@dataclass(frozen=True)
class Gathered:
    """What all arguments give.

    Attributes:
        sides: in the order of the arguments.
        skipped: files in folders and globs that have no part in it, and why.
        notes: what made reading slow.
    """

    sides: tuple[Side, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...] = ()


def gather(
    arguments: Sequence[str], *, newest_only: bool = False, say: Callable[[str], None] = lambda _: None
) -> Gathered:
    """Reads what the arguments name.

    A file named by itself must be readable. In a folder or a glob, what is no result file is
    skipped, and its reason kept.

    Args:
        arguments: files, folders and globs.
        newest_only: read of a folder only the files that have the newest result of some case; which
            they are, the index knows.
        say: is told when many files have to be read.

    Raises:
        ResultFileError: a named file cannot be read, or nothing in a folder or glob can be.
        ConfigError: a run is there twice.
    """
    sides: list[Side] = []
    skipped: list[str] = []
    notes: tuple[str, ...] = ()
    seen: dict[str, Path] = {}
    for argument in arguments:
        if newest_only and listed(argument) is not None:
            found, left, slow = _newest_sides(argument, seen, say)
            notes = notes or slow
        else:
            sources, left = read_sources(argument)
            for source in sources:
                _refuse_twice(source.path, source.file.run.id, source.file.run.started_at, seen)
            found = _sides(argument, sources)
        sides += found
        skipped += left
    return Gathered(tuple(sides), tuple(skipped), notes)


def _newest_sides(
    argument: str, seen: dict[str, Path], say: Callable[[str], None]
) -> tuple[list[Side], list[str], tuple[str, ...]]:
    """The sides of a folder or glob, of which only the files that they need are read."""
    from suite.analysis.index.newest import newest  # with its database: two files need neither

    unreadable: dict[str, str] = {}
    while True:
        found = newest(argument, frozenset(unreadable), say)
        read: dict[str, Source] = {}
        before = len(unreadable)
        for path in sorted(path for group in found.groups for path in group.needed):
            try:
                read[path] = Source(Path(path), load(path))
            except ResultFileError as error:  # of what the index does not look at
                unreadable[path] = str(error)
        if len(unreadable) == before:
            break
    skipped = [*found.skipped, *unreadable.values()]
    if not found.groups:
        raise ResultFileError(f"{argument}: expected at least one result file of jaxmark: {skipped[0]}")
    sides = []
    for group in found.groups:
        for line in group.lines:
            _refuse_twice(Path(line.path), line.run, line.started_at, seen)
        side = _side(argument, [read[line.path] for line in group.lines if line.path in group.needed])
        sides.append(replace(side, superseded=group.results - len(side.results)))
    return sides, skipped, found.notes


def read_sources(argument: str) -> tuple[list[Source], list[str]]:
    """The result files that an argument names, oldest first, and why others were skipped.

    Raises:
        ResultFileError: a named file cannot be read, or nothing in a folder or glob can be.
    """
    found_files = listed(argument)
    if found_files is None:
        return [Source(Path(argument), load(Path(argument)))], []
    paths = [Path(one.path) for one in found_files]
    sources, skipped = [], []
    for path in paths:
        try:
            sources.append(Source(path, load(path)))
        except ResultFileError as error:
            skipped.append(str(error))
    if not sources:
        found = f"{len(paths)} .json files, none of them readable: {skipped[0]}" if paths else "no .json file"
        raise ResultFileError(
            f"{argument}: expected at least one result file of jaxmark, found {found}"
            + ("" if paths else ". `jaxmark run` writes one.")
        )
    return sorted(sources, key=lambda source: (source.file.run.started_at, str(source.path))), skipped


def side_of(path: Path, file: ResultFile) -> Side:
    """One file as a side, without reading it again."""
    return _side(str(path), [Source(path, file)])


def _refuse_twice(path: Path, run: str, started_at: str, seen: dict[str, Path]) -> None:
    # The id and not the path: a copy under another name is the same run, and no evidence.
    earlier = seen.setdefault(f"{run} {started_at}", path)
    if earlier is not path:
        same = "the same file" if earlier.resolve() == path.resolve() else "the same run"
        raise ConfigError(
            f"{path} and {earlier} are {same} (id {run}). Name each run once: compared with itself it says "
            "nothing."
        )


def _sides(argument: str, sources: Iterable[Source]) -> list[Side]:
    machines = by_machine(sources, lambda source: source.file.environment.machine)
    return [_side(argument, group) for group in machines]


def _side(argument: str, sources: Sequence[Source]) -> Side:
    origins: dict[str, tuple[Source, Result]] = {}
    total = 0
    for source in sources:  # oldest first, so that the newest stands in the end
        for result in source.file.results:
            total += 1
            if result.status != "skipped" or result.key not in origins:
                origins[result.key] = (source, result)
    used = {id(source) for source, _ in origins.values()}
    kept = tuple(source for source in sources if id(source) in used)
    return Side(
        name=str(kept[0].path) if len(kept) == 1 else argument,
        runs=tuple(sources),
        sources=kept,
        results={key: result for key, (_, result) in origins.items()},
        origins={key: source for key, (source, _) in origins.items()},
        superseded=total - len(origins),
    )
