"""The id of a machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from suite.errors import ConfigError
from suite.record.machine import UNSAVED_PREFIX, cache_folder, machine_id


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("JAXMARK_MACHINE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "jaxmark"


def test_the_first_use_makes_an_id_and_later_ones_keep_it(cache: Path) -> None:
    first = machine_id()
    assert first.startswith("m-")
    assert len(first) == 18
    assert machine_id() == first
    assert [entry.name for entry in cache.iterdir()] == ["machine-id"]
    assert stat.S_ISREG((cache / "machine-id").stat().st_mode)


def test_another_cache_is_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = machine_id()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert machine_id() != first


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"two words\n", b"../../etc\n"])
def test_a_spoilt_file_is_made_anew(cache: Path, content: bytes) -> None:
    cache.mkdir()
    (cache / "machine-id").write_bytes(content)
    first = machine_id()
    assert first.startswith("m-")
    assert machine_id() == first


def test_a_name_comes_before_the_variable_and_that_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAXMARK_MACHINE", "from-variable")
    assert machine_id() == "from-variable"
    assert machine_id("ci-runner_1.a") == "ci-runner_1.a"
    monkeypatch.setenv("JAXMARK_MACHINE", "")
    assert machine_id().startswith("m-")


@pytest.mark.parametrize("name", ["two words", "-x", "a" * 65, "a/b", "é", "a\n"])
def test_a_name_that_cannot_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"^--machine: expected"):
        machine_id(name)
    monkeypatch.setenv("JAXMARK_MACHINE", name)
    with pytest.raises(ConfigError, match=r"^JAXMARK_MACHINE: expected"):
        machine_id()


def test_an_id_that_cannot_be_kept_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert machine_id().startswith(UNSAVED_PREFIX)
    assert machine_id() != machine_id()


def test_where_the_cache_is() -> None:
    home = Path.home()
    absolute = os.path.abspath("/var/cache/me")
    assert cache_folder({"XDG_CACHE_HOME": absolute}, "linux") == Path(absolute) / "jaxmark"
    assert cache_folder({"XDG_CACHE_HOME": "relative"}, "linux") == home / ".cache/jaxmark"
    assert cache_folder({}, "linux") == home / ".cache/jaxmark"
    assert cache_folder({}, "darwin") == home / "Library/Caches/jaxmark"
