"""Where noise floors are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from suite.analysis.files import load, problems
from suite.analysis.summary import fold
from suite.errors import ResultFileError, StorageError
from suite.record import floors
from suite.record.floors import Floor
from suite.record.schema import to_json
from suite.record.store import Store
from tests.builders import case, header, machine, outcome, process, result_file


def floor(key: str = "a", p95: float = 0.03, metric: str = "step_time") -> Floor:
    return Floor(
        key=key,
        metric=metric,
        runs=8,
        p95=p95,
        deviation=0.02,
        first_run_at="2026-01-01T12:00:00Z",
        last_run_at="2026-01-08T12:00:00Z",
    )


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "jaxmark/noise"


def test_nothing_is_known_at_first(data: Path) -> None:
    assert floors.load(machine()) == []
    assert floors.known() == []
    assert not data.exists()


def test_what_is_kept_is_found_again_for_the_same_devices_only() -> None:
    path = floors.keep(machine(), [floor()])
    assert path.name.startswith("m-0123456789abcdef-")
    assert floors.load(machine()) == [floor()]
    assert floors.load(machine(ram_bytes=8_000_000_000)) == [floor()]
    for changes in (
        {"machine_id": "m-other"},
        {"platform": "cuda", "device_kind": "NVIDIA L4"},
        {"device_count": 2},
        {"cpu_model": "Other"},
    ):
        assert floors.load(machine(**changes)) == []
    assert [file.floors for file in floors.known()] == [[floor()]]


def test_newer_floors_replace_those_of_their_cases() -> None:
    floors.keep(machine(), [floor("a"), floor("a", metric="memory"), floor("b")])
    floors.keep(machine(), [floor("a", 0.05)])
    assert floors.load(machine()) == [floor("b"), floor("a", 0.05)]


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "x" * 300, "名"])
def test_a_machine_of_any_name_stays_in_the_folder(data: Path, name: str) -> None:
    assert floors.keep(machine(machine_id=name), [floor()]).parent == data
    assert floors.load(machine(machine_id=name)) == [floor()]


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"schema_version": 1', b"[1]"])
def test_a_spoilt_file_is_named(content: bytes) -> None:
    path = floors.keep(machine(), [floor()])
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"expected noise floors of jaxmark.*Move it away"):
        floors.load(machine())


def test_a_newer_file_is_not_guessed_at() -> None:
    path = floors.keep(machine(), [floor()])
    path.write_bytes(path.read_bytes().replace(b'"schema_version":1', b'"schema_version":2'))
    with pytest.raises(StorageError, match="expected noise floors of schema 1, found 2"):
        floors.load(machine())


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match=r"Cannot keep the noise floors.*Set XDG_DATA_HOME"):
        floors.keep(machine(), [floor()])


def test_a_run_takes_along_the_floors_of_its_cases(tmp_path: Path) -> None:
    kept = [floor(case().key, 0.03), floor(case().key, metric="memory"), floor("other")]
    floors.keep(machine(), kept)
    store = Store.create(tmp_path / "results", header(), fold)
    store.append(outcome(case(), process(0)))
    assert store.write().floors == [], "while it runs nothing is said of noise"
    store.finish("complete")
    assert load(store.path).floors == kept[:2]
    assert problems(store.path) == []


def test_floors_that_cannot_be_read_cost_no_run(tmp_path: Path) -> None:
    floors.keep(machine(), [floor(case().key)]).write_bytes(b"spoilt")
    store = Store.create(tmp_path / "results", header(), fold)
    store.append(outcome(case(), process(0)))
    assert store.finish("complete").floors == []


@pytest.mark.parametrize(
    "changes", [{"runs": 1}, {"p95": -0.1}, {"deviation": -0.1}, {"last_run_at": "yesterday"}]
)
def test_floors_in_a_file_are_checked(tmp_path: Path, changes: dict[str, Any]) -> None:
    file = result_file()
    file.floors = [msgspec.structs.replace(floor(), **changes)]
    (tmp_path / "a.json").write_bytes(to_json(file))
    with pytest.raises(ResultFileError, match=r"floors\[0\]"):
        load(tmp_path / "a.json")


def test_where_the_data_is() -> None:
    home = Path.home()
    absolute = os.path.abspath("/var/data/me")
    assert floors.data_folder({"XDG_DATA_HOME": absolute}, "linux") == Path(absolute) / "jaxmark"
    assert floors.data_folder({"XDG_DATA_HOME": "relative"}, "linux") == home / ".local/share/jaxmark"
    assert floors.data_folder({}, "darwin") == home / "Library/Application Support/jaxmark"
