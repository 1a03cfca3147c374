"""Writes the references anew: `python -m suite.workloads.regenerate [WORKLOAD...]`, all of them by default.

Run it on a CPU after the meaning of a workload has changed, together with a bump of the
workload's version, and look at the difference before committing it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import flax
import jax
import numpy as np

from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, reference
from suite.workloads.base import Workload
from suite.workloads.reference import Reference

FOLDER = Path(__file__).with_name("references")


def main(names: Sequence[str]) -> int:
    """Computes the references of these workloads and replaces their files; only ever on a CPU."""
    if jax.default_backend() != "cpu":
        print(
            f"References are made on a CPU, found {jax.default_backend()!r}. Set JAX_PLATFORMS=cpu.",
            file=sys.stderr,
        )
        return 2
    versions = {"jax": jax.__version__, "flax": flax.__version__}
    for name in names or [spec.name for spec in catalogue.all_specs()]:
        found = {reference.reference_key(case): asdict(compute(case)) for case in cases(name)}
        target = FOLDER / f"{name}.json"
        content = {**versions, "seed": reference.SEED, "references": found}
        target.write_text(_text(content), encoding="utf-8")
        print(f"Wrote {len(found)} references to {target}.")
    return 0


def cases(name: str) -> list[Case]:
    """Returns the smoke case of every mode of a workload, in the reference's precision."""
    return [
        catalogue.resolve(name, preset="smoke", mode=mode, precision=reference.PRECISION)
        for mode in catalogue.get(name).modes
    ]


def compute(case: Case) -> Reference:
    """Returns the reference that a smoke case gives on this machine.

    Raises:
        ValueError: the workload predicts nothing to compare.
    """
    workload = build(case)
    losses, before, after = run(workload, *start(workload))
    return Reference(case.preset, losses, reference.sample(before), reference.sample(after))


def start(workload: Workload) -> tuple[Any, Any]:
    """Returns the state and the batch that the reference starts from."""
    state = jax.jit(workload.init)(jax.random.key(reference.SEED, impl="threefry2x32"))
    return state, workload.batch(np.random.default_rng(reference.SEED))


def run(
    workload: Workload, state: Any, batch: Any, jit: Callable[[Any], Any] = jax.jit
) -> tuple[list[float] | None, Any, Any]:
    """Takes the reference's steps; returns (losses, predictions before, predictions after).

    Raises:
        ValueError: the workload predicts nothing to compare.
    """
    if workload.forward is None:
        raise ValueError("A reference needs the workload's predictions: set Workload.forward.")
    forward, step = jit(workload.forward), jit(workload.step)
    before, losses = np.asarray(forward(state, batch)), []
    for _ in range(reference.STEPS):
        state, outputs = step(state, batch)
        if workload.checks.loss is not None:
            losses.append(float(workload.checks.loss(outputs)))
    return losses or None, before, np.asarray(forward(state, batch))


def _text(content: dict[str, Any]) -> str:
    """Returns JSON with one line for each list, so that a difference can be read."""
    indented = json.dumps(content, indent=1)
    return re.sub(r"(?<=[\[,])\n\s+(?=[-\d])|(?<=\d)\n\s+(?=\])", "", indented) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
