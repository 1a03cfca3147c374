"""The index on disk: a SQLite file in the user's cache folder.

    <cache folder>/summaries-<version>.sqlite

What it holds can be had again from the result files, so a database that is damaged is thrown
away, and one that cannot be written is done without.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from suite.analysis.index.extract import Row
from suite.analysis.index.listing import Found
from suite.analysis.metrics import METRICS, Metric
from suite.record.environment import Machine
from suite.record.machine import cache_folder
from suite.record.paired import SideName
from suite.spec.case import Case

VERSION = 2
"""Of tables and figures: grows when either means something else, `software_fields` included."""

# An index that holds other fields than this version's is made anew.
_FIELDS = (VERSION, METRICS, Machine.__struct_fields__, Case.__struct_fields__)
_FORMAT = zlib.crc32(repr(_FIELDS).encode()) & 0x7FFFFFFF or 1
_WAIT_S = 10.0
_TABLES = f"""
CREATE TABLE texts (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE);
CREATE TABLE files (
  path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  reason TEXT, run TEXT, started_at TEXT, state TEXT, config TEXT, paired TEXT,
  machine INTEGER, software INTEGER, cases INTEGER, outcomes INTEGER,
  {", ".join(f"{metric} BLOB" for metric in METRICS)}
);
CREATE TABLE processes (path BLOB PRIMARY KEY, figures BLOB NOT NULL);
PRAGMA user_version = {_FORMAT};
"""


class Line(NamedTuple):
    """What the index says of a file, with one metric's medians.

    Attributes:
        path: of the file.
        reason: why it could not be read; the rest is then empty.
        paired: the side, of a run that `jaxmark ab` made; None for others.
        machine: JSON, as are `software`, `cases` and `outcomes`: see `Row`. Equal texts are one object.
        medians: a double for each case.
        processes: MessagePack of the processes' figures, where they were asked for.
    """

    path: str
    reason: str | None
    run: str = ""
    started_at: str = ""
    state: str = ""
    config: str = ""
    paired: SideName | None = None
    machine: str = ""
    software: str = ""
    cases: str = ""
    outcomes: str = ""
    medians: bytes = b""
    processes: bytes = b""


def line_of(path: str, row: Row | str, metric: Metric, processes: bool) -> Line:
    """The line of a file that was just read; `row` is the reason where it could not be."""
    if isinstance(row, str):
        return Line(path, row)
    run = row.run, row.started_at, row.state, row.config, row.paired
    texts = row.machine, row.software, row.cases, row.outcomes
    return Line(path, None, *run, *texts, row.medians[metric], row.processes if processes else b"")


class Database:
    """An open index. Every failure of SQLite becomes `problem`, after which it holds nothing."""

    def __init__(self, path: Path) -> None:
        """Opens it; made where it is not there, made anew where it is damaged or of another version."""
        self.path = path
        self.problem: str | None = None
        self._connection: sqlite3.Connection | None = None
        self._texts: dict[str, int] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = _open(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                    raise
                self._remove()
                self._connection = _open(path)
        except (sqlite3.Error, OSError) as error:
            self._fail(error)

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def lines(self, found: Sequence[Found], metric: Metric, processes: bool) -> Iterator[tuple[Found, Line]]:
        """The lines of those files that it knows as they are now."""
        if self._connection is None or not found:
            return
        wanted = {_key(one.path): one for one in found}
        try:
            texts = dict(self._connection.execute("SELECT id, content FROM texts"))
            for key, state, line in self._select(wanted, metric, processes):
                one = wanted.get(key)
                if one is not None and one.settled and state == one[1:4]:
                    yield one, _line(one.path, line, texts)
        except sqlite3.Error as error:
            self._fail(error)

    def _select(
        self, wanted: Iterable[bytes], metric: Metric, processes: bool
    ) -> Iterator[tuple[bytes, tuple[int, ...], list[Any]]]:
        assert self._connection is not None
        low, high = min(wanted), max(wanted)
        columns = "reason, run, started_at, state, config, paired, machine, software, cases, outcomes"
        figures = "(SELECT figures FROM processes p WHERE p.path = f.path)" if processes else "NULL"
        rows = self._connection.execute(
            f"SELECT path, size, mtime_ns, ctime_ns, {columns}, {metric}, {figures} FROM files f "
            "WHERE path BETWEEN ? AND ?",
            (low, high),
        )
        for key, size, mtime_ns, ctime_ns, *line in rows:
            yield key, (size, mtime_ns, ctime_ns), line

    def put(self, read: Iterable[tuple[Found, Row | str]]) -> None:
        """Keeps what was read of some files."""
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                for one, row in read:
                    self._put(self._connection, one, row)
        except sqlite3.Error as error:
            self._fail(error)

    def _put(self, connection: sqlite3.Connection, one: Found, row: Row | str) -> None:
        key = _key(one.path)
        values: list[object] = [key, *one[1:4]]
        if isinstance(row, str):
            values += [row, *[None] * (9 + len(METRICS))]
            connection.execute("DELETE FROM processes WHERE path = ?", (key,))
        else:
            texts = (row.machine, row.software, row.cases, row.outcomes)
            values += [None, row.run, row.started_at, row.state, row.config, row.paired]
            values += [*(self._text(connection, text) for text in texts)]
            values += [row.medians[metric] for metric in METRICS]
            connection.execute("INSERT OR REPLACE INTO processes VALUES (?, ?)", (key, row.processes))
        connection.execute(f"INSERT OR REPLACE INTO files VALUES ({', '.join('?' * len(values))})", values)

    def _text(self, connection: sqlite3.Connection, content: str) -> int:
        if content not in self._texts:
            connection.execute("INSERT OR IGNORE INTO texts (content) VALUES (?)", (content,))
            (number,) = connection.execute("SELECT id FROM texts WHERE content = ?", (content,)).fetchone()
            self._texts[content] = number
        return self._texts[content]

    def forget_deleted(self, folder: str, found: Sequence[Found]) -> None:
        """Drops the files below a folder that are no longer in it."""
        if self._connection is None:
            return
        prefix = _key(os.path.join(folder, ""))
        there = {_key(one.path) for one in found}
        try:
            rows = self._connection.execute(
                "SELECT path FROM files WHERE path >= ? AND path < ?", (prefix, prefix + b"\xff")
            )
            gone = [(key,) for (key,) in rows if bytes(key) not in there]
            if gone:
                with self._connection:
                    self._connection.executemany("DELETE FROM files WHERE path = ?", gone)
                    self._connection.executemany("DELETE FROM processes WHERE path = ?", gone)
        except sqlite3.Error as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Goes on without the index. A damaged one is removed, for the next command to make anew."""
        self.problem = getattr(error, "strerror", None) or str(error)
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        self._close()
        if damaged:
            with contextlib.suppress(OSError):
                self._remove()

    def _remove(self) -> None:
        self._close()
        for suffix in ("", "-journal"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def default_path() -> Path:
    """Where the index is kept."""
    return cache_folder() / f"summaries-{VERSION}.sqlite"


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    try:
        # Nothing is lost with it that the files do not have; a crash may cost reading them again.
        connection.execute("PRAGMA synchronous = OFF")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            _make(connection)
        elif version != _FORMAT:
            raise sqlite3.DatabaseError(f"of version {version}")
        connection.execute("SELECT count(*) FROM (SELECT path FROM files LIMIT 1)")
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection) -> None:
    """Makes the tables, unless another program has done so since."""
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
    connection.execute("COMMIT")


def _key(path: str) -> bytes:
    """A path as the index knows it: absolute, and in bytes, since a name need not be text."""
    return os.fsencode(os.path.abspath(path))


def _line(path: str, row: Sequence[Any], texts: dict[int, str]) -> Line:
    reason, run, started_at, state, config, paired, *numbers, medians, processes = row
    if reason is not None:
        return Line(path, reason)
    machine, software, cases, outcomes = (texts[number] for number in numbers)
    own = run, started_at, state, config, paired
    return Line(path, None, *own, machine, software, cases, outcomes, medians, processes or b"")
