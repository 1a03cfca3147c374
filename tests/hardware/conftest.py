"""Trees that stand for a machine's `/proc`, `/sys` and `/dev`, and tools that really run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Plant = Callable[[dict[str, str]], Path]
Tool = Callable[[str, str], Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Writes files below a folder that stands for `/` and returns the folder."""

    def write(files: dict[str, str]) -> Path:
        root = tmp_path / "root"
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        root.mkdir(exist_ok=True)
        return root

    return write


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Makes PATH a folder of its own, where it puts shell scripts; without any, no tool is found."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def write(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write
