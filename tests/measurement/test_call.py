"""The call path: functions run as they are, in the style of Flax's guides."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from suite.measurement import process
from suite.measurement.call import CallStep
from suite.measurement.failure import StepFailedError
from suite.measurement.memory import MemoryProbe
from suite.spec.settings import MeasureSettings

BRIEF = MeasureSettings(warmup_seconds=0.02, block_seconds=0.02, latency_seconds=0.02)


BATCH = jnp.arange(8.0).reshape(2, 4)


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(self.drop(self.norm(self.first(x))))


def train(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda m: jnp.square(m(x)).mean())(model)
    optimizer.update(model, grads)
    return loss


def make(seed: int = 0):
    model = Net(nnx.Rngs(seed))
    return model, nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


def measure(step: CallStep, loss=None) -> process.Process:
    memory = MemoryProbe(jax.devices()[0])
    return process.measure(step, memory, process.Plan(settings=BRIEF, loss=loss), lambda _: None)


@pytest.mark.parametrize("wrap", [nnx.jit, partial(nnx.jit, donate_argnums=(0, 1)), lambda f: f])
def test_a_model_with_dropout_and_batch_norm_trains_in_place(wrap) -> None:
    model, optimizer = make()
    before = np.array(model.last.bias[...])
    found = measure(CallStep(wrap(train), (model, optimizer, BATCH), {}), loss=lambda loss: loss)
    assert not np.array_equal(before, np.asarray(model.last.bias[...]))
    assert len(found.checks.losses) == 5
    assert found.compile.cache == "call"
    assert found.compile.compile_ns is None
    assert found.memory.static is None


def test_a_function_that_returns_nothing_is_waited_for() -> None:
    model, optimizer = make()

    @nnx.jit
    def silent(model, optimizer, x):
        train(model, optimizer, x)

    step = CallStep(silent, (model, optimizer, jnp.ones((2, 4))), {})
    step.run(2)
    assert step.outputs() is None
    assert step.signature().count("float32") >= 10  # the variables that the clock waits on


def test_python_numbers_static_arguments_and_host_callbacks() -> None:
    seen = []

    @partial(jax.jit, static_argnums=1)
    def step(x, power):
        jax.debug.callback(seen.append, x.sum())
        return x**power

    found = measure(CallStep(lambda x, power: float(step(x, power).sum()), (jnp.ones((3,)), 2), {}))
    assert seen
    assert found.checks.finite is True


GLOBAL = Net(nnx.Rngs(0))


def uses_global(x):
    return GLOBAL(x)


def test_objects_reached_only_by_closure_are_refused_with_advice() -> None:
    model, _ = make()

    def closure(x):
        return model(x)

    for function in (closure, nnx.jit(closure), uses_global, partial(train, model), model, model.__call__):
        with pytest.raises(StepFailedError, match="Pass them as arguments"):
            CallStep(function, (jnp.ones((2, 4)),), {})


def test_donating_plain_arrays_is_explained() -> None:
    step = CallStep(jax.jit(lambda s, b: s + b, donate_argnums=0), (jnp.ones((64,)), jnp.ones((64,))), {})
    with pytest.raises(StepFailedError, match="pure step"):
        step.run(2)


def test_results_that_change_shape_are_kept_apart() -> None:
    lengths = iter(range(10**9))

    def ragged():
        return np.ones((3 if next(lengths) % 3 else 5,))

    found = measure(CallStep(ragged, (), {}))
    assert found.block_steps == 1
    assert found.other_shapes_ns
    assert found.block_ns
    assert "shapes_change" in [note.code for note in found.warnings]


def test_recompiling_while_measuring_is_counted() -> None:
    sizes = iter(range(1, 10**6))

    def growing():
        return jax.jit(lambda x: x.sum() + 1)(np.ones((next(sizes),), np.float32))

    found = measure(CallStep(growing, (), {}))
    assert found.conditions.compiled_during_measurement > 0


def test_objects_inside_containers_and_instances_are_found_too() -> None:
    model, _ = make()
    models = {"student": model}

    class Trainer:
        def __init__(self) -> None:
            self.model = model

    trainer = Trainer()
    for function in (lambda x: models["student"](x), lambda x: trainer.model(x)):
        with pytest.raises(StepFailedError, match="Pass them as arguments"):
            CallStep(function, (jnp.ones((2, 4)),), {})


def test_objects_that_are_returned_are_waited_for() -> None:
    step = CallStep(lambda x: nnx.Linear(4, 8, rngs=nnx.Rngs(0)), (jnp.ones((2, 4)),), {})
    step.run(2)
    assert step._gives_objects
    plain = CallStep(lambda x: x * 2, (jnp.ones((2, 4)),), {})
    plain.run(1)
    assert not plain._gives_objects
