"""Faults of released versions are kept out of what the workers compute."""

from __future__ import annotations

import subprocess
import sys

import pytest

from suite.run import child
from suite.run.quirks import mend, needs_xnnpack_off

CHAINS = """
import jax, jax.numpy as jnp, numpy as np
from suite.spec import catalogue
from suite.workloads import build

workload = build(catalogue.resolve("mlp", preset="small", mode="train", precision="fp32"))
state = jax.jit(workload.init)(jax.random.key(0))
batch = jax.device_put(workload.batch(np.random.default_rng(0)))
losses = []
for options in ({}, {"donate_argnums": 0}):
    step, now = jax.jit(workload.step, **options), jax.tree.map(jnp.array, state)
    losses.append([])
    for _ in range(4):
        now, outputs = step(now, batch)
        losses[-1].append(float(outputs["loss"]))
np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
"""


def test_a_donated_chain_trains_as_an_undonated_one_does_where_workers_run() -> None:
    command = [sys.executable, "-c", CHAINS]
    done = subprocess.run(command, env=child.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("jaxlib", "expected"),
    [
        ("0.7.1", False),
        ("0.7.2", True),
        ("0.8.0", True),
        ("0.8.1", True),
        ("0.8.2", False),
        ("0.12.0.1", False),
    ],
)
def test_the_releases_are_these(jaxlib: str, expected: bool) -> None:
    assert needs_xnnpack_off(jaxlib) is expected


def test_a_users_own_flags_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.run.quirks.needs_xnnpack_off", lambda jaxlib: True)
    variables = {"XLA_FLAGS": "--xla_dump_to=x"}
    mend(variables)
    assert variables["XLA_FLAGS"] == "--xla_dump_to=x --xla_cpu_use_xnnpack=false"
    chosen = {"XLA_FLAGS": "--xla_cpu_use_xnnpack=true"}
    mend(chosen)
    assert chosen["XLA_FLAGS"] == "--xla_cpu_use_xnnpack=true"
