"""Imports: what the other tool's file says, null for what it does not, and no other tool's file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.files import load, problems
from suite.analysis.history import history
from suite.bridges import importing
from suite.cli import main
from suite.errors import ConfigError
from suite.record.schema import ResultFile
from tests.bridges.test_other_tools import DOCUMENTS
from tests.builders import STEPS_MS, case, environment, failure
from tests.sides import gpu, run_file, scaled

GPT = case("gpt", preset="char", params={"sequence": 64})
TESTS = """
import pytest, time

def test_it(benchmark):
    benchmark.pedantic(time.sleep, args=(0.0002,), rounds=8, iterations=2)

@pytest.mark.parametrize("n", [1, 2])
def test_sizes(benchmark, n):
    benchmark.pedantic(time.sleep, args=(n * 1e-4,), rounds=3)
"""


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pytest-benchmark itself writes, with and without its rounds."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "tests").mkdir()
    (folder / "tests/test_it.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--benchmark-json=whole.json",
        "--benchmark-save=short",
        "tests",
    ]
    # Beside other tests it would measure nothing.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stdout
    return folder


def imported(path: Path, out: Path, code: int = 0) -> ResultFile:
    assert main(["import", str(path), "--from", "pytest-benchmark", "-o", str(out)]) == code
    assert problems(out) == []
    return load(out)


def test_what_pytest_benchmark_wrote(real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = imported(real / "whole.json", tmp_path / "a.json")
    assert capsys.readouterr().out.strip() == str(tmp_path / "a.json")
    assert [result.case.workload for result in file.results] == [
        "tests.test_it.py::test_it", "tests.test_it.py::test_sizes[1]", "tests.test_it.py::test_sizes[2]"
    ]  # fmt: skip
    document = json.loads((real / "whole.json").read_text())
    (process,) = file.results[0].processes
    assert process.block_steps == 2
    assert process.block_ns == [round(s * 2e9) for s in document["benchmarks"][0]["stats"]["data"]]
    machine, software = file.environment.machine, file.environment.software
    assert (machine.device_kind, machine.device_count, machine.platform) == ("unknown", None, "unknown")
    assert document["machine_info"]["node"] not in (tmp_path / "a.json").read_text()
    assert software.python == document["machine_info"]["python_version"]
    assert software.jax is software.flax is None
    assert process.compile.compile_ns is process.conditions.steady is process.memory.peak_bytes is None
    assert process.memory.reason
    assert file.results[0].summary.compile_ms is file.results[0].summary.peak_bytes is None
    assert (file.run.imported_from or "").startswith("pytest-benchmark ")


def test_show_compare_and_history_read_it(
    real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(real / "whole.json", tmp_path / "a/a.json")
    slower = json.loads((real / "whole.json").read_text())
    for benchmark in slower["benchmarks"]:
        benchmark["stats"]["data"] = [2 * seconds for seconds in benchmark["stats"]["data"]]
    (tmp_path / "slower.json").write_text(json.dumps(slower))
    imported(tmp_path / "slower.json", tmp_path / "a/b.json")
    assert main(["show", str(tmp_path / "a/a.json")]) == 0
    assert "measured by pytest-benchmark" in " ".join(capsys.readouterr().out.split())
    assert main(["show", str(tmp_path / "a/a.json"), "--case", "*test_it*"]) == 0
    compare = ["compare", str(tmp_path / "a/a.json"), str(tmp_path / "a/b.json")]
    capsys.readouterr()
    assert main([*compare, "--strict", "--format", "json"]) == 4
    (pairing,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert pairing["same_machine"]
    row = pairing["cases"][0]
    assert row["ratio"] == pytest.approx(2.0, rel=1e-6)
    assert (row["verdict"], row["needs"]) == ("inconclusive", 5)
    assert main(compare) == 0
    assert main([*compare, "--metric", "memory"]) == 3
    (section,) = history([str(tmp_path / "a")]).sections
    assert [len(series.values) for series in section.series] == [2, 2, 2]


def test_another_machine_gets_no_verdict(
    real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(real / "whole.json", tmp_path / "a.json")
    other = json.loads((real / "whole.json").read_text())
    other["machine_info"]["node"] += "2"
    (tmp_path / "other.json").write_text(json.dumps(other))
    imported(tmp_path / "other.json", tmp_path / "b.json")
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--format", "json"]) == 0
    (pairing,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert not pairing["same_machine"]
    assert pairing["cases"][0]["verdict"] is None


def test_without_rounds_nothing_is_made_up(
    real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (short,) = (real / ".benchmarks").rglob("*.json")
    assert main(["import", str(short), "--from", "pytest-benchmark", "-o", str(tmp_path / "a.json")]) == 3
    assert (
        "test_it: its rounds are not in the file; pytest-benchmark keeps them with" in capsys.readouterr().err
    )
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize("place", [None, gpu(device_count=2)])
def test_our_own_export_comes_back(tmp_path: Path, place: Any, capsys: pytest.CaptureFixture[str]) -> None:
    original = run_file(
        tmp_path / "run.json", [(case(), STEPS_MS), (GPT, scaled(STEPS_MS, 2))], place, git="1a2b-dirty"
    )
    assert main(["export", "--to", "pytest-benchmark", original]) == 0
    (tmp_path / "export.json").write_text(capsys.readouterr().out)
    file, before = imported(tmp_path / "export.json", tmp_path / "back.json"), load(original)
    assert file.environment.machine == before.environment.machine
    assert file.environment.software == before.environment.software
    assert file.run.git == "1a2b-dirty"
    for one, other in zip(file.results, before.results, strict=True):
        assert one.case == other.case
        assert one.work == other.work
        assert one.summary.processes == 7
        assert one.summary.step_time_ms == pytest.approx(other.summary.step_time_ms)
        assert one.summary.step_time_ms_low == pytest.approx(other.summary.step_time_ms_low)
    slower = run_file(tmp_path / "slower.json", [(case(), scaled(STEPS_MS, 2)), (GPT, STEPS_MS)], place)
    assert main(["compare", str(tmp_path / "back.json"), slower]) == 1


@pytest.mark.parametrize(("name", "document"), [pair for pair in DOCUMENTS if "pytest" not in pair[0]])
def test_another_tools_file_is_named_and_refused(
    tmp_path: Path, name: str, document: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text(json.dumps(document))
    assert main(["import", str(tmp_path / "other.json"), "--from", "pytest-benchmark"]) == 2
    assert f"expected results of pytest-benchmark, found {name}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.glob("*.json")] == ["other.json"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\x00", b"[]", b'{"machine_info": {}, "benchmarks": [{}]}']
)
def test_what_is_nothing_is_refused(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_bytes(content)
    assert main(["import", str(tmp_path / "x.json"), "--from", "pytest-benchmark"]) == 2
    assert "x.json" in capsys.readouterr().err


def test_a_result_file_needs_no_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run_file(tmp_path / "a.json", [(case(), [failure()])], environment())
    assert main(["import", path, "--from", "pytest-benchmark"]) == 2
    assert "a result file of jaxmark, which needs no import" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-12, 1e12, 1e300])
def test_times_that_cannot_be_are_left_out(
    real: Path, tmp_path: Path, seconds: float, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads((real / "whole.json").read_text())
    document["benchmarks"][0]["stats"]["data"][1] = seconds
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert len(imported(tmp_path / "x.json", tmp_path / "a.json").results) == 2
    assert "test_it: expected rounds that took from a nanosecond to a century" in capsys.readouterr().err


@pytest.mark.parametrize(("content", "found"), [("", "is empty"), ('{"machine_info', "ends in the middle")])
def test_what_is_no_json_is_not_said_to_be_ours(
    content: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bench.json").write_text(content)
    assert main(["import", str(tmp_path / "bench.json"), "--from", "pytest-benchmark"]) == 2
    told = capsys.readouterr().err
    assert found in told
    assert "expected results of pytest-benchmark" in told


def test_where_it_cannot_be_written(real: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = real / "whole.json/a.json"
    assert main(["import", str(real / "whole.json"), "--from", "pytest-benchmark", "-o", str(out)]) == 2
    assert f"jaxmark: Cannot write {out}: " in (told := capsys.readouterr().err)
    assert "Name another with -o FILE." in told


def test_nothing_is_overwritten(real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("mine")
    out = ["-o", str(tmp_path / "a.json")]
    assert main(["import", str(real / "whole.json"), "--from", "pytest-benchmark", *out]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "a.json").read_text() == "mine"


def test_an_unknown_tool(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'pytest-benchmark'"):
        importing.read(tmp_path / "x.json", "pytest-benchmrk")
