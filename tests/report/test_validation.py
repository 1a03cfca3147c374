"""`validate`: a line for each file."""

from __future__ import annotations

import io
import json
from pathlib import Path

from suite.report.text import make_console
from suite.report.validation import show_validation
from tests.builders import document, result_file


def validate(*paths: Path) -> tuple[bool, str]:
    file = io.StringIO()
    return show_validation(paths, make_console(file)), file.getvalue()


def test_good_and_bad_files(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    content = document(result_file())
    good.write_text(json.dumps(content))
    content["results"][0]["summary"] |= {"step_time_ms": 1.0, "compile_ms": 2.0}
    bad.write_text(json.dumps(content))
    assert validate(good) == (True, f"{good}: ok\n")
    valid, text = validate(good, bad, tmp_path / "none.json")
    assert not valid
    assert f"{good}: ok\n" in text
    assert f"{bad}: 2 problems\n" in text
    assert "results[0].summary.step_time_ms: the raw samples give 4.15, found 1.0" in text
    assert f"{tmp_path / 'none.json'}: 1 problem\n" in text


def test_many_problems_are_counted(tmp_path: Path) -> None:
    content = document(result_file())
    processes = content["results"][0]["processes"]
    content["results"][0]["processes"] = [dict(processes[0], index=n, started_at="?") for n in range(30)]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    assert "and 10 more" in validate(path)[1]
