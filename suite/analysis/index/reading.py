"""Summaries of the files that arguments name: from the index where it knows them, else from the files."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec

from suite.analysis.index.database import Database, Line, default_path, line_of
from suite.analysis.index.listing import Found, listed, stat
from suite.analysis.index.worker import Answer, answer
from suite.analysis.metrics import Metric
from suite.errors import ResultFileError

_ALONE = 200
"""So few files are read sooner than other processes have started."""
_BATCH = 500
_MOST_WORKERS = 8
_PART = 500
"""Files for one process: few enough for memory, and that starting an interpreter is little of it."""


@dataclass(frozen=True)
class Summaries:
    """The lines of every file that could be read, in no order, and what is to be said of the rest.

    Attributes:
        lines: one for each result file.
        skipped: why files in folders and globs were passed over.
        notes: what made reading slow.
        read: files that had to be read, rather than the index.
    """

    lines: tuple[Line, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    read: int


def summaries(
    arguments: Sequence[str],
    metric: Metric = "step_time",
    processes: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Summaries:
    """Summarises result files.

    Args:
        arguments: files, folders and globs. A file named by itself must be readable.
        metric: whose medians are wanted.
        processes: whether the figures of each process are wanted too.
        say: is told, once, when many files have to be read.

    Raises:
        ResultFileError: a named file cannot be read, or nothing in a folder or glob can be.
    """
    lines: dict[str, Line] = {}
    count = 0
    with Database(default_path()) as index:
        for argument in arguments:
            found = listed(argument)
            if found is None:
                found = _single(argument)
            fresh = [one for one in found if one.path not in lines]
            known = dict(index.lines(fresh, metric, processes))
            missing = [one for one in fresh if one not in known]
            count += len(missing)
            if len(missing) > _ALONE:
                say(f"reading {len(missing)} result files")
            lines |= {one.path: line for one, line in known.items()}
            lines |= {line.path: line for line in _read(index, missing, metric, processes)}
            if os.path.isdir(argument):
                index.forget_deleted(argument, found)
            _refuse_nothing(argument, found, lines)
    good = tuple(line for line in lines.values() if line.reason is None)
    skipped = tuple(line.reason for _, line in sorted(lines.items()) if line.reason is not None)
    return Summaries(good, skipped, _notes(index) if count else (), count)


def _notes(index: Database) -> tuple[str, ...]:
    if index.problem is None:
        return ()
    return (
        f"summaries cannot be kept in {index.path} ({index.problem}), so every file is read each time; set "
        "XDG_CACHE_HOME to a folder that can be written",
    )


def _single(argument: str) -> list[Found]:
    found = stat(argument)
    # What is not there is left to the ordinary reader, which names its neighbours; a journal can be read too.
    return [found if found is not None else Found(argument, 0, 0, 0, False)]


def _refuse_nothing(argument: str, found: Sequence[Found], lines: dict[str, Line]) -> None:
    if any(lines[one.path].reason is None for one in found):
        return
    if len(found) == 1 and found[0].path == argument:
        raise ResultFileError(lines[argument].reason)
    what = (
        f"{len(found)} .json files, none of them readable: {lines[found[0].path].reason}"
        if found
        else "no .json file. `jaxmark run` writes one."
    )
    raise ResultFileError(f"{argument}: expected at least one result file of jaxmark, found {what}")


def _read(index: Database, missing: Sequence[Found], metric: Metric, processes: bool) -> Iterator[Line]:
    """Reads files, and keeps what they say."""
    for batch in _batches(zip(missing, _answers([one.path for one in missing]), strict=True)):
        index.put((one, row) for one, row in batch if one.settled)
        for one, row in batch:
            yield line_of(one.path, row, metric, processes)


def _batches(pairs: Iterator[tuple[Found, Answer]]) -> Iterator[list[tuple[Found, Answer]]]:
    while batch := list(itertools.islice(pairs, _BATCH)):
        yield batch


def _answers(paths: Sequence[str]) -> Iterator[Answer]:
    """An answer for each path, in order; from several processes where there are many."""
    workers = min(_cores(), _MOST_WORKERS)
    if len(paths) <= _ALONE or workers < 2:
        yield from map(answer, paths)
        return
    size = min(_PART, -(-len(paths) // workers))
    parts = iter([paths[start : start + size] for start in range(0, len(paths), size)])
    with ThreadPoolExecutor(workers) as pool:
        running = deque(pool.submit(_elsewhere, part) for part in itertools.islice(parts, workers + 1))
        while running:
            done = running.popleft().result()
            running.extend(pool.submit(_elsewhere, part) for part in itertools.islice(parts, 1))
            yield from done


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _elsewhere(paths: Sequence[str]) -> list[Answer]:
    # The module path of this process, whatever it was made of: the package need not be installed.
    script = (
        f"import sys; sys.path[:] = {[os.path.abspath(entry) for entry in sys.path]!r}; "
        "from suite.analysis.index.worker import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        input=msgspec.msgpack.encode([os.fsencode(path) for path in paths]),
        stdout=subprocess.PIPE,
        check=True,
    )
    return msgspec.msgpack.decode(done.stdout, type=list[Answer])
