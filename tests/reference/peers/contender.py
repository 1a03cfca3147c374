"""One fresh process that times one contender: `python -m tests.reference.peers.contender MODEL WHO FOLDER`.

Prints one JSON object as its last line. The first steps, whose losses it gives, are its warm-up.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LOSSES = 4
STEPS = 6
PAIRS = 16
SEED = 0
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

Step = Callable[[], float]
"""Takes one step, waits for it, and returns the loss from before it."""


def main(name: str, contender: str, folder: Path, small: bool) -> dict[str, Any]:
    """What the contender came to, as JSON has it."""
    from tests.reference.peers.subjects import SUBJECTS

    subject = SUBJECTS[name]
    if contender == "weights":
        return _weights(subject, folder / f"{name}.npz", small)
    if contender == "flax":
        return _pairs(subject, folder, small)
    if contender.startswith("profile-"):
        from tests.reference.peers import profiles

        side = contender.removeprefix("profile-")
        return (
            profiles.of_ours(subject, folder, small) if side == "ours" else profiles.of_theirs(subject, small)
        )
    began = time.perf_counter()
    if contender in ("eager", "compile"):
        step = their_step(subject, small, compiled=contender == "compile")
    else:
        step = _ours(subject, contender, folder, small)
    losses = [step()]
    ready = time.perf_counter() - began
    losses += [step() for _ in range(LOSSES - 1)]
    return {"losses": losses, "ready_s": ready, "step_s": [_timed(step) for _ in range(STEPS)]}


def _timed(step: Callable[[], Any]) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def _weights(subject: Any, path: Path, small: bool) -> dict[str, Any]:
    """Draws their weights and keeps them for our side."""
    import torch

    from tests.reference.peers.subjects import dims_of

    torch.manual_seed(SEED)
    dims = dims_of(subject.case("unroll", small=small))
    np.savez(path, **subject.weights(subject.theirs(dims), dims))
    return {"path": str(path), "torch": torch.__version__, "threads": THREADS}


def our_step(subject: Any, layers: str, folder: Path, small: bool) -> Any:
    """Our compiled step with their weights, and the batch."""
    from suite.measurement.aot import AotStep
    from suite.run.subject import initial
    from suite.workloads import build
    from tests.reference.peers.subjects import in_layout
    from tests.reference.support import with_values

    case = subject.case(layers, small=small)
    workload = build(case)
    state, batch = initial(workload, SEED)
    with np.load(folder / f"{subject.workload}.npz") as file:
        values = in_layout(dict(file), subject, layers)
    import jax

    params = jax.device_put(with_values(state.params, values))
    return AotStep(workload.step, state._replace(params=params), batch)


def _ours(subject: Any, layers: str, folder: Path, small: bool) -> Step:
    step = our_step(subject, layers, folder, small)

    def take() -> float:
        step.run(1)
        return float(step.outputs()["loss"])

    return take


def their_step(subject: Any, small: bool, *, compiled: bool) -> Step:
    """Their training step as their users write it, on the same batch."""
    import torch

    from suite.workloads import build
    from tests.reference.peers.subjects import dims_of, tensors, their_loss

    torch.set_num_threads(THREADS)
    case = subject.case("unroll", small=small)
    batch = build(case).batch(np.random.default_rng(SEED))
    torch.manual_seed(SEED)
    model = subject.theirs(dims_of(case)).train()
    inputs, targets = tensors(batch["inputs"]), torch.from_numpy(batch["targets"]).long()
    update = subject.optimiser.theirs(model)
    forward = torch.compile(model) if compiled else model

    def take() -> float:
        model.zero_grad(set_to_none=True)
        loss = their_loss(forward(*inputs), targets)
        loss.backward()
        update()
        return float(loss.detach())

    return take


def _pairs(subject: Any, folder: Path, small: bool) -> dict[str, Any]:
    """Our unrolled step and Flax's own idiom in one process, step by step in a random order."""
    import jax
    from flax import nnx

    from suite.workloads import build
    from suite.workloads.training import cross_entropy
    from tests.reference.peers.subjects import dims_of

    case = subject.case("unroll", small=small)
    ours = our_step(subject, "unroll", folder, small)
    batch = jax.device_put(build(case).batch(np.random.default_rng(SEED)))
    inputs = batch["inputs"] if isinstance(batch["inputs"], tuple) else (batch["inputs"],)
    model = subject.idiom(dims_of(case), nnx.Rngs(SEED))
    optimizer = nnx.Optimizer(model, subject.optimiser.ours(), wrt=nnx.Param)

    @nnx.jit
    def train_step(model: Any, optimizer: Any, inputs: Any, targets: Any) -> Any:
        loss, grads = nnx.value_and_grad(lambda model: cross_entropy(model(*inputs), targets))(model)
        optimizer.update(model, grads)
        return loss

    def idiom() -> None:
        loss = train_step(model, optimizer, inputs, batch["targets"])
        jax.block_until_ready((loss, nnx.state(model), nnx.state(optimizer)))

    steps: dict[str, Callable[[], None]] = {"ours": lambda: ours.run(1), "idiom": idiom}
    for _ in range(2):  # compiles, and settles
        for step in steps.values():
            step()
    order, taken = random.Random(SEED), {name: list[float]() for name in steps}
    for _ in range(PAIRS):
        for name in order.sample(list(steps), 2):
            taken[name].append(_timed(steps[name]))
    return {
        "pairs": taken,
        "log_ratios": [math.log(b / a) for a, b in zip(taken["ours"], taken["idiom"], strict=True)],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), "--small" in sys.argv)), flush=True)
    os._exit(0)
