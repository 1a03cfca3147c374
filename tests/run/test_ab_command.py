"""`jaxmark ab` as people call it: what it refuses, and one real pair."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from suite.cli import main
from suite.cli.ab_run import parse_variables
from suite.errors import ConfigError
from suite.record.schema import ResultFile
from tests.run.command import BRIEF, jaxmark, journal_lines, result_paths, start, wait_for

LINEAR = ("--workload", "linear", "--preset", "smoke", "--mode", "infer", *BRIEF)


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["ab", *arguments])
    seen = capsys.readouterr()
    return code, seen.out, seen.err


def test_help_has_examples_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["ab", "--help"])
    said = capsys.readouterr().out
    assert caught.value.code == 0
    assert "examples:\n  jaxmark ab" in said
    assert "exit codes:\n  0 fine" in said


def test_variables() -> None:
    assert parse_variables(["A=1", "XLA_FLAGS=--a=b --c=d", "A=2", "E="], "--x") == {
        "A": "2", "XLA_FLAGS": "--a=b --c=d", "E": "",
    }  # fmt: skip
    for wrong in ("A", "=1", " =1", "A=\0"):
        with pytest.raises(ConfigError, match="--x: expected NAME=VALUE"):
            parse_variables([wrong], "--x")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--base-workload", "a.py:make"], "go together"),
        (["quick", "--base-workload", "a.py:f", "--new-workload", "b.py:f"], "found more than one"),
        (
            ["--workload", "mlp", "--base-workload", "a.py:f", "--new-workload", "b.py:f"],
            "found more than one",
        ),
        (["--base-workload", "a.py:f", "--new-workload", "b.py:f"], "there is no workload file 'a.py'"),
        (["--new-env", "XLA_FLAGS"], "--new-env: expected NAME=VALUE"),
        (["--base-python", "nowhere"], "--base-python: expected a Python interpreter"),
        (["--threshold", "5"], "Did you mean 5%?"),
        (["--budget", "soon"], "budget"),
        (["no-such-config"], "there is no config named"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = called(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_a_real_pair_whose_budget_allows_no_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = ("--new-python", sys.executable, "--new-env", "JAXMARK_EXAMPLE=1")
    code, out, err = jaxmark(
        tmp_path, "ab", *LINEAR, *sides, "--budget", "3s", "--format", "json", "--strict"
    )
    assert code == 4, err
    comparison = json.loads(out)
    (pairing,) = comparison["comparisons"]
    (row,) = pairing["cases"]
    assert (comparison["paired"], comparison["exit_code"]) == (True, 4)
    assert (row["state"], row["verdict"], row["ratio"], row["pairs"]) == ("not_a_verdict", None, None, 1)
    assert row["not_a_verdict"]["ratio"] > 0
    changed = {d["field"]: d["new"] for d in pairing["differences"]}
    assert changed == {"JAXMARK_EXAMPLE": "1", "interpreter": sys.executable}
    assert "not a verdict" in err
    files = {
        file.run.config.rpartition("-")[2]: file for file in map(decoded, result_paths(tmp_path / "results"))
    }
    assert {side: file.run.state for side, file in files.items()} == {
        "base": "interrupted",
        "new": "interrupted",
    }
    for side, file in files.items():
        assert file.run.paired is not None
        assert (file.run.paired.side, len(file.results[0].processes)) == (side, 1)
        assert file.results[0].status == "ok"
    paths = [str(path) for path in result_paths(tmp_path / "results")]
    assert main(["validate", *paths]) == 0
    assert main(["compare", *sorted(paths, key=lambda path: "-base-" not in path), "--strict"]) == 4
    assert "not a verdict" in capsys.readouterr().out
    assert main(["run", "--resume", paths[0]]) == 2
    assert "side of `jaxmark ab`" in capsys.readouterr().err


def test_ctrl_c_leaves_two_valid_files_and_says_what_is_known(tmp_path: Path) -> None:
    with start(tmp_path, "ab", *LINEAR, "--yes") as process:
        # Two headers, and a process of each side.
        wait_for(lambda: journal_lines(tmp_path / "results") >= 4, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted: writing what there is" in out
    assert "not a verdict" in out
    states = [decoded(path).run.state for path in result_paths(tmp_path / "results")]
    assert states == ["interrupted", "interrupted"]


def decoded(path: Path) -> ResultFile:
    from suite.analysis.files import load

    return load(path)
