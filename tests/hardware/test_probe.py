"""The probe as it is used: a real process with a real JAX, or with one that is broken for real."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from suite.errors import PlatformError
from suite.record.schema import Environment
from suite.run.probe_client import probe


def run_probe(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "suite.run.probe", *arguments]
    return subprocess.run(command, capture_output=True, timeout=120)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the probe imports from before it imports what is installed."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    return tmp_path


def broken_jax(folder: Path, code: str) -> None:
    (folder / "jax").mkdir()
    (folder / "jax/__init__.py").write_text(code)


def test_the_cpu_is_described_on_standard_output_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    monkeypatch.setenv("JAX_PLATFORMS", "")
    done = run_probe("--platform", "cpu")
    assert done.returncode == 0, done.stderr.decode()
    environment = msgspec.json.decode(done.stdout, type=Environment)
    assert environment.machine.platform == environment.machine.device_kind == "cpu"
    assert environment.machine.device_count >= 1
    assert environment.machine.device_memory_bytes is None
    assert environment.machine.hostname is None
    assert environment.machine.machine_id
    # Verbatim, and without what the probe itself set to honour --platform.
    assert environment.software.variables["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=false"
    assert environment.software.variables["JAX_PLATFORMS"] == ""
    assert environment.software.python == sys.version.split()[0]
    assert environment.volatile.device_memory_in_use_bytes is None
    assert environment.warnings == []


def test_a_platform_that_is_absent_exits_2_and_says_what_is_here() -> None:
    done = run_probe("--platform", "cuda")
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert "expected a cuda device, found cpu" in said
    assert "To run on what is here: --platform cpu" in said
    assert "Traceback" not in said


def test_a_variable_that_names_an_absent_platform_is_the_cause_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    with pytest.raises(PlatformError, match="expected JAX_PLATFORMS=cuda, found cpu") as caught:
        probe(None)
    assert "unset JAX_PLATFORMS" in str(caught.value)


def test_an_installed_plugin_that_jax_passes_over_is_a_warning(
    on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAX_PLATFORMS")
    metadata = on_path / "jax_cuda12_plugin-0.0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: jax-cuda12-plugin\nVersion: 0.0.1\n")
    environment = probe(None)
    if environment.machine.platform != "cpu":
        pytest.skip("JAX has an accelerator here, and does not fall back")
    assert environment.software.plugins["jax-cuda12-plugin"] == "0.0.1"
    assert [note.code for note in environment.warnings] == ["cpu_fallback"]
    assert probe("cpu").warnings == []  # asked for, and so no fall back


def test_a_misspelt_platform_is_refused_before_anything_starts() -> None:
    with pytest.raises(PlatformError, match=r"unknown platform 'cdua'. Did you mean 'cuda'\?"):
        probe("cdua")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "raise ModuleNotFoundError(\"No module named 'jax'\", name='jax')",
            r"jax is not installed for (.|\n)*pip install jax",
        ),
        (
            "raise RuntimeError('jaxlib is version 0.1, but this version of jax requires 0.7')",
            "jaxlib is version 0.1",
        ),
        ("from jax import _no_such_name", "does not import in .*which has jax"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", r"SIGILL(.|\n)*may lack instructions"),
        ("import os; os._exit(3)", "exit code 3, without a word"),
    ],
    ids=["missing", "mismatch", "incomplete", "signal", "silent"],
)
def test_a_jax_that_does_not_start_is_one_clear_message(on_path: Path, code: str, says: str) -> None:
    broken_jax(on_path, code)
    with pytest.raises(PlatformError, match=says) as caught:
        probe("cpu")
    assert "Traceback" not in str(caught.value)


def test_a_jax_that_hangs_is_given_up(on_path: Path) -> None:
    broken_jax(
        on_path,
        "import sys, time; print('waiting for the chip', file=sys.stderr, flush=True); time.sleep(60)",
    )
    with pytest.raises(
        PlatformError, match=r"did not start within 3 s(.|\n)*waiting for the chip(.|\n)*hold the acc"
    ):
        probe("cpu", timeout_s=3)


def test_what_plugins_print_does_not_spoil_the_answer(on_path: Path) -> None:
    plugin = on_path / "jax_plugins/noisy"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text("import os\n\ndef initialize():\n    os.write(1, b'a banner\\n')\n")
    done = run_probe("--platform", "cpu")
    assert b"a banner" in done.stderr
    assert msgspec.json.decode(done.stdout, type=Environment).machine.platform == "cpu"


def test_files_in_the_current_folder_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jax.py").write_text("raise SystemExit('the wrong jax')\n")
    monkeypatch.chdir(tmp_path)
    assert probe("cpu").machine.platform == "cpu"
