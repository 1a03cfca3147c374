"""Each file is read once, and never believed to be what it no longer is."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from suite.analysis.index import listing, reading
from suite.analysis.index.database import Database, default_path
from suite.analysis.index.reading import Summaries, summaries
from suite.errors import ResultFileError
from tests.builders import STEPS_MS, case
from tests.sides import run_file, scaled


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(listing, "_SETTLED_NS", 0)  # the tests' files have only just been written
    return tmp_path / "cache"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for n in range(5):
        run_file(tmp_path / f"runs/{n % 2}/{n}.json", [(case(), scaled(STEPS_MS, n + 1))], id=str(n))
    (tmp_path / "runs/package.json").write_text('{"name": "x"}')
    return tmp_path / "runs"


class Seen(NamedTuple):
    read: int
    medians: dict[str, float]
    skipped: tuple[str, ...]


def seen(*arguments: Path | str) -> Seen:
    return Seen(*told(summaries([str(argument) for argument in arguments])))


def told(found: Summaries) -> tuple[int, dict[str, float], tuple[str, ...]]:
    medians = {line.run: memoryview(line.medians).cast("d")[0] / 1e6 for line in found.lines}
    return found.read, medians, found.skipped


ALL = {str(n): pytest.approx(4.15 * (n + 1)) for n in range(5)}


def test_the_second_time_nothing_is_read(runs: Path) -> None:
    first = seen(runs)
    assert (first.read, first.medians) == (6, ALL)
    assert "package.json: expected a result file of jaxmark" in first.skipped[0]
    assert seen(runs) == (0, *first[1:])
    assert seen(runs / "1", runs / "0/*.json") == (0, ALL, ())
    assert seen(runs / "0/0.json").medians == {"0": pytest.approx(4.15)}


def overwrite(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def test_the_same_size_with_another_time_is_read_again(runs: Path) -> None:
    seen(runs)
    path = runs / "0/0.json"
    before = path.stat()
    content = path.read_bytes().replace(b"41500000", b"51500000").replace(b"40000000", b"50000000")
    path.write_bytes(content)
    assert path.stat().st_size == before.st_size
    changed = seen(runs)
    assert changed.read == 1
    assert changed.medians["0"] == pytest.approx(4.25), "two of the seven processes are a millisecond slower"
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - 10**9))
    assert seen(runs).read == 1


def test_a_file_whose_time_was_set_back_is_read_again(runs: Path) -> None:
    seen(runs)
    path = runs / "0/0.json"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"id":"0"', b'"id":"9"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    now = path.stat()
    assert (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert "9" in seen(runs).medians


def test_what_changed_just_now_is_not_kept(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_SETTLED_NS", 10**12)
    assert seen(runs).read == 6
    assert seen(runs).read == 6


def test_deleted_and_new_files(runs: Path) -> None:
    seen(runs)
    (runs / "0/0.json").unlink()
    run_file(runs / "new.json", [(case(), STEPS_MS)])
    found = seen(runs)
    assert found.read == 1
    assert set(found.medians) == {"1", "2", "3", "4", "new"}
    with closing(sqlite3.connect(default_path())) as connection:
        (count,) = connection.execute("SELECT count(*) FROM files").fetchone()
        assert count == 6
        (count,) = connection.execute("SELECT count(*) FROM processes").fetchone()
        assert count == 5


def test_a_half_written_file_is_skipped_until_it_is_whole(runs: Path) -> None:
    path = runs / "0/0.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    assert "0.json ends in the middle" in seen(runs).skipped[0]
    assert seen(runs).read == 0, "that it is half a file is kept too"
    path.write_bytes(whole)
    assert seen(runs)[:2] == (1, ALL)


def test_a_run_that_goes_on_is_not_kept(runs: Path) -> None:
    (runs / "0/0.journal").write_bytes(b"")
    with pytest.raises(ResultFileError):
        seen(runs / "0/0.json")
    assert seen(runs).read == 6
    assert seen(runs).read == 1
    (runs / "0/0.journal").unlink()
    assert seen(runs)[:2] == (1, ALL)


def nonsense(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def other_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")


def other_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE files")


@pytest.mark.parametrize("spoil", [nonsense, cut, other_version, other_tables])
def test_a_spoilt_or_older_index_is_made_anew(runs: Path, spoil: Callable[[Path], None]) -> None:
    seen(runs)
    spoil(default_path())
    for _ in range(2):  # where the damage shows only in the middle, the next command makes it anew
        assert seen(runs).medians == ALL
    assert seen(runs)[:2] == (0, ALL)


def test_without_a_place_for_the_index(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        found = summaries([str(runs)])
        assert told(found)[:2] == (6, ALL)
        assert "summaries cannot be kept in" in found.notes[0]
        assert "set XDG_CACHE_HOME" in found.notes[0]


def test_an_index_that_can_be_read_only(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen(runs)
    run_file(runs / "new.json", [(case(), STEPS_MS)])
    connect = sqlite3.connect

    def read_only(path: Path, **settings: object) -> sqlite3.Connection:
        return connect(f"file:{path}?mode=ro", uri=True, **settings)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", read_only)
    for _ in range(2):
        found = summaries([str(runs)])
        assert found.read == 1
        assert len(found.lines) == 6
        assert "readonly" in found.notes[0]


def test_two_programs_at_once(runs: Path) -> None:
    script = (
        "import sys; from suite.analysis.index import listing; listing._SETTLED_NS = 0; "
        "from suite.analysis.index.reading import summaries; "
        "found = summaries([sys.argv[1]]); print(len(found.lines), found.notes)"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script, str(runs)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for one in both:
        out, _ = one.communicate(timeout=60)
        assert (one.returncode, out) == (0, "5 ()\n")
    assert seen(runs)[:2] == (0, ALL)


def test_a_locked_index_is_waited_for_and_then_done_without(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen(runs)
    monkeypatch.setattr("suite.analysis.index.database._WAIT_S", 0.01)
    with closing(sqlite3.connect(default_path(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        found = summaries([str(runs)])
        assert told(found)[:2] == (6, ALL)
        assert "locked" in found.notes[0]
        other.execute("ROLLBACK")
    assert seen(runs).read == 0


def test_many_files_are_read_by_other_processes(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_ALONE", 3)
    monkeypatch.setattr(reading, "_PART", 2)
    monkeypatch.setattr(reading, "_cores", lambda: 2)
    said: list[str] = []
    found = summaries([str(runs)], say=said.append)
    assert told(found)[:2] == (6, ALL)
    assert said == ["reading 6 result files"]
    assert seen(runs).read == 0


def test_names_that_are_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system has no such names")
    run_file(Path(os.fsdecode(folder)) / "a\udcff.json", [(case(), STEPS_MS)], id="0")
    for read in (1, 0):
        assert seen(os.fsdecode(folder)).read == read


def test_what_is_not_there(tmp_path: Path) -> None:
    for argument, said in (
        (tmp_path / "none.json", "No file"),
        (tmp_path / "*.json", r"found no \.json file"),
    ):
        with pytest.raises(ResultFileError, match=said):
            seen(argument)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ResultFileError, match=r"1 \.json files, none of them readable"):
        seen(tmp_path)


def test_its_database_closes_on_errors(tmp_path: Path) -> None:
    with Database(tmp_path / "folder/index.sqlite") as index:
        assert index.problem is None
    assert list(index.lines([], "step_time", False)) == []


def test_pipes_and_links_to_nothing_are_passed_over(runs: Path) -> None:
    os.mkfifo(runs / "pipe.json")
    (runs / "nothing.json").symlink_to("nowhere")
    assert seen(runs).medians == ALL
