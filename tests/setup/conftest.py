"""A Python that answers like one without being one: it records what set-up asks of it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

# Answers the three things that set-up asks of a Python; `pip` does what the file PIP beside the log says.
FAKE_PYTHON = """#!/bin/sh
echo "$@" | head -c 300 | head -n 1 >> "{log}"
case "$*" in
  *_base_executable*) echo "{path}"; echo "{version}"; exit 0 ;;
  *"-m venv"*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  *"-m pip"*) [ ! -e "{pip}" ] || . "{pip}" ;;
  *"import jax"*) echo 0.12.0 ;;
esac
"""


def script(path: Path, text: str) -> Path:
    """Writes an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


@dataclass
class Box:
    """A folder in which set-up runs with a fake Python and no other on PATH."""

    folder: Path

    @property
    def venv(self) -> Path:
        """The environment that set-up is asked to make."""
        return self.folder / "the env"

    def python(self, name: str, version: str, folder: str = "bin") -> Path:
        """Puts a fake Python on PATH (or in another folder) that says it has this version."""
        path = self.folder / folder / name
        text = FAKE_PYTHON.format(
            log=self.folder / "log", path=path, version=version, pip=self.folder / "PIP"
        )
        return script(path, text)

    def pip(self, text: str) -> None:
        """What `pip` does from now on, in shell; nothing by default."""
        (self.folder / "PIP").write_text(text)

    def asked(self) -> list[str]:
        """What the fake Pythons were asked since the last time."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def set_up(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Runs the documented command."""
        path = os.pathsep.join((str(self.folder / "bin"), "/usr/bin", "/bin"))
        clean = {"PATH": path, "HOME": str(self.folder), "LC_ALL": "C"}
        command = [
            sys.executable,
            str(REPOSITORY / "suite/bootstrap.py"),
            "--venv",
            str(self.venv),
            *arguments,
        ]
        return subprocess.run(command, env=clean | environ, capture_output=True, text=True, timeout=60)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """An empty box."""
    (tmp_path / "bin").mkdir()
    return Box(tmp_path)
