"""`jaxmark noise` from files to the margin of the next comparison."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from suite.cli import main
from suite.record.schema import to_json
from tests.analysis.test_noise import run_at
from tests.builders import case
from tests.report.test_comparing import check
from tests.sides import run_file, scaled

STEADY = (4.00, 4.01, 4.02, 3.99, 3.98, 4.03, 3.97)
LEVELS = (1.00, 1.02, 0.98, 1.01, 0.99, 1.00, 1.01, 0.99)
OTHER = case("gpt", preset="char")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight runs in ./runs, and nothing kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for n, level in enumerate(LEVELS):
        cases = [(case(), scaled(STEADY, level)), (OTHER, STEADY if n < 5 else ())]
        Path(f"runs/{n}.json").write_bytes(to_json(run_at(n, cases).file))
    Path("runs/other.json").write_text("{}")


@pytest.mark.usefixtures("runs")
def test_floors_are_found_kept_printed_and_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["noise"]) == 0
    assert "No noise floor is kept" in capsys.readouterr().out
    assert main(["noise", "runs"]) == 0
    text, _, kept = capsys.readouterr().out.partition("Kept for")
    check("noise.txt", text)
    assert "".join(kept.split()).endswith(".json")
    assert main(["noise"]) == 0
    assert "Noise floors of Example CPU @ 2.50GHz (cpu)" in capsys.readouterr().out
    assert main(["noise", "--format", "json"]) == 0
    (machine,) = json.loads(capsys.readouterr().out)
    floor = next(floor for floor in machine["floors"] if floor["metric"] == "step_time")
    assert floor["runs"] == 8

    base = run_file(tmp_path / "base.json", [(case(), STEADY)])
    new = run_file(tmp_path / "new.json", [(case(), scaled(STEADY, 1.09))])
    assert main(["compare", base, new, "--threshold", "1%", "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["comparisons"][0]["cases"]
    assert row["limit_between_runs"] == floor["limit_for_1"]
    assert math.expm1(floor["p95"]) <= row["margin"] < floor["limit_for_1"]
    assert main(["compare", base, new, "--threshold", "1%"]) == 1
    text = capsys.readouterr().out
    assert f"{row['margin'] * 100:.1f}%+  regressed" in text
    assert "+ measured: the noise floor between whole runs here, from 8 runs" in text
    assert main(["compare", base, new]) == 1
    assert "5%  regressed" in capsys.readouterr().out, "the threshold is the larger one"
    assert main(["compare", base, new, "--metric", "memory"]) == 0


@pytest.mark.usefixtures("runs")
def test_too_few_runs_keep_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for n in (6, 7):
        Path(f"runs/{n}.json").unlink()
    assert main(["noise", "runs"]) == 2
    assert "A noise floor needs 7 whole runs of a case" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
