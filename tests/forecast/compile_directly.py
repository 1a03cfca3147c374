"""Run by the forecasting environment: compiles a step that no workload has, and prints the answer.

python tests/forecast/compile_directly.py STEP TARGET
"""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from suite.forecast.worker import VARIABLES

os.environ.update(VARIABLES)

import jax
import jax.numpy as jnp
import numpy as np

from suite.forecast.compiling import forecast
from suite.forecast.protocol import Job
from suite.forecast.subject import Subject
from suite.record.schema import Work
from suite.spec import catalogue
from suite.spec.case import Case

ROWS = 80_000


def fused_attention(state: Any, batch: Any) -> tuple[Any, Any]:
    """JAX's own attention, which asks for an accumulation that a T4 lacks in bfloat16."""
    x = batch.astype(jnp.bfloat16)
    return state + 1, jax.nn.dot_product_attention(x, x, x, is_causal=True)


def large(state: Any, batch: Any) -> tuple[Any, Any]:
    """More float32 than either chip has: 80,000 x 80,000 is 23.8 GiB."""
    return state + batch.mean(), state[0, 0]


def host_callback(state: Any, batch: Any) -> tuple[Any, Any]:
    """Goes back to the host in the middle of a step."""
    doubled = jax.pure_callback(lambda x: 2 * x, jax.ShapeDtypeStruct((), jnp.float32), state)
    return doubled, batch


def copying(state: Any, batch: Any) -> tuple[Any, Any]:
    """Changes the dtype of its state, so that steps cannot be chained."""
    return state.astype(jnp.bfloat16), batch


STEPS = {
    "fused_attention": (fused_attention, (), (2, 64, 4, 32)),
    "large": (large, (ROWS, ROWS), (8,)),
    "host_callback": (host_callback, (), (8,)),
    "copying": (copying, (8,), (8,)),
}


def main() -> None:
    """Prints one `Forecast` as JSON."""
    step, state, batch = STEPS[sys.argv[1]]

    def of(case: Case, source: str | None) -> Subject:
        shapes = jax.eval_shape(lambda: jnp.zeros(state))
        return Subject(step, shapes, jax.ShapeDtypeStruct(batch, np.float32), Work(flops=None))

    case = catalogue.resolve("linear", preset="smoke", precision="bf16")
    print(msgspec.json.encode(forecast(Job(case=case, target=sys.argv[2]), of)).decode())


if __name__ == "__main__":
    main()
