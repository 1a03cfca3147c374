"""Reading a prompt, and going on token by token, give what the whole sequence gives at once."""

from __future__ import annotations

import re
import statistics
import time
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from suite.models.gpt import GPT
from suite.models.precision import POLICIES
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads import build
from suite.workloads.network import Network
from suite.workloads.training import TrainState, array_of, training
from tests.models.running import abstract, initial, quick_jit

DECODERS = [spec.name for spec in catalogue.all_specs() if "decode" in spec.modes]
EVERY = [(name, layers) for name in DECODERS for layers in ("scan", "unroll")]
each_decoder = pytest.mark.parametrize(("name", "layers"), EVERY, ids=map("-".join, EVERY))


def smoke(name: str, mode: str, layers: str, **params: int) -> Case:
    return catalogue.resolve(
        name, preset="smoke", mode=mode, precision="fp32", layers=layers, params=whole(name, mode) | params
    )


def whole(name: str, mode: str) -> dict[str, int]:
    """Settings with which no token is dropped."""
    setting = catalogue.get(name).settings.get("capacity")
    return {} if setting is None or mode == "decode" else {"capacity": int(setting.limit)}


@cache
def predicted_at_once(name: str, layers: str) -> np.ndarray:
    """Logits (B, S, V) of the training mode's network."""
    state, batch = initial(name, "decode", "fp32", layers)
    forward = quick_jit(build(smoke(name, "train", layers)).forward)
    return np.asarray(forward(TrainState(state.params, nnx.State({}), None, None), batch))


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@each_decoder
def test_decode_gives_at_every_position_what_the_whole_sequence_gives(name: str, layers: str) -> None:
    workload, expected = build(smoke(name, "decode", layers)), predicted_at_once(name, layers)
    state, batch = initial(name, "decode", "fp32", layers)
    step = quick_jit(workload.step)
    # Twice around: after the last slot the sequences begin anew, whatever the cache still holds.
    for count in range(2 * expected.shape[1]):
        at = count % expected.shape[1]
        assert state.position == at
        state, outputs = step(state, batch)
        assert_close(array_of(outputs), expected[:, at])


@each_decoder
@pytest.mark.parametrize("tokens", [7, None])
def test_prefill_gives_what_the_whole_sequence_gives_last(name: str, layers: str, tokens: int | None) -> None:
    expected = predicted_at_once(name, layers)
    tokens = expected.shape[1] if tokens is None else tokens
    workload = build(smoke(name, "prefill", layers, seq=tokens))
    params, (_, batch) = initial(name, "decode", "fp32", layers)[0].params, abstract(workload)
    state = jax.tree.map(lambda leaf: jnp.full(leaf.shape, 9, leaf.dtype), abstract(workload)[0])
    prompt = initial(name, "decode", "fp32", layers)[1]["inputs"][:, :tokens]
    assert batch["inputs"].shape == prompt.shape
    outputs = quick_jit(workload.step)(state._replace(params=params), {"inputs": prompt})[1]
    assert_close(array_of(outputs), expected[:, tokens - 1])


@each_decoder
def test_what_a_prefill_leaves_in_the_cache_is_gone_on_from(name: str, layers: str) -> None:
    expected, cut = predicted_at_once(name, layers), 5
    prompt = build(smoke(name, "prefill", layers, seq=cut))
    workload = build(smoke(name, "decode", layers))
    state, batch = initial(name, "decode", "fp32", layers)
    empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), abstract(prompt)[0])
    filled, _ = quick_jit(prompt.step)(
        empty._replace(params=state.params), {"inputs": batch["inputs"][:, :cut]}
    )
    slots = jax.tree.map(
        lambda all_slots, first: all_slots.at[..., :cut, :].set(first), state.cache, filled.cache
    )
    state = state._replace(cache=slots, position=jnp.int32(cut))
    step = quick_jit(workload.step)
    for at in range(cut, expected.shape[1]):
        state, outputs = step(state, batch)
        assert_close(array_of(outputs), expected[:, at])


@each_decoder
def test_decode_writes_the_cache_in_place(name: str, layers: str) -> None:
    case = catalogue.resolve(
        name, preset="smoke", mode="decode", precision="fp32", layers=layers, batch=1_024
    )
    workload = build(case)
    state, batch = abstract(workload)
    compiled = jax.jit(workload.step, donate_argnums=0).lower(state, batch).compile()
    memory, slots = compiled.memory_analysis(), jax.tree.leaves(state.cache)
    kept = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    assert memory.alias_size_in_bytes >= kept
    shape = re.escape(f"f32[{','.join(map(str, slots[0].shape))}]")
    assert not re.findall(rf"= {shape}\S* copy\(", compiled.as_text())
    # A scan takes the slots of one of the two layers out of the stack: half of them.
    assert memory.temp_size_in_bytes < 0.75 * sum(leaf.size * leaf.dtype.itemsize for leaf in slots)


def compiled_gpt(depth: int) -> tuple[int, float]:
    """Instructions of a compiled training step with scanned layers, and the seconds it took to compile."""

    def make(rngs: nnx.Rngs) -> GPT:
        sizes = {"vocab": 64, "context": 16, "width": 64, "heads": 4, "depth": depth}
        return GPT(**sizes, scan=True, policy=POLICIES["fp32"], rngs=rngs)

    tokens = np.zeros((4, 16), np.int32)
    workload = training(
        Network.of(make),
        optimiser=optax.adamw(1e-3),
        policy=POLICIES["fp32"],
        batch=lambda rng: {"inputs": tokens, "targets": tokens},
    )
    state, batch = abstract(workload)
    began = time.perf_counter()
    compiled = jax.jit(workload.step, donate_argnums=0).lower(state, batch).compile()
    return compiled.as_text().count(" = "), time.perf_counter() - began


def test_four_times_the_layers_are_the_same_program_where_they_are_scanned() -> None:
    assert compiled_gpt(24)[0] < 1.05 * compiled_gpt(6)[0]


@pytest.mark.slow
def test_four_times_the_layers_compile_as_fast_where_they_are_scanned() -> None:
    times = [(compiled_gpt(24)[1], compiled_gpt(6)[1]) for _ in range(5)]
    ratio = statistics.median(deep / shallow for deep, shallow in times)
    print(f"24 layers compile in {ratio:.2f} times the time of 6")
    assert ratio < 1.3
