"""Exports, read back by the tools that they are for where those can be had."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_benchmark.stats import Stats

from suite.bridges import exporting, pytest_benchmark
from suite.cli import main
from suite.errors import ConfigError
from tests.builders import STEPS_MS, case, failure
from tests.sides import gpu, run_file, run_of, scaled

OTHER = case("gpt", preset="char", params={"sequence": 64})


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Two measured cases and one that ran out of memory."""
    broken = (case("resnet"), [failure(status="oom", reason="RESOURCE_EXHAUSTED")])
    return run_file(tmp_path / "run.json", [(case(), STEPS_MS), broken, (OTHER, scaled(STEPS_MS, 2))])


def exported(capsys: pytest.CaptureFixture[str], to: str, *files: str, code: int = 0) -> str:
    assert main(["export", "--to", to, *files]) == code
    return capsys.readouterr().out


def strict(text: str) -> Any:
    return json.loads(text, parse_constant=pytest.fail)


def test_pytest_benchmark_itself_compares_two_exports(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = run_file(tmp_path / "slower.json", [(case(), scaled(STEPS_MS, 1.5)), (OTHER, STEPS_MS)])
    for name, file in (("before", run), ("after", slower)):
        (tmp_path / f"{name}.json").write_text(exported(capsys, "pytest-benchmark", file))
    done = subprocess.run(
        [sys.executable, "-m", "pytest_benchmark", "compare", "before.json", "after.json", "--csv=table"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Failed to load" not in done.stdout + done.stderr
    rows = list(csv.DictReader((tmp_path / "table.csv").open()))
    assert sorted(float(row["median"]) for row in rows) == pytest.approx([0.00415, 0.00415, 0.006225, 0.0083])
    assert {row["rounds"] for row in rows} == {"7"}
    assert case().key in done.stdout
    assert OTHER.key in done.stdout


@pytest.mark.parametrize(
    ("git", "id_", "dirty"), [("1a2b", "1a2b", False), ("1a2b-dirty", "1a2b", True), (None, "unknown", False)]
)
def test_the_commit_says_whether_files_differed_from_it(git: str | None, id_: str, dirty: bool) -> None:
    file = run_of([(case(), STEPS_MS)], git=git)
    commit = pytest_benchmark.document([file], file.results)["commit_info"]
    assert (commit["id"], commit["dirty"]) == (id_, dirty)


# Whole numbers, so that no rounding decides on which side of a fence a value lies.
@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=30))
def test_its_statistics_are_those_of_pytest_benchmark(seconds: list[int]) -> None:
    theirs = Stats()
    for value in seconds:
        theirs.update(value)
    ours = pytest_benchmark.stats(seconds)
    for name, value in theirs.as_dict().items():
        if name == "hd15iqr":  # earlier versions took the first value beyond the fence, says its source
            continue
        assert ours[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-15))


def test_values_beyond_the_fences() -> None:
    found = pytest_benchmark.stats([10, 11, 12, 13, 14, 15, 16, 100])
    assert (found["q1"], found["q3"], found["iqr_outliers"]) == (11.5, 15.5, 1)
    assert (found["ld15iqr"], found["hd15iqr"]) == (10, 16)


def test_what_was_not_measured_is_said_and_not_made_up(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    for to in ("pytest-benchmark", "github-action-benchmark", "bencher"):
        assert main(["export", "--to", to, run]) == 0
        found = capsys.readouterr()
        assert "resnet" not in found.out
        assert "jaxmark: left out resnet/smoke/train/fp32/b8/unroll/v1: oom: RESOURCE_EXHAUSTED" in found.err
        strict(found.out)


def test_nothing_measured_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = run_file(tmp_path / "bad.json", [(case(), [failure()])])
    for to in ("pytest-benchmark", "github-action-benchmark", "bencher"):
        exported(capsys, to, bad, code=3)


def test_github_action(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = strict(exported(capsys, "github-action-benchmark", run))
    assert [(entry["name"], entry["unit"]) for entry in found][:3] == [
        (f"{case().key} step time", "ms"),
        (f"{case().key} compile time", "ms"),
        (f"{case().key} peak memory (host_rss)", "bytes"),
    ]
    assert found[0]["value"] == pytest.approx(4.15)
    assert found[0]["range"] == "4 to 4.3"
    assert "machine: m-0123456789abcdef" in found[0]["extra"]
    assert all(isinstance(entry["value"], int | float) for entry in found)


def test_bencher(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = strict(exported(capsys, "bencher", run))
    assert set(found) == {case().key, OTHER.key}
    assert found[case().key]["step-time"] == pytest.approx(
        {"value": 4.15e6, "lower_value": 4.0e6, "upper_value": 4.3e6}
    )
    assert found[case().key]["throughput"]["value"] == pytest.approx(8 / 0.00415)
    assert found[case().key]["peak-memory-host-rss"] == {"value": 512_000_000.0}
    for measures in found.values():
        for name, metric in measures.items():
            assert len(name) <= 64
            assert set(metric) <= {"value", "lower_value", "upper_value"}


def test_bencher_takes_no_endless_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = case("x:" + "y" * 1100, preset="own", mode="own")
    assert main(["export", "--to", "bencher", run_file(tmp_path / "a.json", [(long, STEPS_MS)])]) == 2
    assert "expected names of up to 1024 characters" in capsys.readouterr().err


def test_csv_has_every_case_of_every_file(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = run_file(tmp_path / "gpu.json", [(case(), scaled(STEPS_MS, 0.1))], gpu())
    rows = list(csv.DictReader(io.StringIO(exported(capsys, "csv", run, other))))
    assert [(row["run"], row["status"]) for row in rows] == [
        ("run", "ok"), ("run", "oom"), ("run", "ok"), ("gpu", "ok")
    ]  # fmt: skip
    assert [row["platform"] for row in rows] == ["cpu", "cpu", "cpu", "cuda"]
    assert float(rows[0]["step_time_ms"]) == pytest.approx(4.15)
    assert rows[1]["step_time_ms"] == ""
    assert rows[2]["params"] == "sequence=64"


def test_one_case_in_two_files_has_no_place(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = run_file(tmp_path / "other.json", [(case(), STEPS_MS)], gpu())
    assert main(["export", "--to", "bencher", run, other]) == 2
    assert "Export the files one at a time" in capsys.readouterr().err


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no format 'benchr'\. Did you mean 'bencher'"):
        exporting.export([], "benchr")


def test_the_parser_offers_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    help_text = capsys.readouterr().out
    for name in exporting.FORMATS:
        assert name in help_text
