"""What a compiler's answer, or its refusal, is taken for; and what is remembered of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import pytest

from suite.forecast import cache
from suite.forecast.compiling import failed, fits
from suite.forecast.targets import find
from suite.forecast.topology import cuda_target
from suite.record.forecast import Forecast
from suite.record.process import StaticMemory

GIB = 2**30
T4_DOT = "UNIMPLEMENTED: Unsupported algorithm on the current device(s): ALG_DOT_BF16_BF16_F32"
V5E_FULL = (
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
    "Used 54.54G of 15.75G hbm. Exceeded hbm capacity by 38.79G.\n\nTotal hbm usage >= 54.79G:"
)


def memory(total: int, code: int = 0) -> StaticMemory:
    return StaticMemory(
        argument_bytes=total, output_bytes=0, temp_bytes=0, alias_bytes=0, code_bytes=code, total_bytes=total
    )


def answer(**fields: object) -> Forecast:
    known: dict[str, object] = {
        "key": "linear/smoke/infer/fp16/b16/unroll/v2",
        "target": "t4",
        "device_kind": "Tesla T4",
        "status": "ok",
        "memory": memory(GIB),
        "capacity_bytes": 14 * GIB,
        "compile_s": 1.0,
        "versions": {"jax": "0.12.0"},
    }
    return Forecast(**known | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        (T4_DOT, "unsupported", T4_DOT),
        (V5E_FULL, "does_not_fit", V5E_FULL.splitlines()[0]),
        ("INTERNAL: Mosaic failed", "error", "INTERNAL: Mosaic failed"),
    ],
)
def test_a_refusal_is_one_line_and_the_rest_is_kept(said: str, status: str, reason: str) -> None:
    verdict = failed(jax.errors.JaxRuntimeError(said))
    assert verdict.status == status
    # The name of the exception before it depends on the version of jax.
    assert verdict.reason is not None
    assert verdict.reason.partition(": ")[2] == reason
    assert verdict.detail is not None
    assert said in verdict.detail


def test_a_fault_of_the_models_own_code_is_an_error() -> None:
    assert failed(TypeError("unsupported operand")).status == "error"


def test_a_gpu_program_must_leave_the_reserve_free() -> None:
    usable = find("t4").usable_bytes
    assert fits(memory(usable), find("t4")).status == "ok"
    over = fits(memory(usable, code=1), find("t4"))
    assert over.status == "does_not_fit"
    assert over.reason == "needs 14.25 GiB, and a program can use 14.25 GiB"
    assert over.memory is not None


def test_the_compiler_is_told_the_chip_it_compiles_for() -> None:
    told = cuda_target(find("t4"))
    for line in (
        "  core_count: 40",
        "  clock_rate_ghz: 1.59",
        "  memory_bandwidth: 320000000000",
        "  cuda_compute_capability { major: 7 minor: 5 }",
        'device_description_str: "Tesla T4"',
    ):
        assert line in told.splitlines()


def test_an_answer_is_remembered_by_program_chip_and_versions(tmp_path: Path) -> None:
    t4, versions = find("t4"), {"jax": "0.12.0", "jaxlib": "0.12.0"}
    place = cache.place(tmp_path / "new folder", "program", t4, versions)
    assert cache.read(place) is None
    cache.write(place, answer())
    assert cache.read(place) == answer()
    assert place == cache.place(tmp_path / "new folder", "program", t4, dict(reversed(versions.items())))
    faster = replace(t4, facts=replace(t4.facts, chip_bandwidth=1.0))
    others = [
        cache.place(place.parent, "another", t4, versions),
        cache.place(place.parent, "program", find("h100"), versions),
        cache.place(place.parent, "program", faster, versions),
        cache.place(place.parent, "program", t4, versions | {"jaxlib": "0.12.1"}),
    ]
    assert len({place, *others}) == 5


@pytest.mark.parametrize("content", [b"", b'{"key": 1}', b"\xff\x00"])
def test_a_damaged_answer_is_no_answer(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "answer.json"
    place.write_bytes(content)
    assert cache.read(place) is None


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache.write(tmp_path / "file" / "answer.json", answer())
