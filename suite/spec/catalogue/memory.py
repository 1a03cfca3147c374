"""What each preset takes of memory, in numbers that only JAX can count: read from a table beside this file.

`python -m suite.run.memory_table` writes it, and a test compares every row with the workload itself.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import NamedTuple

from suite.spec.case import Case

FILE = "memory.json"


class Memory(NamedTuple):
    """Bytes of a preset in one mode, in float32 at the default batch.

    Attributes:
        weights: of the parameters.
        state: of all that a step keeps for the next: parameters, optimiser state, statistics, caches.
        moved: the fewest that a step can move: what is in use read once, what is new written once.
    """

    weights: int
    state: int
    moved: int


def memory_key(case: Case) -> str:
    """Returns the row of the table that a case at its defaults has: workload, version, preset, mode."""
    return f"{case.workload}/v{case.version}/{case.preset}/{case.mode}"


def memory_of(case: Case) -> Memory | None:
    """Returns what a case at its defaults takes; None where the table knows no such preset."""
    found = _table().get(memory_key(case))
    return None if found is None else Memory(*found)


@cache
def _table() -> dict[str, list[int]]:
    text = resources.files("suite.spec.catalogue").joinpath(FILE).read_text(encoding="utf-8")
    table: dict[str, list[int]] = json.loads(text)
    return table
