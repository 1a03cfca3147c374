"""Derived figures that do not follow from the raw samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.files import load, problems
from suite.analysis.summary import fold
from suite.record.store import Store
from tests.builders import case, document, header, outcome, process, result_file


def write(folder: Path, content: Any) -> Path:
    path = folder / "result.json"
    path.write_text(json.dumps(content))
    return path


def test_a_file_as_it_was_written_has_no_problems(tmp_path: Path) -> None:
    assert problems(write(tmp_path, document(result_file()))) == []


@pytest.mark.parametrize(
    ("field", "value", "derived"),
    [
        ("step_time_ms", 3.0, "4.15"),
        ("step_time_ms_low", None, "4.0"),
        ("items_per_second", 1e6, "1927.7"),
        ("peak_bytes", 1, "512000000"),
        ("peak_method", "static", "host_rss"),
        ("processes", 8, "7"),
    ],
)
def test_a_summary_edited_by_hand_is_caught(tmp_path: Path, field: str, value: Any, derived: str) -> None:
    content = document(result_file())
    content["results"][0]["summary"][field] = value
    path = write(tmp_path, content)
    (problem,) = problems(path)
    assert problem.startswith(f"results[0].summary.{field}: the raw samples give {derived}")
    assert problem.endswith(f"found {'null' if value is None else value}")
    load(path)  # it can still be looked at


def test_a_sample_edited_by_hand_is_caught(tmp_path: Path) -> None:
    content = document(result_file())
    content["results"][0]["processes"][4]["block_ns"] = [1_000_000] * 20  # the median process
    found = problems(write(tmp_path, content))
    assert any("summary.step_time_ms:" in problem for problem in found)


def test_a_status_that_does_not_follow_is_caught(tmp_path: Path) -> None:
    content = document(result_file())
    content["results"][0]["status"] = "oom"
    (problem,) = problems(write(tmp_path, content))
    assert problem == "results[0].status: its processes and failures give 'ok', found 'oom'"


def test_digits_lost_by_another_program_are_forgiven(tmp_path: Path) -> None:
    content = document(result_file())
    summary = content["results"][0]["summary"]
    summary["items_per_second"] = float(f"{summary['items_per_second']:.12g}")
    assert problems(write(tmp_path, content)) == []


def test_a_journal_is_checked_too(tmp_path: Path) -> None:
    store = Store.create(tmp_path, header(), fold)
    store.append(outcome(case(), process(0)))
    journal = store.path.with_suffix(".journal")
    assert problems(journal) == []
    journal.write_bytes(journal.read_bytes() + b"{}\n")
    (problem,) = problems(journal)
    assert "line 3" in problem
