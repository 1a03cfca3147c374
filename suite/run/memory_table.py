"""Writes the table of memory anew: `python -m suite.run.memory_table [WORKLOAD...]`, by default all of it.

`jaxmark list` shows it without importing JAX. Steps are traced and nothing is allocated or run, so
the largest preset takes seconds. Run it when a workload is added or its state changes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from suite.measurement.flat import FlatStep, bytes_of
from suite.measurement.jaxprs import fewest_bytes
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.catalogue import memory
from suite.spec.catalogue.memory import Memory, memory_key
from suite.workloads import build

TARGET = Path(memory.__file__).with_name(memory.FILE)


def main(names: Sequence[str]) -> int:
    """Counts every preset and mode of these workloads, or of all, and replaces their rows of the table."""
    kept = json.loads(TARGET.read_text(encoding="utf-8")) if names else {}
    rows = []
    for case in cases():
        key = memory_key(case)
        row = kept.get(key) if names and case.workload not in names else count(case)
        if row is not None:
            rows.append(f"{json.dumps(key)}: {json.dumps(row)}")
    TARGET.write_text("{\n " + ",\n ".join(rows) + "\n}\n", encoding="utf-8")
    print(f"Wrote {len(rows)} rows to {TARGET}.")
    return 0


def cases() -> list[Case]:
    """Returns every preset and mode of the catalogue, all else at its default."""
    return [
        catalogue.resolve(spec.name, preset=preset, mode=mode)
        for spec in catalogue.all_specs()
        for preset in spec.presets
        for mode in spec.modes
    ]


def count(case: Case) -> Memory:
    """Returns what a case takes, from the shapes of its state and its traced step."""
    workload = build(case)
    state = jax.eval_shape(workload.init, jax.random.key(0))
    flat = FlatStep(workload.step, state, workload.batch(np.random.default_rng(0)))
    return Memory(
        weights=sum(bytes_of(leaf) for leaf in jax.tree.leaves(state.params)),
        state=flat.state_bytes,
        moved=max(fewest_bytes(flat.trace().jaxpr) - catalogue.unmoved_bytes(case), 0),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
