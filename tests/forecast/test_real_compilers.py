"""With the real compilers: what they take, what they refuse, and what is remembered of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite.cli import main
from suite.forecast import environment
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.portability
SCRIPT = Path(__file__).with_name("compile_directly.py")


@pytest.fixture(scope="module")
def python() -> Path:
    """The forecasting environment's interpreter, made if it is not there."""
    return environment.interpreter()


def directly(python: Path, step: str, target: str) -> dict[str, Any]:
    done = subprocess.run(
        [python, SCRIPT, step, target],
        env=dict(os.environ) | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_step_compiles_for_both_and_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = [
        "portability",
        "--target",
        "t4,v5e",
        "--only",
        "mlp/smoke/train/*/scan/*",
        "--format",
        "json",
    ]
    assert main(arguments) == 0
    cold = json.loads(capsys.readouterr().out)
    assert [answer["device_kind"] for answer in cold] == ["Tesla T4", "TPU v5 lite"]
    for answer in cold:
        parts = answer["memory"]
        # Adam keeps two copies of the parameters beside them, and all of it is updated in place.
        assert parts["alias_bytes"] >= 3 * 4 * 11_082
        assert parts["total_bytes"] == (
            parts["argument_bytes"] + parts["output_bytes"] + parts["temp_bytes"] - parts["alias_bytes"]
        )
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == [answer | {"cached": True} for answer in cold]


def test_what_a_t4_lacks_is_refused_by_its_compiler_and_taken_for_an_h100(python: Path) -> None:
    refused = directly(python, "fused_attention", "t4")
    assert refused["status"] == "unsupported"
    assert "ALG_DOT_BF16_BF16_F32" in refused["reason"]
    assert directly(python, "fused_attention", "h100")["status"] == "ok"


@pytest.mark.parametrize(
    ("target", "word"), [("v5e", "RESOURCE_EXHAUSTED"), ("t4", "a program can use 14.25 GiB")]
)
def test_what_is_too_large_does_not_fit(python: Path, target: str, word: str) -> None:
    found = directly(python, "large", target)
    assert found["status"] == "does_not_fit"
    assert word in found["reason"]


def test_a_step_that_cannot_be_chained_is_an_error_here_as_it_is_when_measured(python: Path) -> None:
    found = directly(python, "copying", "v5e")
    assert found["status"] == "error"
    assert "float32[8] to bfloat16[8]" in found["reason"]


def test_a_host_callback_needs_the_gpu_itself_and_says_so_in_a_line(python: Path) -> None:
    found = directly(python, "host_callback", "t4")
    assert found["status"] == "error"
    assert "no platforms that are instances of gpu are present" in found["reason"]
    assert len(found["reason"].splitlines()) == 1
    assert "Traceback" in found["detail"]
