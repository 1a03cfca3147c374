"""Reading the small files in which a kernel says what it has.

They may be missing, unreadable or, on some virtual machines, give an input/output error when
read: each of these means 'not known here' and reads as None.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")


def read_text(path: Path) -> str | None:
    """The file's text without surrounding white space or NULs; None if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip(" \t\n\0")
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The integer that the file holds; None if it cannot be read or holds something else."""
    try:
        return int(read_text(path) or "")
    except ValueError:
        return None
