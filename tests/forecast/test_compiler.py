"""The worker that compiles: what it must have, and what becomes of a job when it dies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from suite.errors import PlatformError
from suite.forecast import compilers
from suite.forecast.compiler import Compiler
from suite.forecast.protocol import Job
from suite.spec import catalogue
from tests.forecast.fakes import VERSIONS, interpreter

LONG_S = 60.0


def job(target: str = "t4") -> Job:
    return Job(case=catalogue.resolve("linear", preset="smoke", precision="bf16"), target=target)


def without(*names: str) -> dict[str, str]:
    return {name: version for name, version in VERSIONS.items() if name not in names}


@pytest.mark.parametrize(
    ("missing", "platforms", "command"),
    [
        (["libtpu"], {"tpu"}, "'jax[tpu]==0.12.0.1'"),
        (["jax-cuda12-plugin"], {"cuda", "tpu"}, "'jax[cuda12-local]==0.12.0.1'"),
        (["nvidia-cuda-nvcc-cu12"], {"cuda"}, "nvidia-cuda-nvcc-cu12"),
        (
            ["libtpu", "jax-cuda12-pjrt", "jax-cuda12-plugin", "nvidia-cuda-nvcc-cu12"],
            {"cuda", "tpu"},
            "'jax[tpu]==0.12.0.1' 'jax[cuda12-local]==0.12.0.1' nvidia-cuda-nvcc-cu12",
        ),
    ],
)
def test_a_missing_compiler_is_named_with_the_command(
    missing: list[str], platforms: set[str], command: str
) -> None:
    with pytest.raises(PlatformError) as caught:
        compilers.check(Path("/env/bin/python"), without(*missing), platforms)
    assert str(caught.value).splitlines()[-1] == f"  /env/bin/python -m pip install {command}"


@pytest.mark.parametrize(
    ("missing", "platforms"),
    [
        ((), {"cuda", "tpu"}),
        (("libtpu",), {"cuda"}),
        (("jax-cuda12-plugin", "nvidia-cuda-nvcc-cu12"), {"tpu"}),
    ],
)
def test_only_the_compilers_that_are_asked_for_are_needed(
    missing: tuple[str, ...], platforms: set[str]
) -> None:
    compilers.check(Path("python"), without(*missing), platforms)


def test_the_real_worker_says_what_its_environment_has() -> None:
    if "libtpu" in compilers.installed():
        pytest.skip("this environment has the TPU compiler")
    with (
        pytest.raises(PlatformError, match=r"pip install 'jax\[tpu\]==") as caught,
        Compiler(Path(sys.executable), {"tpu"}, LONG_S),
    ):
        pass
    assert f"in {sys.executable}, found" in str(caught.value)


def test_an_interpreter_without_jaxmark_is_refused_with_its_last_words(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\necho 'No module named msgspec' >&2; exit 1\n")
    path.chmod(0o755)
    with (
        pytest.raises(PlatformError, match=r"does not run jaxmark's compiler: No module named msgspec"),
        Compiler(path, {"tpu"}, LONG_S),
    ):
        pass


def test_one_worker_answers_job_after_job(tmp_path: Path) -> None:
    python = interpreter(tmp_path, "answer(job, detail=str(os.getpid()))")
    with Compiler(python, {"cuda"}, LONG_S) as compiler:
        first, second = compiler.compile(job("t4")), compiler.compile(job("h100"))
    assert (first.target, second.target) == ("t4", "h100")
    assert first.key == job().case.key
    assert first.detail == second.detail


def test_a_worker_that_dies_is_a_row_and_the_next_job_gets_another(tmp_path: Path) -> None:
    die = "print('LLVM ERROR: no', file=sys.stderr, flush=True) or os.abort()"
    body = f"{die} if job['target'] == 't4' else answer(job)"
    python = interpreter(tmp_path, body)
    with Compiler(python, {"cuda"}, LONG_S) as compiler:
        died, answered = compiler.compile(job("t4")), compiler.compile(job("h100"))
    assert died.status == "crashed"
    assert died.reason == "the compiler's process ended with -6"
    assert died.detail is not None
    assert "LLVM ERROR" in died.detail
    assert died.emulated is not None
    assert died.versions == VERSIONS
    assert answered.status == "ok"


def test_a_job_that_takes_too_long_is_a_row_and_the_next_job_gets_another(tmp_path: Path) -> None:
    python = interpreter(tmp_path, "time.sleep(600) if job['target'] == 't4' else answer(job)")
    with Compiler(python, {"cuda"}, 3.0) as compiler:
        late, answered = compiler.compile(job("t4")), compiler.compile(job("h100"))
    assert (late.status, late.reason) == ("timeout", "still compiling after 3 s")
    assert late.compile_s >= 3.0
    assert answered.status == "ok"
