"""Makes `.venv` with jaxmark and the JAX for this machine's hardware: `python3 suite/bootstrap.py`.

Finds the newest Python that JAX supports, makes the environment with it, chooses JAX's extra by
the hardware (ACCEL=cpu|cuda12|cuda13|rocm|tpu overrides it) and installs this checkout. Called
again, it only compares a stamp. `suite/setup/` does all that; this file finds the Python to do it
with, so any Python 3 must be able to read it, and only the standard library is there.
"""

import os
import re
import subprocess
import sys
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST = (3, 11)
# A Python newer than this may have no jaxlib yet, so it is taken only where nothing else is found.
NEWEST_TESTED = (3, 13)
# Fit is CPython with its lock and with the modules that Debian packs apart.
_CHECK = """
import sys, sysconfig
print(getattr(sys, "_base_executable", None) or sys.executable or "")
print("%d.%d.%d" % sys.version_info[:3])
if sys.version_info >= (3, 11):
    import venv, ensurepip
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("not the standard CPython build")
"""
_ELSEWHERE = (
    "{pyenv}/versions/*/bin",
    "~/.local/share/uv/python/*/bin",
    "~/.local/share/mise/installs/python/*/bin",
    "~/.asdf/installs/python/*/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/Library/Frameworks/Python.framework/Versions/*/bin",
)

Version = Tuple[int, ...]


class Python(NamedTuple):
    """An interpreter that was run: `fault` says why it cannot be used, None if it can."""

    path: str
    version: Version
    fault: Optional[str]


class SetupError(Exception):
    """Set-up cannot go on; the message says what was found and what to do."""


def candidates(environ: Dict[str, str]) -> Iterator[str]:
    """Paths that may be a Python 3.11 or newer: first those on PATH, then where version managers put them."""
    import glob

    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    home = environ.get("HOME") or os.path.expanduser("~")
    pyenv = environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    for pattern in _ELSEWHERE:
        folders += sorted(glob.glob(pattern.format(pyenv=pyenv).replace("~", home)))
    seen = set()
    for folder in folders:
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) and os.access(folder, os.R_OK) else []
        for name in names:
            match = re.match(r"python(?:3(?:\.(\d+))?)?$", name)
            path = os.path.join(folder, name)
            if not match or (match.group(1) and int(match.group(1)) < OLDEST[1]):
                continue
            if path not in seen and os.path.isfile(path) and os.access(path, os.X_OK):
                seen.add(path)
                yield path


def examine(path: str, timeout_s: float = 30) -> Python:
    """Runs an interpreter to learn what it is: a version manager's shim may be there and fail."""
    try:
        done = subprocess.Popen(
            [path, "-I", "-c", _CHECK],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        out, err = done.communicate(timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Python(path, (), "does not run: %s" % error)
    lines = out.decode("utf-8", "replace").split("\n")
    complaint = (err.decode("utf-8", "replace").strip().split("\n") or [""])[-1]
    if len(lines) < 2 or not re.match(r"\d+\.\d+\.\d+$", lines[1]):
        return Python(path, (), "does not run: %s" % (complaint or "exit code %d" % done.returncode))
    version = tuple(int(part) for part in lines[1].split("."))
    if version[:2] < OLDEST:
        return Python(path, version, "too old")
    if done.returncode != 0:
        return Python(path, version, complaint)
    # A shim answers with the interpreter behind it, a virtual environment with the one it was made from:
    # those are still there when the shim's setting changes or the environment is removed.
    return Python(lines[0] or path, version, None)


def rank(python: Python) -> Tuple[bool, Version]:
    """Orders interpreters: tested versions above later ones, and among the tested the newest on top."""
    tested = python.version[:2] <= NEWEST_TESTED
    return tested, python.version if tested else tuple(-part for part in python.version)


def find_python(environ: Dict[str, str], wanted: Optional[str] = None) -> Python:
    """The newest interpreter that fits, or the one that `wanted` names by version ('3.12') or path.

    Raises:
        SetupError: none fits; says what was found, why it does not do and what to install.
    """
    if wanted and not re.match(r"3\.\d+$", wanted):
        python = examine(wanted)
        if python.fault:
            raise SetupError("%s cannot be used: %s" % (describe(python), python.fault))
        return python
    examined = [examine(path) for path in candidates(environ)]
    fit = [p for p in examined if not p.fault and (not wanted or "%d.%d" % p.version[:2] == wanted)]
    if fit:
        return max(fit, key=rank)
    python_of_uv = find_with_uv(environ, wanted)
    if python_of_uv:
        return python_of_uv
    raise SetupError(advice(examined, wanted))


def find_with_uv(environ: Dict[str, str], wanted: Optional[str]) -> Optional[Python]:
    """What uv has or can fetch; None without uv."""
    import shutil

    uv = shutil.which("uv", path=environ.get("PATH", ""))
    if not uv:
        return None
    version = wanted or "%d.%d" % NEWEST_TESTED
    say("asking uv for Python %s; it downloads one if it has none" % version)
    subprocess.call([uv, "python", "install", version], stdin=subprocess.DEVNULL)
    find = subprocess.Popen([uv, "python", "find", version], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    path = find.communicate()[0].decode("utf-8", "replace").strip()
    python = examine(path) if path else Python(uv, (), "found none")
    return None if python.fault else python


def describe(python: Python) -> str:
    """'/usr/bin/python3 (3.9.2)'."""
    return "%s (%s)" % (python.path, ".".join(map(str, python.version))) if python.version else python.path


def advice(examined: List[Python], wanted: Optional[str]) -> str:
    """What was found and what to install."""
    need = "Python %s" % wanted if wanted else "Python %d.%d or newer" % OLDEST
    found = ["  %s: %s" % (describe(p), p.fault or "not the version asked for") for p in examined]
    version = wanted or "%d.%d" % NEWEST_TESTED
    return "\n".join(
        ["jaxmark needs %s, and found none that works." % need]
        + (["Found:"] + found if found else [])
        + [
            "Install one, then run the same command again:",
            "  any system:     curl -LsSf https://astral.sh/uv/install.sh | sh",
            "  Debian, Ubuntu: sudo apt install python3 python3-venv  (Debian 12, Ubuntu 24.04 or newer)",
            "  Fedora, RHEL:   sudo dnf install python%s" % version,
            "  macOS:          brew install python@%s" % version,
        ]
    )


def say(text: str) -> None:
    """Prints one line of progress, at once."""
    sys.stderr.write("jaxmark: %s\n" % text)
    sys.stderr.flush()


def main(argv: List[str]) -> int:
    """Runs the set-up, in a newer Python if this one is too old; returns the exit code."""
    if sys.version_info < OLDEST:
        # The environment made earlier is the quickest to hand over to.
        made = examine(os.path.join(ROOT, ".venv", "bin", "python"))
        try:
            python = find_python(dict(os.environ)) if made.fault else made
        except SetupError as error:
            say(str(error))
            return 2
        os.execv(python.path, [python.path, os.path.abspath(__file__)] + argv)
    sys.path[0] = ROOT
    from suite.setup.command import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
