"""The journal: finished processes, one JSON line each, on the disk before the next starts.

The first line is a `JournalHeader`, every other an `Outcome`. A line without its end is what a
kill or a full disk left of the last write; it is dropped, and no other line ever is.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import msgspec

from suite.errors import ResultFileError, StorageError
from suite.record.atomic import fsync_folder, storage_error, write_all
from suite.record.migrate import migrate
from suite.record.schema import JournalHeader, Outcome, to_json

if sys.platform != "win32":
    import fcntl


class Journal:
    """A journal open for appending. Only one program at a time can have it open."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Takes over an open descriptor; use `create` or `reopen`."""
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def create(cls, path: Path, header: JournalHeader) -> Journal:
        """Makes a new journal with nothing but a header.

        Raises:
            FileExistsError: there is one already; it is untouched.
            OSError: it cannot be written; nothing is left behind.
        """
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        try:
            _lock(descriptor, path)
            write_all(descriptor, dump(header, []))
            os.fsync(descriptor)
            fsync_folder(path.parent)
        except BaseException:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        return cls(path, descriptor)

    @classmethod
    def reopen(cls, path: Path) -> tuple[Journal, JournalHeader, list[Outcome]]:
        """Opens an existing journal, cuts off a torn last line, and reads the rest.

        Raises:
            StorageError: another program is writing it.
            ResultFileError: it is no journal.
            OSError: it cannot be opened for writing.
        """
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        try:
            _lock(descriptor, path)
            data = path.read_bytes()
            header, outcomes = parse(data, str(path))
            os.ftruncate(descriptor, data.rfind(b"\n") + 1)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor), header, outcomes

    def append(self, outcome: Outcome) -> None:
        """Adds a line and waits until the disk has it.

        Raises:
            StorageError: the disk refused it; every earlier line is whole.
        """
        end = os.fstat(self._descriptor).st_size
        try:
            write_all(self._descriptor, to_json(outcome) + b"\n")
            os.fsync(self._descriptor)
        except OSError as error:
            # Half a line in the middle would spoil the journal if the disk had room again later.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, end)
            raise storage_error(
                "add a process to", self.path, error, "All processes before it are safe in that file."
            ) from error

    def close(self) -> None:
        """Closes the file and lets go of the lock. Closing twice is fine."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def dump(header: JournalHeader, outcomes: list[Outcome]) -> bytes:
    """The content of a journal; the opposite of `parse`."""
    return b"".join(to_json(record) + b"\n" for record in (header, *outcomes))


def parse(data: bytes, where: str) -> tuple[JournalHeader, list[Outcome]]:
    """Reads a journal's lines.

    Args:
        data: content of the file.
        where: its name, for messages.

    Raises:
        ResultFileError: no whole header, or a whole line that does not make sense.
    """
    *lines, _torn = data.split(b"\n")
    if not lines:
        raise ResultFileError(
            f"{where}: expected a journal of jaxmark, found {len(data)} bytes without one whole line. "
            "Nothing was measured before the run was killed; start it again."
        )
    header = _decode_header(lines[0], where)
    outcomes = [_decode_outcome(line, f"{where}, line {n}") for n, line in enumerate(lines[1:], start=2)]
    known = {case.key for case in header.cases}
    for n, outcome in enumerate(outcomes, start=2):
        if outcome.key not in known:
            raise ResultFileError(f"{where}, line {n}: {outcome.key!r} is not a case of this run.")
    return header, outcomes


def _decode_header(line: bytes, where: str) -> JournalHeader:
    try:
        document = msgspec.json.decode(line)
        if not isinstance(document, dict):
            raise msgspec.ValidationError(f"Expected `object`, got `{type(document).__name__}`")
        # A journal lives as long as its run: one of an older schema is for the version that wrote it.
        return msgspec.convert(migrate(document, where, migrations={}), JournalHeader)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultFileError(f"{where}: expected the first line of a jaxmark journal: {error}.") from error


def _decode_outcome(line: bytes, where: str) -> Outcome:
    try:
        outcome = msgspec.json.decode(line, type=Outcome)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultFileError(f"{where}: expected one finished process: {error}.") from error
    if (outcome.process is None) == (outcome.failure is None):
        raise ResultFileError(f"{where}: expected either a process or a failure, found both or neither.")
    return outcome


def _lock(descriptor: int, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StorageError(
            f"{path} is being written by another jaxmark that is still running. "
            "Wait for it, or stop it, and then resume."
        ) from error
    except OSError:
        # Some network file systems know no locks; there the unique file name has to do.
        return
