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
from suite.forecast.targets import find
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


@pytest.mark.parametrize(("target", "usable"), [("v5e", "15.75 GiB"), ("t4", "14.25 GiB")])
def test_what_is_too_large_does_not_fit_and_says_by_how_much(python: Path, target: str, usable: str) -> None:
    found = directly(python, "large", target)
    assert found["status"] == "does_not_fit"
    assert found["reason"].endswith(f"and a program can use {usable}")
    # 80,000 x 80,000 float32. The TPU's compiler needs nothing else of weight, and says it to two decimals.
    state = 80_000**2 * 4
    assert found["needed_bytes"] > 0.99 * state
    if target == "v5e":
        assert found["needed_bytes"] == pytest.approx(state, rel=0.01)


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


@pytest.mark.parametrize("target", ["v5e", "h100", "t4"])
@pytest.mark.parametrize("layers", ["scan", "unroll"])
def test_the_products_of_the_compiled_program_are_those_of_the_formula(
    target: str,
    layers: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = ["gpt", "--preset", "smoke", "--mode", "train", "--layers", layers, "--target", target]
    assert main(["forecast", *arguments, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["forecasts"][0]
    peak = find(target).facts.peak_flops("fp16" if target == "t4" else "bf16")
    assert peak is not None
    assert found["step_bound"]["compute_s"] == pytest.approx(found["work"]["flops"] / peak, rel=1e-9)
    assert found["unknown_loops"] == 0
    assert sum(found["parts"].values()) == found["needed_bytes"]


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        # 10,000 x 10,000 weights, and two times 10,000 numbers a sample: most of the memory is batch.
        ("v5e", ["linear", "--preset", "10k", "--precision", "fp32"]),
        # What training keeps of each sequence; the host makes the batch, and its tokens are small.
        ("h100", ["gpt", "--preset", "char", "--mode", "train"]),
    ],
)
def test_the_largest_batch_fits_and_the_next_does_not(
    target: str,
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = [*wanted, "--target", target, "--format", "json"]
    assert main(["forecast", *arguments, "--max-batch"]) == 0
    largest = json.loads(capsys.readouterr().out)["largest"][0]
    assert largest["exact"]
    statuses = []
    for batch in (largest["largest_batch"], largest["largest_batch"] + 1):
        assert main(["forecast", *arguments, "--batch", str(batch)]) == 0
        statuses.append(json.loads(capsys.readouterr().out)["forecasts"][0]["status"])
    assert statuses == ["ok", "does_not_fit"]


@pytest.mark.parametrize("target", ["v5e", "h100"])
def test_a_step_over_several_chips_exchanges_what_it_must(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = ["mlp", "--preset", "small", "--mode", "train", "--target", target, "--format", "json"]
    found = {}
    for mesh in ("data=4", "fsdp=4"):
        assert main(["forecast", *arguments, "--mesh", mesh, "--batch", "128"]) == 0
        found[mesh] = json.loads(capsys.readouterr().out)["forecasts"][0]
    parameters = 4 * found["data=4"]["work"]["parameters"]
    assert found["data=4"]["parts"]["parameters"] == parameters
    # All but the norms and biases is split in four.
    assert found["fsdp=4"]["parts"]["parameters"] == pytest.approx(parameters / 4, rel=0.05)
    reduced = {each["kind"]: each["bytes"] for each in found["data=4"]["collectives"]}
    assert reduced["all-reduce"] >= parameters / 2, "gradients cross in 16 or 32 bits"
    assert "all-gather" in {each["kind"] for each in found["fsdp=4"]["collectives"]}
