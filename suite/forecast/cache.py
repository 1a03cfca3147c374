"""Earlier answers on the disk, by program, chip and the versions of what compiled it. No jax."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from suite.forecast.targets import Target
from suite.record.atomic import replace_file
from suite.record.base import to_json
from suite.record.forecast import Forecast

# Raised when the same program for the same chip would get another answer: other compiler flags,
# another rule for what fits.
_METHOD = 1


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
