"""Writes that survive a crash: whole or not at all, and on the disk when they return."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from suite.errors import StorageError

_ADVICE = {
    errno.ENOSPC: "Free some space, or write elsewhere with --out DIR.",
    errno.EDQUOT: "Your disk quota is used up: free some space, or write elsewhere with --out DIR.",
    errno.EFBIG: "Files may not grow this large here: write elsewhere with --out DIR.",
    errno.EROFS: "That file system is read-only: write elsewhere with --out DIR.",
    errno.EACCES: "Change its permissions, or write elsewhere with --out DIR.",
    errno.EPERM: "Change its permissions, or write elsewhere with --out DIR.",
    errno.ENOTDIR: "A part of that path is a file: choose another folder with --out DIR.",
}


def storage_error(doing: str, path: Path, error: OSError, kept: str = "") -> StorageError:
    """Makes the message for a failed write: what, where, why, what is safe, what to do."""
    why = error.strerror or str(error)
    advice = _ADVICE.get(error.errno or 0, "Write elsewhere with --out DIR.")
    return StorageError(" ".join(part for part in (f"Cannot {doing} {path}: {why}.", kept, advice) if part))


def fsync_folder(folder: Path) -> None:
    """Makes a creation, rename or removal in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of `data`; a single os.write may stop short on a disk that fills up."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(path: Path, data: bytes) -> None:
    """Writes `data` to `path`: readers see the old content or the new, never a part.

    Raises:
        OSError: nothing at `path` has changed, and the temporary file is gone.
    """
    # One fixed name for each target: what a SIGKILL leaves behind, the next write takes over.
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)
