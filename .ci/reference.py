"""Compares the models with others' implementations: `.venv/bin/python .ci/reference.py [PYTEST ARGUMENTS]`.

PyTorch and the libraries on it go into an environment of their own, `.venv-reference`: they are large,
nothing else needs them, and a measuring run must not share its interpreter with them. Their versions
are pinned in `pyproject.toml`, dependency group `reference`, and nothing is downloaded after that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-reference"
# The first that is found here and that everything installs on: PyTorch's builds come for the newest last.
PYTHONS = ("3.11", "3.12", "3.13")


def pins() -> list[str]:
    """The group's requirements."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [str(requirement) for requirement in tables["dependency-groups"]["reference"]]


def set_up() -> Path | None:
    """The environment's interpreter; None if none of the Pythons is here, or the installation failed."""
    for python in PYTHONS:
        command = [sys.executable, "suite/bootstrap.py", "--venv", str(FOLDER), "--python", python]
        command += [argument for pin in pins() for argument in ("--with", pin)]
        if subprocess.run(command, cwd=ROOT, env={**os.environ, "ACCEL": "cpu"}).returncode == 0:
            return FOLDER / "bin/python"
    return None


def main(arguments: list[str]) -> int:
    """Sets up, then runs the reference tests, or the module that `-m MODULE` names; returns its exit code."""
    python = set_up()
    if python is None:
        print("No environment for the references; see above, and docs/dependencies.md.", file=sys.stderr)
        return 2
    if arguments[:1] == ["-m"]:
        command = [str(python), *arguments]
    else:
        command = [str(python), "-m", "pytest", "-m", "reference", "tests/reference", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "JAX_PLATFORMS": "cpu"}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
