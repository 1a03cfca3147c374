"""`jaxmark history` as users call it."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from suite.analysis.history import history
from suite.cli import main
from suite.record.paired import Paired
from suite.report.history import words
from suite.report.history.text import show_history
from tests.analysis.test_history import GPT, days, write
from tests.builders import STEPS_MS, case, failure
from tests.sides import gpu, newer, run_file, scaled


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Twenty days with a change on the thirteenth, a case that failed, another machine and other JSON."""
    folder = tmp_path / "runs"
    days(folder, 20, case(), 12, 1.2, newer())
    write(folder, 21, [(case(), STEPS_MS), (GPT, [failure(status="oom")])], gpu())
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "bench.json").write_text('{"machine_info": {}, "benchmarks": []}')
    return folder


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert main(["history", *map(str, arguments)]) == code
    return capsys.readouterr().out


def test_the_text(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, runs)
    assert "History of step time on 2 machines\n" in text
    assert "machine m-0123456789abcdef: 20 runs, 2026-01-01 00:00 to 2026-01-20 00:00" in " ".join(
        text.split()
    )
    assert "Changed with the run of 2026-01-13 00:00 UTC: jax 0.10.2 -> 0.12.0.1, jaxlib 0.10.2 ->" in text
    (line,) = [line for line in text.splitlines() if line.endswith("  worse")]
    assert "+19." in line or "+20." in line
    assert "NVIDIA L4 (cuda), machine m-l4: 1 run, 2026-01-22 00:00 UTC" in text
    assert "1 oom" in text
    assert "Skipped files (2)" in text
    assert "found results of pytest-benchmark" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    assert not set(words.BLOCKS) & set(text), "lines are for terminals"


def test_a_terminal_gets_lines(runs: Path) -> None:
    text = io.StringIO()
    show_history(history([str(runs)]), Console(file=text, force_terminal=True, width=100, color_system=None))
    (line,) = [line for line in text.getvalue().splitlines() if line.startswith("mlp") and " 20 " in line]
    drawn = line.split()[-1]
    assert set(drawn[:12]) <= set("▁▂▃")
    assert set(drawn[12:]) <= set("▆▇█")
    assert len(drawn) == 20


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([1.0], "▄"),
        ([5.0] * 3, "▄▄▄"),
        ([1.0, 2.0, 4.0], "▁▄█"),
        ([1.0, 1.03], "▄▅"),
        ([1.0] * 100 + [9.0] * 100, "▁" * 12 + "█" * 12),
    ],
)
def test_lines(values: list[float], line: str) -> None:
    assert words.sparkline(values) == line


def test_json(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, runs, "--format", "json"))
    first, second = found["machines"]
    (series,) = first["cases"]
    assert series["key"] == case().key
    assert series["medians_ns"][0] == pytest.approx(4.15e6)
    (change,) = series["changes"]
    assert (change["run"], change["id"], change["differences_runs_away"]) == (12, "012", 0)
    assert change["ratio_low"] < 1.2 < change["ratio_high"]
    assert change["differences"][0] == {"field": "jax", "before": "0.10.2", "after": "0.12.0.1"}
    assert second["machine"]["device_kind"] == "NVIDIA L4"
    assert second["cases"][1]["failures"] == {"oom": 1}
    assert len(found["skipped_files"]) == 2


def test_csv_has_a_line_for_each_case_and_run(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(capsys, runs, "--format", "csv"))))
    assert len(rows) == 21
    (changed,) = [row for row in rows if row["change_ratio"]]
    assert changed["run"] == "012"
    assert changed["software_changes"] == "jax: 0.10.2 -> 0.12.0.1; jaxlib: 0.10.2 -> 0.12.0.1"


def test_markdown(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, runs, "--format", "markdown")
    assert "### jaxmark: history of step time" in text
    assert ":red_circle: worse |" in text
    assert "Skipped files: 2" in text


def test_exit_codes(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "failed", 0, [(case(), [failure()])])
    printed(capsys, tmp_path / "failed", code=3)
    printed(capsys, runs, "--metric", "tail")
    printed(capsys, runs, "--machine", "m-l4", "--case", "mlp/*")
    for bad in (["--case", "x"], ["--machine", "x"], ["--threshold", "0"], [str(tmp_path / "none")]):
        assert main(["history", str(runs), *bad]) == 2
        assert capsys.readouterr().err.startswith("jaxmark: ")


def test_it_says_where_summaries_cannot_be_kept(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert main(["history", str(runs)]) == 0
    assert "jaxmark: summaries cannot be kept in" in capsys.readouterr().err


def test_names_that_are_not_ascii_and_nothing_heavy(tmp_path: Path) -> None:
    strange = case("模型:naïve🙂" + "x" * 3000, preset="own", mode="own")
    for day in range(3):
        write(tmp_path / "runs", day, [(strange, scaled(STEPS_MS, 1 + day))])
    script = (
        "import sys; from suite.cli import main; code = main(sys.argv[1:]); "
        "sys.exit(' '.join({'jax', 'flax', 'scipy', 'pandas', 'pyarrow'} & set(sys.modules)) or code)"
    )
    for form in ("text", "json", "markdown", "csv"):
        done = subprocess.run(
            [sys.executable, "-c", script, "history", str(tmp_path / "runs"), "--format", form],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=True,
        )
        assert b"\\u6a21" in done.stdout, form


def test_nothing_but_sides_of_ab_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paired = Paired(side="base", partner="b", first={})
    run_file(tmp_path / "runs/a.json", [(case(), STEPS_MS)], paired=paired)
    text = printed(capsys, tmp_path / "runs", code=3)
    assert "There is no ordinary run in these files" in text
    assert "Skipped files (1)" in text
    assert "a side of `jaxmark ab`" in " ".join(text.split())
    for form in ("json", "csv", "markdown"):
        printed(capsys, tmp_path / "runs", "--format", form, code=3)
