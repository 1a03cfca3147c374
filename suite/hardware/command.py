"""Asking a system tool, and taking no answer for an answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


def output(command: Sequence[str], timeout_s: float = 20.0) -> str | None:
    """Standard output of `command`; None if it is missing, fails, hangs or says nothing."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip() or None
