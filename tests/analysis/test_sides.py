"""From files, folders and globs to sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.analysis.files import load
from suite.analysis.sides import gather
from suite.errors import ConfigError, ResultFileError
from suite.record.schema import ResultFile
from tests.analysis.comparing import GPT, compared
from tests.builders import STEPS_MS, case, failure
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


def folder_of_runs(folder: Path) -> None:
    """Runs of two machines; the newest of one did not reach a case, and another lost it."""
    cases = [(case(), STEPS_MS), (GPT, STEPS_MS)]
    run_file(folder / "1.json", cases, started_at="2026-01-01T12:00:00Z")
    run_file(folder / "2.json", cases, gpu(), started_at="2026-01-02T12:00:00Z")
    run_file(
        folder / "x/3.json", [(case(), scaled(STEPS_MS, 2)), (GPT, ())], started_at="2026-01-03T12:00:00Z"
    )
    run_file(folder / "4.json", [(case(), [failure()])], gpu(), started_at="2026-01-04T12:00:00Z")
    (folder / "other.json").write_text("{}")


def test_the_index_chooses_what_reading_all_would_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder_of_runs(tmp_path / "runs")
    for argument in (str(tmp_path / "runs"), str(tmp_path / "runs/**/*.json")):
        every, chosen = gather([argument]), gather([argument], newest_only=True)
        assert chosen.skipped == every.skipped
        assert len(chosen.sides) == 2
        for one, other in zip(chosen.sides, every.sides, strict=True):
            assert (one.name, one.results, one.superseded) == (other.name, other.results, other.superseded)
            assert one.sources == other.sources


def test_of_many_files_only_the_needed_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for day in range(1, 21):
        run_file(
            tmp_path / f"runs/{day}.json", [(case(), STEPS_MS)], started_at=f"2026-01-{day:02}T12:00:00Z"
        )
    read: list[str] = []

    def counting(path: str) -> ResultFile:
        read.append(path)
        return load(path)

    monkeypatch.setattr("suite.analysis.sides.load", counting)
    (side,) = gather([str(tmp_path / "runs")], newest_only=True).sides
    assert read == [str(tmp_path / "runs/20.json")]
    assert side.superseded == 19


def test_what_only_the_whole_file_shows_to_be_broken_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for day in (1, 2):
        run_file(tmp_path / f"runs/{day}.json", [(case(), STEPS_MS)], started_at=f"2026-01-0{day}T12:00:00Z")
    newest = tmp_path / "runs/2.json"
    newest.write_text(newest.read_text().replace('"init_ns":30000000', '"init_ns":-1', 1))
    found = gather([str(tmp_path / "runs")], newest_only=True)
    assert found.sides[0].name == str(tmp_path / "runs/1.json")
    assert "init_ns" in found.skipped[0]
    (tmp_path / "runs/1.json").unlink()
    with pytest.raises(ResultFileError, match="init_ns"):
        gather([str(tmp_path / "runs")], newest_only=True)


def test_a_run_in_two_folders_is_refused_also_where_it_is_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old = {"started_at": "2026-01-01T12:00:00Z", "id": "old"}
    for name in "ab":
        run_file(tmp_path / name / "1.json", [(case(), STEPS_MS)], **old)
        run_file(tmp_path / name / "2.json", [(case(), STEPS_MS)], id=name, started_at="2026-01-02T12:00:00Z")
    with pytest.raises(ConfigError, match=r"are the same run \(id old\)"):
        gather([str(tmp_path / "a"), str(tmp_path / "b")], newest_only=True)
