"""The wheel, in an interpreter that has a JAX already: what Colab and every careful user has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from suite.bootstrap import SetupError, find_python
from tests.setup.conftest import REPOSITORY

pytestmark = [pytest.mark.network, pytest.mark.slow]

PREINSTALLED = ("jax==0.7.2", "jaxlib==0.7.2", "flax==0.11.2")
# Names and hashes of every installed file of the distributions that must stay as they are.
_FINGERPRINT = """
import hashlib, importlib.metadata as metadata, json
files = {}
for name in ("jax", "jaxlib", "flax"):
    for file in metadata.distribution(name).files:
        if file.suffix not in (".pyc",) and file.locate().is_file():
            files[str(file)] = hashlib.sha256(file.locate().read_bytes()).hexdigest()
print(json.dumps(files))
"""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is tracked here, as a fresh clone has it."""
    folder = tmp_path_factory.mktemp("a clone")
    for name in run("git", "-C", REPOSITORY, "ls-files", "-z").split("\0"):
        if name and (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)
    return folder


def test_the_wheel_holds_what_runs_and_nothing_else(sources: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, sources)
    (wheel,) = tmp_path.glob("jaxmark-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {
        path.relative_to(sources).as_posix()
        for path in (sources / "suite").rglob("*")
        if path.is_file() and not path.is_relative_to(sources / "suite/setup")
    } - {"suite/bootstrap.py"}
    configs = {f"suite/_configs/{path.name}" for path in (sources / "configs").glob("*.toml")}
    assert configs
    metadata = {name for name in names if ".dist-info/" in name}
    assert names - metadata == tracked | configs
    assert any(name.endswith("licenses/LICENSE") for name in metadata)


def test_installing_leaves_the_jax_that_is_there_exactly_as_it_is(sources: Path, tmp_path: Path) -> None:
    try:
        base = next(p for p in map(_python, ("3.12", "3.11", "3.13")) if p)
    except StopIteration:
        pytest.skip("jax 0.7.2 needs a Python 3.11, 3.12 or 3.13")
    environment = tmp_path / "env"
    run(base, "-m", "venv", environment)
    python = environment / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", *PREINSTALLED)
    before = json.loads(run(python, "-c", _FINGERPRINT))
    run(python, "-m", "pip", "install", "--quiet", ".", cwd=sources)
    assert json.loads(run(python, "-c", _FINGERPRINT)) == before
    jaxmark = environment / "bin/jaxmark"
    assert "run" in run(jaxmark, "--help", cwd=tmp_path)
    out = tmp_path / "out"
    run(jaxmark, "run", "smoke", "--only", "linear*", "--machine", "ci", "--out", out, cwd=tmp_path)
    (result,) = out.glob("*/*.json")
    assert json.loads(result.read_bytes())["environment"]["software"]["jax"] == "0.7.2"


def _python(version: str) -> str | None:
    try:
        return find_python(dict(os.environ), version).path
    except SetupError:
        return None
