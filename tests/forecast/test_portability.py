"""`jaxmark portability`: what it compiles, what it prints, how it exits."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from suite.cli import main
from suite.errors import ConfigError, PlatformError
from suite.forecast import environment, known
from suite.forecast.portability import plan, too_large_by_itself
from suite.forecast.protocol import Job
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
    jobs = plan(parse("v5e"), ["native"], all_layers=True)
    found = {(job.case.workload, job.case.mode, job.case.layers) for job in jobs}
    assert found == {
        (spec.name, mode, layers)
        for spec in catalogue.all_specs()
        for mode in spec.modes
        for layers in spec.layers
    }


def test_layers_are_compiled_as_they_are_by_default_where_nobody_asks() -> None:
    found = {(job.case.workload, job.case.mode, job.case.layers) for job in plan(parse("v5e"), ["native"])}
    assert found == {
        (spec.name, mode, catalogue.resolve(spec.name, mode=mode).layers)
        for spec in catalogue.all_specs()
        for mode in spec.modes
    }


def test_several_patterns_are_one_choice() -> None:
    found = {key.split("/")[0] for _, key in keys("v5e", "bf16", only="mlp/smoke/*, linear/smoke/*")}
    assert found == {"mlp", "linear"}


def test_the_largest_presets_come_first_and_stop_at_the_first_that_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = 'answer(job, status="ok" if job["case"]["preset"] in ("50", "smoke") else "does_not_fit")'
    python = interpreter(tmp_path, body)
    arguments = ["--largest", "--target", "t4", "--only", "resnet/*/train/*", "--format", "json"]
    assert main(["portability", "--python", str(python), *arguments]) == 0
    answers = json.loads(capsys.readouterr().out)
    presets = [answer["key"].split("/")[1] for answer in answers]
    every = list(catalogue.get("resnet").presets)
    assert presets == every[every.index("50") :][::-1]
    assert answers[-1]["status"] == "ok"


def test_what_parameters_alone_are_too_large_for_is_not_compiled() -> None:
    case = catalogue.resolve("linear", preset="10k", precision="fp32")
    assert too_large_by_itself(Job(case=case, target="t4")) is None
    # A chip with less memory than 10,001 x 10,000 float32, 400,040,000 bytes.
    answer = too_large_by_itself(Job(case=case, target="t4"), usable_bytes=400 * 10**6)
    assert answer is not None
    assert answer.status == "does_not_fit"
    assert answer.reason == "its parameters alone take 0.37 GiB, and a program can use 0.37 GiB"


PROBLEM = """
[[problem]]
target = "t4"
case = "linear/*"
status = "unsupported"
issue = "https://example.org/1"
note = "no such units"
"""


def test_a_known_problem_is_no_failure_until_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(known, "load", lambda: known.parse(PROBLEM))
    assert portability(interpreter(tmp_path, REFUSED), "--target", "t4,h100") == 0
    assert "known: linear/* on t4: no such units (https://example.org/1)" in capsys.readouterr().out
    assert portability(interpreter(tmp_path, "answer(job)"), "--target", "t4,h100") == 1
    assert "mended: linear/* on t4 is no longer unsupported." in capsys.readouterr().out
    # Another chip says nothing about it.
    assert portability(interpreter(tmp_path, "answer(job)"), "--target", "h100") == 0


def test_the_shipped_problems_can_be_read_and_a_broken_line_is_named() -> None:
    assert all(problem.issue.startswith("https://") for problem in known.load())
    with pytest.raises(ConfigError, match=r"known_problems.toml, problem 1: expected the texts target"):
        known.parse('[[problem]]\ntarget = "t4"\n')


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
