"""Committed reference numbers, and the comparison with them: is a fast answer also the right one?

For the smoke preset of every workload and mode, `references/` holds what strict float32 on a CPU
computes from `SEED`: the losses of the first steps, and a sample of the model's predictions
before and after those steps. It is written by `python -m suite.workloads.regenerate`.

NumPy only: the device's arrays are brought to the host by the caller.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.record.schema import ReferenceCheck
from suite.spec import catalogue
from suite.spec.case import Case

SEED = 0
STEPS = 5
SAMPLES = 256
PRECISION = "fp32"

# Largest relative error that an honest run may show, and why. Each is several times what was
# seen over jax 0.7.2 to 0.12, and well below what the smallest planted fault shows.
#
#   fp32     float32 products summed in another order, five steps long.
#   default  whatever the hardware calls float32: at worst, bfloat16 products on a TPU.
#   bf16     8 bits of significand: activations and products off by 0.4% each.
#   fp16     11 bits of significand: eight times as fine.
TOLERANCES = {"fp32": 1e-3, "default": 5e-2, "bf16": 5e-2, "fp16": 1e-2}

Predictions = NDArray[np.float32]


@dataclass(frozen=True)
class Reference:
    """What the smoke preset of a workload and mode computes.

    Attributes:
        preset: that it is of.
        losses: of steps 1 to `STEPS`, in nats; None where the mode has no loss.
        before: `sample` of the predictions at fresh state.
        after: the same after `STEPS` steps.
    """

    preset: str
    losses: list[float] | None
    before: list[float]
    after: list[float]


def lookup(case: Case) -> Reference | None:
    """Returns the reference of a case; None unless it is a smoke preset as it comes.

    Precision and layers may be any: they change how the numbers are computed, not what they are.
    """
    found = _load(case.workload).get(reference_key(case))
    return None if found is None else Reference(**found)


def reference_key(case: Case) -> str:
    """Returns the identity of a case in fp32, without what does not change its numbers."""
    asked = {"precision": PRECISION, "layers": catalogue.get(case.workload).layers[0]}
    return Case(**{**_fields(case), **asked}).key


def sample(predictions: Predictions) -> list[float]:
    """Returns at most `SAMPLES` values, evenly spaced over the flattened predictions."""
    flat = np.asarray(predictions, dtype=np.float32).ravel()
    at = np.linspace(0, flat.size - 1, min(SAMPLES, flat.size)).round().astype(int)
    return [float(f"{value:.8g}") for value in flat[at]]


def compare(
    reference: Reference,
    losses: Sequence[float | None] | None,
    outputs_before: Predictions | None,
    outputs_after: Predictions | None,
    precision: str,
) -> ReferenceCheck:
    """Compares a run with the reference, each error relative; see the tolerances above.

    The error of the losses is the largest of any step. The error of the predictions is the
    root of the mean square of the differences over that of the reference, the larger of before
    and after the steps. Anything missing or not finite fails.
    """
    loss_error = None if reference.losses is None else _loss_error(reference.losses, losses)
    output_error = max(
        _output_error(reference.before, outputs_before), _output_error(reference.after, outputs_after)
    )
    tolerance = TOLERANCES[precision]
    worst = max(output_error, 0.0 if loss_error is None else loss_error)
    return ReferenceCheck(
        preset=reference.preset,
        loss_error=loss_error,
        output_error=output_error,
        tolerance=tolerance,
        passed=worst <= tolerance,
    )


def _loss_error(expected: list[float], found: Sequence[float | None] | None) -> float:
    if found is None or len(found) != len(expected):
        return math.inf
    errors = [
        math.inf if loss is None or not math.isfinite(loss) else abs(loss - right) / abs(right)
        for loss, right in zip(found, expected, strict=True)
    ]
    return max(errors)


def _output_error(expected: list[float], found: Predictions | None) -> float:
    if found is None:
        return math.inf
    values, right = np.asarray(sample(found)), np.asarray(expected)
    if values.shape != right.shape or not np.isfinite(values).all():
        return math.inf
    return float(np.linalg.norm(values - right) / np.linalg.norm(right))


def _fields(case: Case) -> dict[str, Any]:
    return {name: getattr(case, name) for name in case.__struct_fields__}


@cache
def _load(workload: str) -> dict[str, dict[str, Any]]:
    file = resources.files("suite.workloads").joinpath("references", f"{workload}.json")
    text = file.read_text(encoding="utf-8")
    references: dict[str, dict[str, Any]] = json.loads(text)["references"]
    return references
