"""The contract between a workload and the code that measures it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PyTree = Any


@dataclass(frozen=True)
class Checks:
    """Which checks apply to a workload's steps.

    Attributes:
        loss: reads the scalar loss out of a step's outputs; None where there is none.
        loss_falls: the loss of step 5 must be below that of step 1.
    """

    loss: Callable[[PyTree], Any] | None = None
    loss_falls: bool = False


@dataclass(frozen=True)
class Workload:
    """A step to measure, as plain functions.

    Attributes:
        init: key -> state, a pytree of arrays (parameters, optimiser state, statistics).
            Traceable, so that `jax.eval_shape(init, key)` allocates nothing.
        step: (state, batch) -> (state, outputs). Pure. Training updates the state; inference
            returns it unchanged with its real outputs.
        batch: numpy Generator -> pytree of host arrays of fixed shapes, float32 or int32.
        checks: what must hold for the outputs.
        forward: (state, batch) -> the model's predictions as one float32 array; what the
            numerics check compares with the committed reference. None where there is none.
    """

    init: Callable[[Any], PyTree]
    step: Callable[[PyTree, PyTree], tuple[PyTree, PyTree]]
    batch: Callable[[np.random.Generator], PyTree]
    checks: Checks = Checks()
    forward: Callable[[PyTree, PyTree], Any] | None = None
