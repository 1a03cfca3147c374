"""What a compiler's answer, or its refusal, is taken for; and what is remembered of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import pytest

from suite.forecast import cache, compiling, subject, topology
from suite.forecast.protocol import Job
from suite.forecast.targets import find
from suite.forecast.topology import cuda_target
from suite.record.forecast import Forecast
from suite.record.process import StaticMemory
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.sources import own_case

GIB = 2**30
T4_DOT = "UNIMPLEMENTED: Unsupported algorithm on the current device(s): ALG_DOT_BF16_BF16_F32"
V5E_FULL = (
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
    "Used 54.54G of 15.75G hbm. Exceeded hbm capacity by 38.79G.\n\nTotal hbm usage >= 54.79G:"
)
V5E_FULL_TOO = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory in memory space hbm: total memory "
    "required by the program (54.54G) exceeds available HBM (15.75G)."
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


def failing(error: Exception) -> Forecast:
    """What compiling for a v5e comes to where the workload's code raises."""

    def of(case: Case, source: str | None) -> subject.Subject:
        raise error

    job = Job(case=catalogue.resolve("linear", preset="smoke", precision="bf16"), target="v5e")
    return compiling.forecast(job, of)


@pytest.fixture(autouse=True)
def no_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topology, "device_kind", lambda target: target.facts.kinds[0])


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        (T4_DOT, "unsupported", T4_DOT),
        ("INTERNAL: Mosaic failed", "error", "INTERNAL: Mosaic failed"),
    ],
)
def test_a_refusal_is_one_line_and_the_rest_is_kept(said: str, status: str, reason: str) -> None:
    found = failing(jax.errors.JaxRuntimeError(said))
    assert found.status == status
    # The name of the exception before it depends on the version of jax.
    assert found.reason is not None
    assert found.reason.partition(": ")[2] == reason
    assert found.detail is not None
    assert said in found.detail


@pytest.mark.parametrize("said", [V5E_FULL, V5E_FULL_TOO])
def test_a_tpu_program_that_is_too_large_says_how_large(said: str) -> None:
    found = failing(jax.errors.JaxRuntimeError(said))
    assert (found.status, found.memory, found.parts) == ("does_not_fit", None, {})
    assert found.needed_bytes == round(54.54 * GIB)
    assert found.reason == "needs 54.54 GiB, and a program can use 15.75 GiB"
    assert found.detail is not None
    assert said in found.detail


def test_where_the_compiler_does_not_say_how_large_its_own_words_stand() -> None:
    found = failing(jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room"))
    assert (found.status, found.needed_bytes) == ("does_not_fit", None)
    assert found.reason is not None
    assert found.reason.endswith("RESOURCE_EXHAUSTED: no room")


def test_a_fault_of_the_models_own_code_is_an_error() -> None:
    assert failing(TypeError("unsupported operand")).status == "error"


def test_what_a_function_run_as_it_is_would_need_is_unsupported(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import suite\ncalled = suite.Call(abs, (1,))\n")
    source = f"{file}:called"
    found = compiling.forecast(Job(case=own_case("mine:called"), target="v5e", source=source))
    assert found.status == "unsupported"
    assert found.reason is not None
    assert "give a suite.Step or a suite.Workload" in found.reason


def test_the_parts_of_a_programs_memory_add_up(tmp_path: Path) -> None:
    found = subject.of(catalogue.resolve("mlp", preset="smoke", mode="train"))
    # As a compiler would account for it, with 100 bytes of padding, 8 of outputs, 1,000 of temporaries.
    arguments = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves((found.state, found.batch)))
    state = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(found.state))
    account = StaticMemory(
        argument_bytes=arguments + 100,
        output_bytes=state + 8,
        temp_bytes=1_000,
        alias_bytes=state,
        code_bytes=50,
        total_bytes=arguments + 100 + 8 + 1_000,
    )
    parts = subject.parts(found.state, found.batch, None, account)
    assert sum(parts.values()) == account.total_bytes + account.code_bytes
    parameters = 4 * 11_082
    assert parts == {
        "parameters": parameters,
        "optimiser": 2 * parameters + 4,
        "batch": arguments - state,
        "padding": 100,
        "outputs": 8,
        "temporaries": 1_000,
        "code": 50,
    }


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


def test_a_case_is_found_again_without_tracing_it(tmp_path: Path) -> None:
    job = Job(case=catalogue.resolve("linear", preset="smoke", precision="bf16"), target="t4")
    t4, versions = find("t4"), {"jax": "0.12.0"}
    shortcut, place = cache.shortcut(tmp_path, job, t4, versions), tmp_path / "answer.json"
    assert shortcut is not None
    assert cache.follow(shortcut) is None
    cache.write(place, answer())
    cache.remember(shortcut, place)
    assert cache.follow(shortcut) == answer()
    assert shortcut != cache.shortcut(tmp_path, job, t4, {"jax": "0.12.1"})
    place.unlink()
    assert cache.follow(shortcut) is None
    own = Job(case=own_case("mine:step"), target="t4", source="mine.py:step")
    assert cache.shortcut(tmp_path, own, t4, versions) is None
