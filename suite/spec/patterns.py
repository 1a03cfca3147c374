"""How --only picks cases."""

from __future__ import annotations

import fnmatch


def matches(key: str, only: str) -> bool:
    """Whether a case's key matches, as file names match in a shell; plain words match anywhere in it."""
    pattern = only if any(c in only for c in "*?[") else f"*{only}*"
    return fnmatch.fnmatchcase(key, pattern)
