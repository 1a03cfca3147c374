"""Other interpreters: which are taken, and what is said of those that are not."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from suite.errors import ConfigError, NotComparableError
from suite.run import child, interpreter
from suite.run.matching import same_cases, same_devices
from suite.spec.config import from_fields
from tests.builders import case, environment


def script(path: Path, body: str) -> Path:
    """A program that stands for an interpreter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def answering(path: Path, answer: str) -> Path:
    return script(path, f"echo '{answer}'")


def refused(python: Path | str) -> str:
    with pytest.raises(ConfigError) as error, interpreter.place(str(python), {}, "--new-python"):
        pass
    assert str(error.value).startswith("--new-python: ")
    return str(error.value)


def test_this_interpreter_is_taken_and_finds_this_package() -> None:
    with interpreter.place(sys.executable, {"JAXMARK_TEST": "1"}, "--new-python") as place:
        command = [
            place.python,
            "-P",
            "-c",
            "import os, suite; print(suite.__file__, os.environ['JAXMARK_TEST'])",
        ]
        said = subprocess.run(command, env=place.environment(), capture_output=True, text=True, check=True)
        assert place.command("suite.run.worker")[0] == sys.executable
        assert place.jaxlib is not None
    file, value = said.stdout.split()
    assert Path(file).resolve() == Path(interpreter.suite.__file__).resolve()
    assert value == "1"


def test_an_installed_package_brings_nothing_else_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "package_home", lambda: None)
    with interpreter.place(sys.executable, {}, "--new-python") as place:
        assert place.home is not None
        assert os.listdir(place.home) == ["suite"]
        assert (Path(place.home) / "suite/run/worker.py").is_file()


def test_without_one_it_is_jaxmarks_own() -> None:
    with interpreter.place(None, {"A": "b"}, "--new-python") as place:
        assert place == child.Place(variables={"A": "b"}, home=child.HERE.home)
        assert place.environment()["A"] == "b"


def test_a_virtual_environment_stands_for_its_interpreter(tmp_path: Path) -> None:
    python = script(tmp_path / "venv/bin/python", "exit 0")
    assert interpreter.find(str(tmp_path / "venv"), "--x") == str(python)
    # Its link is what makes it one: the interpreter that it points to is another environment.
    link = tmp_path / "link/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    assert interpreter.find(str(tmp_path / "link"), "--x") == str(link)


def test_what_is_missing_is_named_with_a_way_to_install_it(tmp_path: Path) -> None:
    answer = '{"version": [3, 12, 1], "missing": ["flax", "msgspec"], "jaxlib": "0.12.0"}'
    said = refused(answering(tmp_path / "python", answer))
    assert "lacks flax, msgspec" in said
    assert said.endswith(f"{tmp_path}/python -m pip install flax msgspec")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            '{"version": [3, 9, 2], "missing": [], "jaxlib": null}',
            "expected Python 3.11 or newer, found 3.9.2",
        ),
        ("hello", "does not run Python: it answered something else"),
        ("[1]", "it answered something else"),
    ],
)
def test_what_is_no_such_interpreter(tmp_path: Path, answer: str, expected: str) -> None:
    assert expected in refused(answering(tmp_path / "python", answer))


def test_what_does_not_start(tmp_path: Path) -> None:
    assert "does not run Python: broken" in refused(script(tmp_path / "python", "echo broken >&2; exit 3"))
    assert refused(script(tmp_path / "silent", "exit 3")).endswith("does not run Python: exit code 3.")
    assert len(refused(script(tmp_path / "wordy", "echo \"$0 $@\" | tr '\\n' ' ' >&2; exit 3"))) < 400
    (tmp_path / "data").write_text("")
    assert refused(tmp_path / "data").endswith("does not run Python: Permission denied.")
    assert "there is no" in refused(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    assert "has no bin/python" in refused(tmp_path / "empty")
    assert "found 'no-such-python'" in refused("no-such-python")


def test_what_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "_TIMEOUT_S", 0.2)
    assert refused(script(tmp_path / "python", "exec sleep 30")).endswith("no answer within 0 s.")


def test_the_questions_are_answered_without_importing_anything() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", interpreter._QUESTIONS],
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"missing": []' in done.stdout
    assert "| jax\n" not in done.stderr
    assert "numpy" not in done.stderr


def test_other_devices_do_not_compare() -> None:
    base, new = environment(), environment(machine_id="unsaved-1")
    same_devices(base, new)
    assert new.machine.machine_id == base.machine.machine_id
    with pytest.raises(NotComparableError, match="device_count 1 against 2") as error:
        same_devices(base, environment(device_count=2))
    assert error.value.exit_code == 3


def test_another_version_does_not_compare(tmp_path: Path) -> None:
    for name in ("old.py", "new.py"):
        (tmp_path / name).write_text("")
    base, new = (from_fields({"workload": f"{tmp_path / name}:make"}) for name in ("old.py", "new.py"))
    matched = same_cases(base, new, revisions=True)
    assert [of.key for of in matched.cases] == [of.key for of in new.cases]
    assert list(matched.sources) == [new.cases[0].key]
    assert matched.sources[new.cases[0].key].endswith("old.py:make")
    new.cases[0] = case(
        "new:make", version=2, preset="own", mode="own", precision="own", batch=None, layers="own"
    )
    with pytest.raises(NotComparableError, match="version 1 against 2"):
        same_cases(base, new, revisions=True)
    with pytest.raises(NotComparableError, match="workload old:make against new:make"):
        same_cases(base, from_fields({"workload": f"{tmp_path / 'new.py'}:make"}), revisions=False)
