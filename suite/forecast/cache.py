"""Earlier answers on the disk, by program, chip and the versions of what compiled it. No jax.

To know a program it must be traced, which takes seconds. So what a built-in case came to is found
by the case as well, as long as not one line of this package has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

import suite
from suite.forecast.protocol import Job
from suite.forecast.targets import Target
from suite.record.atomic import replace_file
from suite.record.base import to_json
from suite.record.forecast import Forecast

# Raised when the same program for the same chip would get another answer: other compiler flags,
# another rule for what fits.
_METHOD = 3


def place(folder: Path, program: str, target: Target, versions: Mapping[str, str]) -> Path:
    """The file of one answer.

    Args:
        folder: of all answers.
        program: hash of what is compiled.
        target: every figure of it counts, since the compiler is told them.
        versions: by distribution.
    """
    facts = target.facts
    told = [facts.topology, facts.target, facts.memory_bytes, facts.bandwidth, facts.compute_capability]
    identity = [_METHOD, program, target.name, told, dict(sorted(versions.items()))]
    return folder / f"{hashlib.sha256(json.dumps(identity).encode()).hexdigest()}.json"


def shortcut(folder: Path, job: Job, target: Target, versions: Mapping[str, str]) -> Path | None:
    """The file that names the answer to a job; None for a user's workload, whose code may import anything."""
    if job.source is not None:
        return None
    program = f"{_package_hash()} {job.case.key}"
    return folder / "cases" / place(folder, program, target, versions).name


def follow(path: Path) -> Forecast | None:
    """The earlier answer that a shortcut names; None if there is none that can be read."""
    try:
        return read(path.parent.parent / path.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError):
        return None


def remember(path: Path, answer: Path) -> None:
    """Lets a shortcut name an answer."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, answer.name.encode("ascii"))


@cache
def _package_hash() -> str:
    """Of every file that decides what a case's program is."""
    found = hashlib.sha256()
    root = Path(suite.__file__).parent
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def read(path: Path) -> Forecast | None:
    """The earlier answer; None if there is none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Forecast)
    except (OSError, msgspec.DecodeError):
        return None


def write(path: Path, answer: Forecast) -> None:
    """Keeps an answer. A disk that takes nothing costs the next call its time, and no more."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, to_json(answer))
