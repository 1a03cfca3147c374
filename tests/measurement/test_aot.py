"""The ahead-of-time path: chaining, donation, what must be refused, fewest bytes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from suite.measurement.aot import AotStep
from suite.measurement.failure import StepFailedError, classify


def counter(state, batch):
    return {"n": state["n"] + 1, "w": state["w"]}, (state["w"] * batch).sum() + state["n"]


def make_state():
    return {"n": jnp.zeros((), jnp.int32), "w": jnp.ones((8,))}


def test_steps_are_chained_and_outputs_are_of_the_last() -> None:
    step = AotStep(counter, make_state(), jnp.full((8,), 2.0))
    step.run(5)
    assert int(step.state()["n"]) == 5
    assert float(step.outputs()) == 16 + 4


def test_all_of_the_state_is_donated_and_aliased() -> None:
    state = make_state()
    step = AotStep(counter, state, jnp.ones((8,)))
    assert step.program.static is not None
    assert step.program.static.alias_bytes >= 4 + 32
    step.run(1)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(state))


def test_an_already_jitted_donating_step_works() -> None:
    jitted = jax.jit(counter, donate_argnums=0)
    step = AotStep(jitted, make_state(), jnp.ones((8,)))
    step.run(3)
    assert int(step.state()["n"]) == 3


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda s, b: (s.astype(jnp.bfloat16), b), "float32[8] to bfloat16[8]"),
        (lambda s, b: (s[:4], b), "float32[8] to float32[4]"),
        (lambda s, b: ({"s": s}, b), "expected"),
    ],
)
def test_state_that_does_not_chain_is_refused(step, said: str) -> None:
    with pytest.raises(StepFailedError) as caught:
        AotStep(step, jnp.ones((8,)), jnp.ones((8,)))
    assert caught.value.status == "error"
    assert said in str(caught.value)


def test_fewest_bytes_count_what_is_read_and_written_once() -> None:
    state = {"w": jnp.ones((100, 100)), "unused": jnp.ones((50,))}
    infer = AotStep(lambda s, b: (s, b @ s["w"]), state, jnp.ones((10, 100)))
    # Reads w and the batch, writes 10 x 100 outputs; `unused` only passes through.
    assert infer.program.bytes_min == 4 * (100 * 100 + 10 * 100 + 10 * 100)
    update = AotStep(lambda s, b: (s + b, s.sum()), jnp.ones((100,)), jnp.ones((100,)))
    assert update.program.bytes_min == 4 * (100 + 100 + 100 + 1)


def test_fewest_bytes_see_through_one_jit() -> None:
    state = {"w": jnp.ones((10, 10)), "unused": jnp.ones((50,))}
    step = AotStep(jax.jit(lambda s, b: (s, b @ s["w"])), state, jnp.ones((10, 10)))
    assert step.program.bytes_min == 4 * 300


def test_fewest_bytes_see_through_a_jit_among_others() -> None:
    inner = jax.jit(lambda s, b: (s, b @ s["w"]))

    def step(state, batch):
        state, product = inner(state, batch)
        return state, product * 2

    state = {"w": jnp.ones((10, 10)), "unused": jnp.ones((50,))}
    assert AotStep(step, state, jnp.ones((10, 10))).program.bytes_min == 4 * 300


def test_unmoved_bytes_are_taken_off() -> None:
    step = AotStep(lambda s, b: (s, s[b]), jnp.ones((1000, 4)), jnp.arange(3), unmoved_bytes=16 * 997)
    assert step.program.bytes_min == 16 * 3 + 4 * 3 + 16 * 3


def test_loops_are_noticed_at_any_depth() -> None:
    def scanned(state, batch):
        return jax.lax.scan(lambda c, x: (c + x, c), state, batch)

    assert AotStep(jax.jit(scanned), jnp.zeros(()), jnp.ones((4,))).program.has_loop
    assert not AotStep(counter, make_state(), jnp.ones((8,))).program.has_loop


def test_compile_stages_are_timed_apart() -> None:
    compiled = AotStep(counter, make_state(), jnp.ones((8,))).program.compile
    assert compiled.cache == "cold"
    assert all(ns > 0 for ns in (compiled.trace_ns, compiled.lower_ns, compiled.compile_ns))


def test_out_of_memory_depends_on_the_stage() -> None:
    error = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 5 bytes")
    assert classify(error, "compile")[0] == "does_not_fit"
    assert classify(error, "blocks")[0] == "oom"
    assert classify(MemoryError("no"), "build")[0] == "oom"
    assert classify(jax.errors.JaxRuntimeError("UNIMPLEMENTED: bf16"), "compile")[0] == "unsupported"
    assert classify(ValueError("x\ny"), "build") == ("error", "ValueError: x")


def test_each_batch_of_a_series_gets_one_step_and_stays_for_the_next() -> None:
    step = AotStep(counter, make_state(), jnp.ones((8,)))
    step.run_over(jnp.full((8,), float(value)) for value in (1, 2, 3))
    assert int(step.state()["n"]) == 3
    assert float(step.outputs()) == 24 + 2
    step.run(1)
    assert float(step.outputs()) == 24 + 3
