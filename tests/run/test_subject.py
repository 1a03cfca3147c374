"""From a user's objects to a step that is ready to run."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from suite.measurement.memory import MemoryProbe
from suite.run import subject
from suite.workloads.own import Step


@pytest.mark.parametrize("make", [jnp.ones, lambda n: np.ones(n, np.float32)])
def test_an_array_may_stand_twice_in_state_and_batch(make) -> None:
    tied = make(8)
    own = Step(lambda s, b: ({"w": s["w"] + b, "ema": s["ema"]}, b), {"w": tied, "ema": tied}, tied)
    ready = subject.from_object(own, 0, MemoryProbe(jax.devices()[0]), lambda _: None).step
    ready.run(3)
    assert {name: float(leaf[0]) for name, leaf in ready.state().items()} == {"w": 4.0, "ema": 1.0}
