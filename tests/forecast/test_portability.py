"""`jaxmark portability`: what it compiles, what it prints, how it exits."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from suite.cli import main
from suite.errors import ConfigError, PlatformError
from suite.forecast import environment
from suite.forecast.portability import plan
from suite.forecast.targets import parse
from suite.spec import catalogue
from tests.forecast.fakes import interpreter

REFUSED = (
    'answer(job, **(dict(status="unsupported", reason="UNIMPLEMENTED: no") if job["target"] == "t4" else {}))'
)
TOO_LARGE = 'answer(job, status="does_not_fit", reason="needs 99 GiB")'


def keys(targets: str, *precisions: str, only: str | None = None) -> list[tuple[str, str]]:
    return [(job.target, job.case.key) for job in plan(parse(targets), precisions, only)]


def portability(python: Path, *arguments: str) -> int:
    return main(["portability", "--python", str(python), "--only", "linear/smoke/*", *arguments])


def test_every_workload_mode_and_way_to_compile_layers_is_there() -> None:
    found = {(job.case.workload, job.case.mode, job.case.layers) for job in plan(parse("v5e"), ["native"])}
    assert found == {
        (spec.name, mode, layers)
        for spec in catalogue.all_specs()
        for mode in spec.modes
        for layers in spec.layers
    }


def test_native_is_each_chips_own_precision_and_no_program_comes_twice() -> None:
    linear = [key for key in keys("t4,h100", "native", "fp16") if "linear" in key[1]]
    assert linear == [
        ("t4", "linear/smoke/infer/fp16/b16/unroll/v2"),
        ("h100", "linear/smoke/infer/bf16/b16/unroll/v2"),
        ("h100", "linear/smoke/infer/fp16/b16/unroll/v2"),
    ]


def test_only_reaches_every_preset() -> None:
    assert keys("v5e", "bf16", only="gpt/124m/train/*/scan/*") == [("v5e", "gpt/124m/train/bf16/b8/scan/v2")]


@pytest.mark.parametrize(
    ("precision", "only", "said"),
    [("fp64", None, "Unknown precision of linear: 'fp64'"), ("native", "gtp/*", "'gtp/*' matches no case")],
)
def test_bad_input_is_refused(precision: str, only: str | None, said: str) -> None:
    with pytest.raises(ConfigError, match=said.replace("*", r"\*")):
        plan(parse("t4"), [precision], only)


def test_what_compiles_is_a_table_and_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert portability(interpreter(tmp_path, "answer(job)"), "--target", "t4,v5e") == 0
    out, err = capsys.readouterr()
    assert "v5e: a chip, 16.0 GiB usable" in out
    assert "linear/smoke/infer/fp16/b16/unroll/v2  compiles" in out
    assert out.rstrip().endswith("2 of 2 compile and fit.")
    assert err.splitlines()[0] == "[1/2] t4 linear/smoke/infer/fp16/b16/unroll/v2: compiles, 1.5 s"


def test_what_is_refused_is_a_row_with_its_reason_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert portability(interpreter(tmp_path, REFUSED), "--target", "t4,h100") == 1
    out = capsys.readouterr().out
    assert "linear/smoke/infer/fp16/b16/unroll/v2: UNIMPLEMENTED: no" in out
    assert "1 of 2 compile and fit; unsupported: 1." in out


def test_what_is_too_large_is_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert portability(interpreter(tmp_path, TOO_LARGE), "--target", "t4") == 0
    assert "0 of 1 compile and fit; does not fit: 1." in capsys.readouterr().out


def test_an_emulated_precision_is_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = interpreter(tmp_path, 'answer(job, emulated="bf16 has no units here")')
    assert portability(python, "--target", "t4", "--precision", "bf16") == 0
    out = capsys.readouterr().out
    assert "compiles, emulated" in out
    assert "emulated: bf16 has no units here." in out


def test_json_has_every_answer_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert portability(interpreter(tmp_path, "answer(job)"), "--target", "t4,h100", "--format", "json") == 0
    answers = json.loads(capsys.readouterr().out)
    assert [answer["target"] for answer in answers] == ["t4", "h100"]
    assert {answer["status"] for answer in answers} == {"ok"}


def test_an_interpreter_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert portability(tmp_path / "none", "--target", "t4") == 2
    assert "expected the interpreter of an environment" in capsys.readouterr().err


@pytest.mark.parametrize(("system", "processor"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_other_systems_get_a_message_and_install_nothing(
    system: str, processor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    with pytest.raises(PlatformError, match=f"found {system} on {processor}"):
        environment.interpreter()
