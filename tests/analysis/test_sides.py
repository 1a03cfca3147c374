"""From files, folders and globs to sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.analysis.sides import gather
from suite.errors import ConfigError, ResultFileError
from tests.analysis.comparing import GPT, compared
from tests.builders import STEPS_MS, case
from tests.sides import gpu, run_file, scaled


def test_a_folder_gives_the_newest_result_of_each_case(tmp_path: Path) -> None:
    run_file(
        tmp_path / "old/1.json",
        [(case(), STEPS_MS), (GPT, STEPS_MS)],
        started_at="2026-01-01T12:00:00Z",
    )
    run_file(
        tmp_path / "old/x/2.json",
        [(case(), scaled(STEPS_MS, 2)), (GPT, ())],
        started_at="2026-01-02T12:00:00Z",
    )
    new = run_file(tmp_path / "new.json", [(case(), scaled(STEPS_MS, 2)), (GPT, STEPS_MS)])
    found = compared(str(tmp_path / "old"), new)
    assert [row.ratio and round(row.ratio.value, 6) for row in found.pairings[0].rows] == [1.0, 1.0], (
        "the newer run of one case, and the older of the case that the newer run did not reach"
    )
    assert found.base.superseded == 2


def test_other_json_in_a_folder_is_named_and_skipped(tmp_path: Path) -> None:
    a = run_file(tmp_path / "a.json", [(case(), STEPS_MS)])
    run_file(tmp_path / "b/b.json", [(case(), STEPS_MS)])
    (tmp_path / "b/package.json").write_text('{"name": "x"}')
    (tmp_path / "b/bench.json").write_text('{"machine_info": {}, "benchmarks": []}')
    (tmp_path / "b/notes.txt").write_text("no")
    for argument in (str(tmp_path / "b"), str(tmp_path / "b/*.json")):
        found = compared(a, argument)
        assert found.pairings[0].compared
        assert len(found.skipped) == 2
        assert (
            "bench.json: expected a result file of jaxmark, found results of pytest-benchmark"
            in (found.skipped[0])
        )
        assert "package.json: expected a result file of jaxmark" in found.skipped[1]


def test_other_json_named_by_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text('{"machine_info": {}, "benchmarks": []}')
    with pytest.raises(ResultFileError, match="found results of pytest-benchmark"):
        gather([str(tmp_path / "bench.json")])


def test_folders_and_globs_with_nothing(tmp_path: Path) -> None:
    for argument in (str(tmp_path), str(tmp_path / "*.json")):
        with pytest.raises(ResultFileError, match=r"found no \.json file"):
            gather([argument])
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ResultFileError, match=r"1 \.json files, none of them readable: .*x\.json"):
        gather([str(tmp_path)])
    with pytest.raises(ResultFileError, match="No file"):
        gather([str(tmp_path / "none.json")])


def test_several_machines_in_a_folder_are_a_side_each(tmp_path: Path) -> None:
    run_file(tmp_path / "a.json", [(case(), STEPS_MS)], started_at="2026-01-01T12:00:00Z")
    run_file(tmp_path / "b.json", [(case(), STEPS_MS)], gpu())
    (pairing,) = compared(str(tmp_path)).pairings
    assert not pairing.same_machine


def test_one_run_twice_is_refused_under_any_name(tmp_path: Path) -> None:
    a = run_file(tmp_path / "a.json", [(case(), STEPS_MS)])
    run_file(tmp_path / "copy.json", [(case(), STEPS_MS)], id="a")
    (tmp_path / "link.json").symlink_to(tmp_path / "a.json")
    for other, same in ((a, "file"), (str(tmp_path / "link.json"), "file"), ("copy.json", "run")):
        with pytest.raises(ConfigError, match=rf"are the same {same} \(id a\)"):
            gather([a, str(tmp_path / other)])


def test_one_side_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least one other run"):
        compared(run_file(tmp_path / "a.json", [(case(), STEPS_MS)]))


def test_zero_and_negative_times_are_refused_on_load(tmp_path: Path) -> None:
    a = run_file(tmp_path / "a.json", [(case(), STEPS_MS)])
    text = Path(a).read_text()
    for wrong in ("0", "-40000000"):
        (tmp_path / "b.json").write_text(text.replace("[40000000,", f"[{wrong},"))
        with pytest.raises(ResultFileError, match=r"Expected `int` >= 1"):
            gather([a, str(tmp_path / "b.json")])
