"""Peak memory: the method chosen for each platform, and a real program's resident memory."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import pytest

from suite.measurement.aot import AotStep
from suite.measurement.call import CallStep
from suite.measurement.memory import MemoryProbe, derive
from suite.record.schema import HostRss, StaticMemory

STATIC = StaticMemory(
    argument_bytes=100, output_bytes=50, temp_bytes=30, alias_bytes=40, code_bytes=0, total_bytes=140
)
RSS = HostRss(baseline_bytes=1000, live_array_bytes=200, high_water_bytes=1500, compile_high_water_bytes=None)


def allocator(**after: int) -> dict[str, dict[str, int]]:
    return {"baseline": {"peak_bytes_in_use": 7}, "after_steps": after}


@pytest.mark.parametrize(
    ("stats", "host", "platform", "system", "peak", "method"),
    [
        ({}, RSS, "cpu", "linux", 500, "host_rss"),
        (allocator(peak_bytes_in_use=300), None, "gpu", "linux", 300, "allocator"),
        (
            allocator(peak_bytes_in_use=300, peak_bytes_reserved=50),
            None,
            "tpu",
            "linux",
            350,
            "allocator+reserved",
        ),
        (allocator(peak_bytes_in_use=300, peak_bytes_reserved=-1), None, "tpu", "linux", 300, "allocator"),
        ({}, None, "gpu", "linux", 140, "static"),
    ],
)
def test_the_method_follows_the_platform(stats, host, platform, system, peak, method) -> None:
    memory = derive(stats, STATIC, None, host, platform=platform, os=system)
    assert (memory.peak_bytes, memory.method) == (peak, method)


def test_the_peak_of_a_whole_life_is_that_of_a_fresh_process_only() -> None:
    fresh = derive({}, STATIC, None, None, platform="cpu", os="darwin")
    assert (fresh.method, fresh.peak_bytes > 0) == ("host_rss_lifetime", True)
    notebook = derive({}, STATIC, None, None, platform="cpu", os="darwin", fresh=False)
    assert (notebook.peak_bytes, notebook.method) == (None, None)
    assert "macOS" in notebook.reason


def test_memory_that_did_not_grow_is_null_with_a_reason() -> None:
    flat = HostRss(
        baseline_bytes=1000, live_array_bytes=0, high_water_bytes=1000, compile_high_water_bytes=None
    )
    memory = derive({}, None, None, flat, platform="cpu", os="linux")
    assert (memory.peak_bytes, memory.method) == (None, None)
    assert memory.reason


def test_a_missing_peak_is_null_with_a_reason_and_never_zero() -> None:
    for stats, static, fresh in [
        ({}, None, True),
        (allocator(peak_bytes_in_use=-1), STATIC, True),
        (allocator(peak_bytes_in_use=300), None, False),  # of all that the process holds
    ]:
        memory = derive(stats, static, "no analysis", None, platform="gpu", os="linux", fresh=fresh)
        assert memory.peak_bytes is None
        assert memory.method is None
        assert memory.reason


def test_in_a_process_of_the_callers_own_the_compiler_speaks_for_the_device() -> None:
    stats = allocator(peak_bytes_in_use=300)
    memory = derive(stats, STATIC, None, None, platform="gpu", os="linux", fresh=False)
    assert (memory.peak_bytes, memory.method) == (140, "static")
    assert memory.allocator == stats


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_resident_memory_of_a_known_program() -> None:
    # A 256 MiB product stands between two thin ones; all else is under 2 MiB.
    side, thin = 8192, 16
    product = 4 * side * side

    def step(state, batch):
        return state, (state @ batch) @ state

    ready = AotStep(step, jnp.ones((side, thin)), jnp.ones((thin, side)))
    ready.run(1)
    memory = MemoryProbe(jax.devices()[0]).measure(ready)
    assert memory.method == "host_rss"
    assert product <= memory.peak_bytes < 1.15 * product


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
@pytest.mark.parametrize("path", ["aot", "call"])
def test_outputs_of_the_step_before_are_not_counted_twice(path: str) -> None:
    side = 8192
    output = 4 * side * side

    def infer(state, batch):
        return state, state[:, None] * batch[None, :]

    state, batch = jnp.ones(side), jnp.ones(side)
    ready = AotStep(infer, state, batch) if path == "aot" else CallStep(jax.jit(infer), (state, batch), {})
    ready.run(1)
    memory = MemoryProbe(jax.devices()[0]).measure(ready)
    assert output <= memory.peak_bytes < 1.15 * output


def test_a_kernel_without_a_high_water_mark_leaves_the_peak_null(tmp_path) -> None:
    (tmp_path / "status").write_text("VmRSS:  1000 kB\n")
    (tmp_path / "clear_refs").mkdir()  # cannot be written, whoever runs the test
    ready = AotStep(lambda s, b: (s, s + b), jnp.ones((8,)), jnp.ones((8,)))
    probe = MemoryProbe(jax.devices()[0], proc=tmp_path, platform="linux")
    probe.before_compile()
    probe.after_compile()
    memory = probe.measure(ready)
    assert (memory.peak_bytes, memory.method, memory.host_rss) == (None, None, None)
    assert "clear_refs" in memory.reason
    assert memory.static is not None


def test_no_line_in_proc_is_an_error_that_names_the_file(tmp_path) -> None:
    (tmp_path / "status").write_text("Name: x\n")
    (tmp_path / "clear_refs").write_text("")
    ready = AotStep(lambda s, b: (s, s + b), jnp.ones((8,)), jnp.ones((8,)))
    with pytest.raises(OSError, match="VmRSS"):
        MemoryProbe(jax.devices()[0], proc=tmp_path, platform="linux").measure(ready)
