"""A folder of made-up runs of one machine, as large as asked for.

    python -m tests.scale.folder FOLDER FILES [CASES]

Every case has the samples that a real one leaves: 7 processes of 20 blocks and 30 single steps.
The first third of the runs has an older jax; from it on every fifth case is a tenth slower.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from suite.record.schema import Environment, Process, to_json
from suite.spec.case import Case
from tests.builders import case, environment, process
from tests.sides import newer, run_of

START = datetime(2026, 1, 1, tzinfo=UTC)
SLOWDOWN = 1.10


def make_folder(folder: Path, files: int, cases: int = 50, seed: int = 0) -> None:
    """Writes `files` runs, an hour apart, a folder for each hundred."""
    rng = random.Random(seed)
    measured = [(case(batch=batch), _processes(rng)) for batch in range(1, cases + 1)]
    for number in range(files):
        later = number >= files // 3
        started = (START + timedelta(hours=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
        path = folder / f"{number // 100:04d}" / f"{number:06d}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_run(rng, measured, later, id=f"{number:08x}", started_at=started))


def _processes(rng: random.Random) -> list[Process]:
    return [
        process(
            n,
            block_ns=[round(4e7 * rng.gauss(1, 0.02)) for _ in range(20)],
            latency_ns=[round(4.4e6 * rng.gauss(1, 0.05)) for _ in range(30)],
            duration_s=3600.0,
        )
        for n in range(7)
    ]


def _run(
    rng: random.Random, measured: Sequence[tuple[Case, list[Process]]], later: bool, **run: str
) -> bytes:
    """One run: of every case the same samples in another order, times what the run differs by."""
    place: Environment = newer() if later else environment()
    cases = []
    for number, (of, processes) in enumerate(measured):
        factor = rng.gauss(1, 0.01) * (SLOWDOWN if later and number % 5 == 0 else 1)
        moved = []
        for one in processes:
            turn = rng.randrange(20)
            blocks = [round(block * factor) for block in one.block_ns[turn:] + one.block_ns[:turn]]
            moved.append(process(one.index, block_ns=blocks, latency_ns=one.latency_ns, duration_s=3600.0))
        cases.append((of, moved))
    return to_json(run_of(cases, place, **run))


if __name__ == "__main__":
    make_folder(Path(sys.argv[1]), *map(int, sys.argv[2:]))
