"""Another interpreter as a place to measure in: found, checked, and given this package."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

import suite
from suite.errors import ConfigError
from suite.run.child import HERE, Place, package_home

NEEDED = ("jax", "flax", "optax", "numpy", "msgspec")
LEAST_PYTHON = (3, 11)
_TIMEOUT_S = 60.0
_SHOWN = 200
"""Characters of what a program that is no interpreter said."""

# For any Python 3: what is too old must be able to say so. Nothing is imported, since the wrong
# environment might take long over it or crash; the probe does that later, and reports it.
_QUESTIONS = f"""
import json, sys
sys.path = [entry for entry in sys.path if entry]
from importlib import util
try:
    from importlib import metadata
    jaxlib = metadata.version("jaxlib")
except Exception:
    jaxlib = None
missing = [name for name in {NEEDED!r} if util.find_spec(name) is None]
print(json.dumps({{"version": sys.version_info[:3], "missing": missing, "jaxlib": jaxlib}}))
"""


class _Answers(msgspec.Struct):
    version: tuple[int, int, int]
    missing: list[str]
    jaxlib: str | None


@contextlib.contextmanager
def place(python: str | None, variables: Mapping[str, str], flag: str) -> Iterator[Place]:
    """A place to measure in, for as long as the context lasts.

    Args:
        python: an interpreter, the folder of a virtual environment, or a command; None for this one.
        variables: to set there.
        flag: that named the interpreter, for messages.

    Raises:
        ConfigError: there is no such interpreter, it does not start, it is too old, or a package that
            measuring needs is missing.
    """
    if python is None:
        yield Place(variables=variables, home=HERE.home)
        return
    executable = find(python, flag)
    answers = _ask(executable, variables, flag)
    with _home() as home:
        yield Place(executable, variables, home, answers.jaxlib)


def find(python: str, flag: str) -> str:
    """The interpreter that a path or a command names. A virtual environment's link is not followed.

    Raises:
        ConfigError: there is none.
    """
    path = Path(python).expanduser()
    inside = [path / "bin/python", path / "bin/python3", path / "Scripts/python.exe"]
    for candidate in (path, *inside):
        if candidate.is_file():
            return os.path.abspath(candidate)
    if os.sep not in python and (found := shutil.which(python)) is not None:
        return found
    looked = f"{path} has no bin/python" if path.is_dir() else f"there is no {str(path)!r}"
    raise ConfigError(
        f"{flag}: expected a Python interpreter or the folder of a virtual environment, found {python!r}: "
        f"{looked} (looked from {Path.cwd()})."
    )


def _ask(executable: str, variables: Mapping[str, str], flag: str) -> _Answers:
    """What an interpreter says of itself.

    Raises:
        ConfigError: it does not start, is too old, or lacks a package.
    """
    try:
        done = subprocess.run(
            [executable, "-c", _QUESTIONS],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            env={**os.environ, **variables},
            check=True,
        )
        answers = msgspec.json.decode(done.stdout, type=_Answers)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise ConfigError(
            f"{flag}: expected a Python interpreter; {executable} does not run Python: {_why_not(error)}."
        ) from error
    if answers.version[:2] < LEAST_PYTHON:
        least, found = ".".join(map(str, LEAST_PYTHON)), ".".join(map(str, answers.version))
        raise ConfigError(f"{flag}: expected Python {least} or newer, found {found} in {executable}.")
    if answers.missing:
        names = " ".join(answers.missing)
        raise ConfigError(
            f"{flag}: {executable} lacks {', '.join(answers.missing)}. jaxmark itself need not be there, and "
            f"{', '.join(NEEDED)} must be. Install what is missing with: {executable} -m pip install {names}"
        )
    return answers


def _why_not(error: Exception) -> str:
    """Why an interpreter gave no answers, in a few words: the errors' own texts hold the whole question."""
    match error:
        case subprocess.CalledProcessError():
            said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
            return f"{said[-1]:.{_SHOWN}}" if said else f"exit code {error.returncode}"
        case subprocess.TimeoutExpired():
            return f"no answer within {_TIMEOUT_S:.0f} s"
        case OSError():
            return error.strerror or str(error)
    return "it answered something else"


@contextlib.contextmanager
def _home() -> Iterator[str]:
    """A folder in which another interpreter finds this package and nothing else that is installed here."""
    if (home := package_home()) is not None:
        yield home
        return
    package = Path(suite.__file__).resolve().parent
    with tempfile.TemporaryDirectory(prefix="jaxmark-package-") as folder:
        link = Path(folder) / package.name
        if sys.platform == "win32":  # where links need rights of their own
            shutil.copytree(package, link)
        else:
            link.symlink_to(package)
        yield folder
