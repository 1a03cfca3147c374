"""`suite.load(...)` and its tables."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import suite
from suite.bridges.frames import _header, load
from suite.cli import main
from suite.errors import ConfigError, ResultFileError
from suite.record.paired import Paired
from tests.builders import STEPS_MS, case, failure, process
from tests.sides import gpu, newer, run_file, scaled

GPT = case("gpt", preset="char", params={"sequence": 64, "causal": True})


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs of two machines; in the last one a case failed after two processes."""
    folder = tmp_path / "runs"
    run_file(folder / "a.json", [(case(), STEPS_MS), (GPT, STEPS_MS[:3])], started_at="2026-01-01T12:00:00Z")
    broken = [4.0, process(2, 4.2, latency_ns=None), failure(1, status="oom")]
    run_file(folder / "b.json", [(case(), broken)], newer(), started_at="2026-01-02T12:00:00Z")
    run_file(folder / "x/c.json", [(GPT, scaled(STEPS_MS, 0.1))], gpu(), started_at="2026-01-03T12:00:00Z")
    (folder / "other.json").write_text("{}")
    return folder


def test_one_file_is_its_content(runs: Path) -> None:
    loaded = suite.load(runs / "a.json")
    assert len(loaded) == 1
    assert loaded.run.id == loaded.file.run.id == "a"
    assert loaded.results[0].processes[0].block_ns == [40_000_000] * 20
    assert loaded.environment.machine.platform == "cpu"
    assert loaded.skipped == ()


def test_a_folder_is_its_runs_oldest_first(runs: Path) -> None:
    loaded = suite.load(runs)
    assert [file.run.id for file in loaded.files] == ["a", "b", "c"]
    assert len(loaded.skipped) == 1
    assert repr(loaded) == (
        "<jaxmark: runs=3 cases=2 machines=2 skipped=1, 2026-01-01T12:00:00Z to 2026-01-03T12:00:00Z>"
    )
    with pytest.raises(ConfigError, match="expected one run, found 3: use `files`"):
        _ = loaded.results
    assert [file.run.id for file in suite.load(runs / "x/*.json", runs / "a.json").files] == ["a", "c"]


def test_a_row_for_each_process(runs: Path) -> None:
    table = load(str(runs)).columns()
    assert list(table) == _header("process")
    assert table["run"] == ["a"] * 10 + ["b"] * 2 + ["c"] * 7
    assert table["process"] == [*range(7), *range(3), 0, 2, *range(7)]
    assert table["step_time_ns"][:7] == pytest.approx([ms * 1e6 for ms in STEPS_MS])
    assert table["latency_ns"][10:12] == [pytest.approx(4.4e6), None]
    assert table["peak_bytes"][0] == 512_000_000
    assert table["peak_method"][0] == "host_rss"
    assert table["compile_ns"][0] == 1_000_000_000
    assert table["params"][7] == "causal=True sequence=64"
    assert table["jax"][9:12] == ["0.10.2", "0.12.0.1", "0.12.0.1"]
    assert set(table["paired"]) == {None}
    assert set(table["device_kind"][12:]) == {"NVIDIA L4"}
    assert table["XLA_FLAGS"][0] is None


def test_a_row_for_each_case_has_the_failed_ones_too(runs: Path) -> None:
    table = load(str(runs)).columns("case")
    assert list(table) == _header("case")
    assert list(zip(table["run"], table["status"], table["processes"], strict=True)) == [
        ("a", "ok", 7), ("a", "ok", 3), ("b", "oom", 2), ("c", "ok", 7)
    ]  # fmt: skip
    assert table["step_time_ns"][0] == pytest.approx(4.15e6)
    with pytest.raises(ConfigError, match="per: expected 'process' or 'case', found 'run'"):
        load(str(runs)).columns("run")  # type: ignore[arg-type]


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(ResultFileError, match="No file"):
        suite.load(tmp_path / "none.json")
    with pytest.raises(ResultFileError, match=r"found no \.json file"):
        suite.load(tmp_path)
    with pytest.raises(ConfigError, match="load: expected a result file"):
        suite.load()


def test_loading_imports_nothing_heavy(runs: Path) -> None:
    script = (
        "import sys, suite; suite.load(sys.argv[1]).columns(); "
        "sys.exit(' '.join({'jax', 'scipy', 'pandas', 'pyarrow', 'numpy'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", script, str(runs)], check=True)


def test_pandas(runs: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = suite.load(runs).to_pandas()
    assert frame.shape == (19, len(_header("process")))
    assert frame["started_at"].dt.year.unique().tolist() == [2026]
    assert str(frame["started_at"].dt.tz) == "UTC"
    medians = frame.groupby(["run", "key"])["step_time_ns"].median() / 1e6
    assert medians["a", case().key] == pytest.approx(4.15)
    cases = suite.load(runs).to_pandas(per="case")
    assert cases["status"].tolist() == ["ok", "ok", "oom", "ok"]
    assert pandas.api.types.is_float_dtype(frame["latency_ns"])
    assert frame["latency_ns"].isna().sum() == 1


def test_parquet(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "runs.parquet"
    assert main(["export", "--to", "parquet", str(runs), "-o", str(out)]) == 0
    assert "other.json" in capsys.readouterr().err
    table = parquet.read_table(out)
    assert table.num_rows == 19
    assert table.column_names == _header("process")
    assert table["step_time_ns"].to_pylist() == load(str(runs)).columns()["step_time_ns"]
    assert table["latency_ns"].null_count == 1
    assert str(table.schema.field("started_at").type) == "timestamp[ms, tz=UTC]"
    assert table["started_at"].null_count == 0
    bad = run_file(tmp_path / "bad.json", [(case(), [failure()])])
    assert main(["export", "--to", "parquet", bad, "-o", str(out)]) == 3
    assert main(["export", "--to", "parquet", bad, "-o", str(tmp_path / "no/x")]) == 2


def test_parquet_needs_a_file(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--to", "parquet", str(runs)]) == 2
    assert "-o FILE.parquet" in capsys.readouterr().err


def test_what_is_not_installed_is_named_with_its_command(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["export", "--to", "parquet", str(runs), "-o", str(tmp_path / "x")]) == 2
    assert "pip install 'jaxmark[parquet]'" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=r"pip install 'jaxmark\[pandas\]'"):
        suite.load(runs).to_pandas()


def test_text_goes_to_a_file_too(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--to", "csv", str(runs), "-o", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr().out == ""
    assert len(list(csv.DictReader((tmp_path / "a.csv").open()))) == 4
    assert main(["export", "--to", "csv", str(runs), "-o", str(tmp_path / "no/a.csv")]) == 2


def test_sides_of_ab_are_known_as_such(tmp_path: Path) -> None:
    paired = Paired(side="new", partner="b", first={})
    name = run_file(tmp_path / "a.json", [(case(), STEPS_MS[:2])], paired=paired)
    assert load(name).columns()["paired"] == ["new", "new"]
