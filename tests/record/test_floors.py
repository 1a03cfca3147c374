"""Where noise floors are kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from suite.errors import StorageError
from suite.record import floors
from suite.record.floors import Floor
from tests.builders import machine


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


def test_where_the_data_is() -> None:
    home = Path.home()
    absolute = os.path.abspath("/var/data/me")
    assert floors.data_folder({"XDG_DATA_HOME": absolute}, "linux") == Path(absolute) / "jaxmark"
    assert floors.data_folder({"XDG_DATA_HOME": "relative"}, "linux") == home / ".local/share/jaxmark"
    assert floors.data_folder({}, "darwin") == home / "Library/Application Support/jaxmark"
