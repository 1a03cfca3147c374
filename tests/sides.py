"""Hand-made runs to compare: each case with the step times of its processes.

run_file(tmp_path / "a.json", [(case(), (4.0, 4.1, ...))], id="0a")     writes a run, returns its path
gpu()                                                                 another machine
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from suite.analysis.summary import fold
from suite.record.schema import Environment, Failure, Process, ResultFile, to_json
from suite.spec.case import Case
from tests.builders import environment, header, outcome, process

Steps = Sequence[float | Process | Failure]
"""A process for each: its step time in ms, or the whole of it."""

Cases = Sequence[tuple[Case, Steps]]


def run_of(cases: Cases, place: Environment | None = None, **changes: Any) -> ResultFile:
    """A finished run; a case without processes was never started. Keyword arguments go to the run."""
    head = header(*(of for of, _ in cases), **changes)
    if place is not None:
        head.environment = place
    outcomes = [
        outcome(of, process(n, part, duration_s=3600.0) if isinstance(part, int | float) else part)
        for of, steps in cases
        for n, part in enumerate(steps)
    ]
    return fold(head, outcomes, "complete", "2026-01-31T12:10:00Z")


def run_file(path: Path, cases: Cases, place: Environment | None = None, **changes: Any) -> str:
    """Writes a run, with its file's name as its id unless one is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_json(run_of(cases, place, **{"id": path.stem} | changes)))
    return str(path)


def gpu(**changes: Any) -> Environment:
    """A machine with an L4; keyword arguments go to it."""
    return environment(**{"machine_id": "m-l4", "platform": "cuda", "device_kind": "NVIDIA L4"} | changes)


def newer(**software: Any) -> Environment:
    """The machine of the builders with other software: a newer jax unless said otherwise."""
    place = environment()
    changes = software or {"jax": "0.12.0.1", "jaxlib": "0.12.0.1"}
    place.software = msgspec.structs.replace(place.software, **changes)
    return place


def scaled(steps: Sequence[float], factor: float) -> tuple[float, ...]:
    """The same steps, slower by a factor."""
    return tuple(step * factor for step in steps)
