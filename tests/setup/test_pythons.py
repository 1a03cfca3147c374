"""How set-up finds a Python: by running what is there, shims that fail and wrong builds included."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from suite.bootstrap import SetupError, candidates, examine, find_python
from tests.setup.conftest import REPOSITORY, Box, script

SHIM = '#!/bin/sh\necho "pyenv: python3.13: command not found" >&2\nexit 127\n'


def environ(box: Box) -> dict[str, str]:
    return {"PATH": str(box.folder / "bin"), "HOME": str(box.folder)}


def only_here(box: Box) -> list[str]:
    """Candidates of the box, without those that a system-wide folder of this machine adds."""
    return [path for path in candidates(environ(box)) if path.startswith(str(box.folder))]


def test_any_python_3_can_read_the_file_that_looks_for_a_newer_one() -> None:
    ast.parse((REPOSITORY / "suite/bootstrap.py").read_text(), feature_version=(3, 6))


def test_the_newest_tested_version_wins(box: Box) -> None:
    box.python("python3", "3.11.9")
    box.python("python3.12", "3.12.4")
    newest = box.python("python3.13", "3.13.1")
    box.python("python3.15", "3.15.0")
    assert find_python(environ(box)).path == str(newest)


def test_a_newer_version_than_tested_is_better_than_none(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.bootstrap._ELSEWHERE", ())
    box.python("python3.15", "3.15.0")
    box.python("python3.14", "3.14.2")
    assert find_python(environ(box)).version == (3, 14, 2)


def test_a_shim_that_fails_is_passed_over(box: Box) -> None:
    script(box.folder / "bin/python3.13", SHIM)
    works = box.python("python3", "3.13.9")
    assert "command not found" in (examine(str(box.folder / "bin/python3.13")).fault or "")
    assert find_python(environ(box)).path == str(works)


def test_a_shim_that_works_gives_the_interpreter_behind_it(box: Box) -> None:
    shim = script(box.folder / "bin/python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    found = examine(str(shim))
    assert found.fault is None
    assert Path(found.path).resolve() == Path(sys.executable).resolve()
    assert found.version == sys.version_info[:3]


def test_pythons_that_are_not_on_path_are_found_where_managers_put_them(box: Box) -> None:
    box.python("python3", "3.13.7", folder=".pyenv/versions/3.13.7/bin")
    box.python("python3.13", "3.13.8", folder=".local/share/uv/python/cpython-3.13.8/bin")
    assert len(only_here(box)) == 2
    assert find_python(environ(box), "3.13").version >= (3, 13, 8)


def test_names_that_tell_of_an_old_version_are_not_even_run(box: Box) -> None:
    for name in ("python3.6", "python3.10", "python2", "python3-config", "python3.12-config"):
        box.python(name, "3.12.0")
    assert only_here(box) == []


def test_a_python_that_hangs_is_given_up(box: Box) -> None:
    path = script(box.folder / "bin/python3", "#!/bin/sh\nexec sleep 30\n")
    assert "does not run" in (examine(str(path), timeout_s=0.5).fault or "")


def test_a_python_without_venv_is_named_with_its_reason(box: Box) -> None:
    complaint = "ModuleNotFoundError: No module named 'ensurepip'"
    text = f'#!/bin/sh\necho /x\necho 3.12.3\necho "{complaint}" >&2\nexit 1\n'
    python = examine(str(script(box.folder / "bin/python3", text)))
    assert python.version == (3, 12, 3)
    assert python.fault == complaint


def test_none_that_fits_says_what_was_found_and_what_to_install(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suite.bootstrap._ELSEWHERE", ())
    script(box.folder / "bin/python3.13", SHIM)
    old = box.python("python3", "3.9.2")
    with pytest.raises(SetupError) as caught:
        find_python(environ(box))
    said = str(caught.value)
    assert "jaxmark needs Python 3.11 or newer, and found none that works." in said
    assert f"{old} (3.9.2): too old" in said
    assert "python3.13: does not run: pyenv: python3.13: command not found" in said
    assert "uv/install.sh" in said
    assert "apt install" in said


def test_uv_is_asked_when_nothing_else_is_there(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.bootstrap._ELSEWHERE", ())
    of_uv = box.python("python", "3.13.5", folder="managed")
    script(box.folder / "bin/uv", f'#!/bin/sh\n[ "$2" = find ] && echo "{of_uv}"\nexit 0\n')
    assert find_python(environ(box)).path == str(of_uv)


def test_a_version_asked_for_is_the_version_taken(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.bootstrap._ELSEWHERE", ())
    box.python("python3.12", "3.12.4")
    box.python("python3.13", "3.13.1")
    assert find_python(environ(box), "3.12").version == (3, 12, 4)
    with pytest.raises(SetupError, match=r"jaxmark needs Python 3\.11, and found none"):
        find_python(environ(box), "3.11")


def test_a_path_asked_for_must_work(box: Box) -> None:
    old = box.python("python3", "3.8.1")
    with pytest.raises(SetupError, match=r"\(3\.8\.1\) cannot be used: too old"):
        find_python(environ(box), str(old))
