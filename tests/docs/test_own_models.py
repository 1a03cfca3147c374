"""What docs/your-own-model.md shows is a file that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import suite

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs/examples/own_models.py"


def test_the_page_shows_the_file_as_it_is() -> None:
    assert f"```python\n{EXAMPLE.read_text()}```" in (ROOT / "docs/your-own-model.md").read_text()


@pytest.mark.parametrize(("name", "path"), [("in_place", "call"), ("pure", "aot")])
def test_the_file_runs_by_the_command_on_the_page(name: str, path: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "suite", "run", "--workload", f"docs/examples/own_models.py:{name}"]
    brief = [f"--set={key}_seconds=0.05" for key in ("warmup", "block", "latency")]
    done = subprocess.run(
        [*command, "--processes", "1", "--out", str(tmp_path), *brief],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = suite.load(next(tmp_path.rglob("*.json"))).results[0]
    assert result.status == "ok"
    assert result.case.workload == f"own_models:{name}"
    assert result.case.path == path
    assert result.summary.items_per_second > 0
