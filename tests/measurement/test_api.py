"""Measuring from a script: the user's own arrays survive, the result says what it is, files load."""

from __future__ import annotations

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

import suite
from suite.errors import WorkloadError
from suite.spec.settings import MeasureSettings

BRIEF = MeasureSettings(warmup_seconds=0.02, block_seconds=0.02, latency_seconds=0.02)


def double(state, batch):
    return state, state * batch


def test_a_pure_step_is_measured_and_its_arrays_survive() -> None:
    state = {"w": jnp.ones((64, 64))}
    measured = suite.measure(
        lambda s, b: (s, b @ s["w"]),
        state,
        jnp.ones((8, 64)),
        items=8,
        item="row",
        name="product",
        settings=BRIEF,
    )
    assert float(state["w"].sum()) == 64 * 64
    result = measured.result
    assert result.status == "ok"
    assert result.case.path == "aot"
    assert (result.work.items, result.work.item) == (8, "row")
    assert (result.work.flops, result.work.flops_source) == (2 * 8 * 64 * 64, "xla")
    assert "one_process" in [note.code for note in result.warnings]
    assert measured.summary.step_time_ms_low is None
    assert "product" in repr(measured)


def test_flops_of_a_loop_are_not_taken_from_xla() -> None:
    def scanned(state, batch):
        return state, jax.lax.scan(lambda c, w: (c @ w, None), batch, state)[0]

    work = suite.measure(scanned, jnp.ones((3, 8, 8)), jnp.ones((8, 8)), settings=BRIEF).result.work
    assert work.flops is None
    assert "loop" in work.flops_reason


def test_a_users_own_flops_are_named_so() -> None:
    work = suite.measure(double, jnp.ones((4,)), jnp.ones((4,)), flops=77, settings=BRIEF).result.work
    assert (work.flops, work.flops_source) == (77, "user")


def test_a_training_function_of_flax_is_measured_as_it_is() -> None:
    model = nnx.Linear(8, 4, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

    @nnx.jit
    def train_step(model, optimizer, x):
        loss, grads = nnx.value_and_grad(lambda m: jnp.square(m(x)).mean())(model)
        optimizer.update(model, grads)
        return loss

    measured = suite.measure(
        train_step, model, optimizer, jnp.ones((2, 8)), path="call", loss=lambda loss: loss, settings=BRIEF
    )
    assert measured.result.case.path == "call"
    assert measured.result.processes[0].checks.loss_falls is True
    assert measured.result.work.flops is None
    assert measured.result.work.flops_reason


def test_saved_and_loaded_it_is_the_same(tmp_path) -> None:
    measured = suite.measure(double, jnp.ones((4,)), jnp.ones((4,)), settings=BRIEF)
    path = measured.save(tmp_path)
    loaded = suite.load(path)
    assert loaded.results[0].processes[0].block_ns == measured.result.processes[0].block_ns
    assert loaded.run.state == "complete"


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        ((jnp.ones(2),), {}, "expected those two arguments, found 1"),
        ((jnp.ones(2), jnp.ones(2), 1), {}, "path='call'"),
        ((jnp.ones(2), jnp.ones(2)), {"path": "jit"}, "'aot' or 'call', found 'jit'"),
    ],
)
def test_arguments_that_make_no_step_are_explained(args, options, said) -> None:
    with pytest.raises(WorkloadError, match=said):
        suite.measure(double, *args, **options)


SHARDED = """
import jax, jax.numpy as jnp, suite
mesh = jax.sharding.Mesh(jax.devices(), ("d",))
spread = jax.device_put(jnp.ones((8,)), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
suite.measure(lambda state, batch: (state, state * batch), spread, jnp.ones((8,)))
"""


def test_sharded_arrays_are_refused_and_not_gathered_on_one_device() -> None:
    variables = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-c", SHARDED], env=variables, capture_output=True, text=True, timeout=300
    )
    assert done.returncode != 0
    assert "found arrays spread over 2" in done.stderr


@pytest.mark.parametrize(
    ("step", "options", "said"),
    [
        (3, {}, "expected a function as the step, found int"),
        (double, {"name": "a/b"}, "without '/'"),
        (double, {"name": "\x1b[31m"}, "printable"),
        (double, {"name": ""}, "printable"),
        (double, {"settings": {}}, "expected MeasureSettings, found dict"),
        (double, {"settings": MeasureSettings(block_seconds=-1.0)}, "block_seconds of 0 or more"),
    ],
)
def test_what_makes_no_result_is_refused_at_once(step, options, said) -> None:
    with pytest.raises(WorkloadError, match=said):
        suite.measure(step, jnp.ones(2), jnp.ones(2), **options)


def test_the_public_names_are_these() -> None:
    assert sorted(suite.__all__) == [
        "Call", "Checks", "Facts", "MeasureSettings", "Measured",
        "Step", "Workload", "__version__", "load", "measure",
    ]  # fmt: skip
    for name in suite.__all__:
        assert getattr(suite, name) is not None
