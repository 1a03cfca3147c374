"""What must hold for the numbers that a step computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from suite.measurement.failure import StepFailedError
from suite.record.schema import Checks

LOSS_STEPS = 5
Loss = Callable[[Any], Any]


def first_losses(run: Callable[[int], None], outputs: Callable[[], Any], loss: Loss) -> list[float]:
    """Losses of steps 1 to 5; step 1 has run already.

    Raises:
        StepFailedError: 'not_finite' as soon as one of them is NaN or infinite.
    """
    losses: list[float] = []
    for number in range(1, LOSS_STEPS + 1):
        if number > 1:
            run(1)
        losses.append(float(loss(outputs())))
        if not math.isfinite(losses[-1]):
            raise StepFailedError("not_finite", f"the loss of step {number} is {losses[-1]}")
    return losses


def check(losses: list[float] | None, must_fall: bool, outputs: Any) -> Checks:
    """Judges the losses from fresh state and the outputs after the last measured step.

    Raises:
        StepFailedError: 'not_finite' for an output that is not, 'wrong' for a loss that was
            declared to fall and did not.
    """
    if not _all_finite(outputs):
        raise StepFailedError("not_finite", "the outputs after the measured steps hold NaN or infinity")
    falls = losses[-1] < losses[0] if losses else None
    if must_fall and not falls:
        first, last = (losses[0], losses[-1]) if losses else (None, None)
        raise StepFailedError(
            "wrong", f"the loss must fall over the first {LOSS_STEPS} steps; it went {first} -> {last}"
        )
    return Checks(finite=True, losses=list(losses) if losses else None, loss_falls=falls)


@jax.jit
def _finite_arrays(leaves: list[jax.Array]) -> jax.Array:
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in leaves]).all()


def _all_finite(outputs: Any) -> bool:
    leaves = jax.tree.leaves(outputs)
    arrays = [leaf for leaf in leaves if hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.inexact)]
    numbers = [leaf for leaf in leaves if isinstance(leaf, (float, complex))]
    if not all(math.isfinite(abs(number)) for number in numbers):
        return False
    return bool(_finite_arrays(arrays)) if arrays else True
