"""Which files an argument names, each with what tells whether it has changed."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

_GLOB = frozenset("*?[")
# A file written twice within a tick of the file system's clock looks the same after both.
_SETTLED_NS = 2_000_000_000


class Found(NamedTuple):
    """A file as the file system describes it.

    Attributes:
        path: as it was named or found.
        size: bytes.
        mtime_ns: when its content was last changed, as far as it says.
        ctime_ns: when anything of it was last changed; nobody sets it back.
        settled: it did not change just now, and no journal beside it may know more.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    settled: bool


def listed(argument: str) -> list[Found] | None:
    """The .json files of a folder or glob, by name; None for anything else. Hidden files have no part.

    A file's own name comes before a glob.
    """
    if os.path.isdir(argument):
        return sorted(_below(argument))
    if os.path.lexists(argument) or not _GLOB & set(argument):
        return None
    names = glob.glob(argument, recursive=True)
    return sorted(found for name in names if os.path.isfile(name) and (found := stat(name)) is not None)


def stat(path: str) -> Found | None:
    """Describes a file; None if it has gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _found(path, status, os.path.exists(Path(path).with_suffix(".journal")))


def _found(path: str, status: os.stat_result, journal: bool) -> Found:
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    settled = not journal and time.time_ns() - changed > _SETTLED_NS
    return Found(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, settled)


def _below(folder: str) -> Iterator[Found]:
    """Every .json file below a folder. What is no file is passed over, as are links to folders or nothing."""
    for parent, _, names in os.walk(folder):
        journals = {name[: -len(".journal")] for name in names if name.endswith(".journal")}
        for name in names:
            if not name.endswith(".json") or name.startswith("."):
                continue
            path = os.path.join(parent, name)
            try:
                status = os.stat(path)
            except OSError:
                continue  # a link to nothing, or deleted since
            if S_ISREG(status.st_mode):  # reading a pipe would wait for somebody to write
                yield _found(path, status, name[: -len(".json")] in journals)
