"""The numerics check: does this machine compute what the reference machine computed?

References are committed for the smoke preset of every workload and mode. A larger preset has
none, so the smoke preset of the same workload, mode, precision and layers is run beside it, on
the same device, after everything has been measured. A fast wrong answer is no result.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from suite.measurement import checks
from suite.measurement.aot import AotStep
from suite.measurement.failure import StepFailedError
from suite.record.schema import Checks, ReferenceCheck
from suite.run.protocol import Job
from suite.run.subject import initial
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build, reference
from suite.workloads.base import Workload


def complete(found: Checks, job: Job) -> None:
    """Fills in the reference check of `found`, or why there is none.

    Raises:
        StepFailedError: 'wrong' if the smoke preset disagrees with its reference.
    """
    if job.source is not None:
        found.reference_reason = "a workload of one's own has no reference"
    elif not job.verify:
        found.reference_reason = "checked in the case's first process"
    else:
        found.reference = against_reference(smoke_case(job.case))
        if found.reference is None:
            found.reference_reason = "no reference is committed for this workload and mode"
        elif not found.reference.passed:
            raise StepFailedError("wrong", describe(found.reference))


def smoke_case(case: Case) -> Case:
    """The smoke preset of a case's workload, mode, precision and layers."""
    return catalogue.resolve(
        case.workload, preset="smoke", mode=case.mode, precision=case.precision, layers=case.layers
    )


def against_reference(case: Case) -> ReferenceCheck | None:
    """Runs five steps of a smoke case from the reference's seed and compares; None without one."""
    known = reference.lookup(case)
    if known is None:
        return None
    workload = build(case)
    state, batch = initial(workload, reference.SEED)
    before = _predict(workload, state, batch)
    step = AotStep(workload.step, state, batch)
    step.run(1)
    losses = None
    if workload.checks.loss is not None:
        losses = checks.first_losses(step.run, step.outputs, workload.checks.loss)
    else:
        # A step without a loss may move its state too: decoding fills a cache, sampling an image.
        step.run(reference.STEPS - 1)
    after = _predict(workload, step.state(), batch)
    return reference.compare(known, losses, before, after, case.precision)


def describe(check: ReferenceCheck) -> str:
    """One line on a failed check."""
    errors = [
        f"{name} {error:.2g}"
        for name, error in (("loss", check.loss_error), ("outputs", check.output_error))
        if error is not None
    ]
    return (
        f"preset {check.preset!r} disagrees with its reference: relative error of {' and '.join(errors)}, "
        f"allowed {check.tolerance:.2g}"
    )


def _predict(workload: Workload, state: Any, batch: Any) -> np.ndarray[Any, Any] | None:
    if workload.forward is None:
        return None
    return np.asarray(jax.jit(workload.forward)(state, batch))
