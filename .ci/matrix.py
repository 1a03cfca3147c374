"""Runs the tests on other versions: `.venv/bin/python .ci/matrix.py [NAME...]`, by default on all.

Each row gets an environment of its own under `build/matrix/`, kept for the next time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """A Python, the first that is found here of those named, and what is pinned; else the newest."""

    pythons: tuple[str, ...]
    pins: tuple[str, ...] = ()


ROWS = {
    "oldest": Row(("3.12", "3.11"), ("jax==0.7.2", "jaxlib==0.7.2", "flax==0.11.2")),
    "3.11": Row(("3.11",)),
    "3.12": Row(("3.12",)),
    "3.13": Row(("3.13",)),
}


def set_up(name: str, row: Row) -> Path | None:
    """The row's environment; None if no such Python is here or the installation failed."""
    for python in row.pythons:
        folder = ROOT / "build/matrix" / name
        command = [sys.executable, "suite/bootstrap.py", "--dev", "--venv", str(folder), "--python", python]
        command += [argument for pin in row.pins for argument in ("--with", pin)]
        if subprocess.run(command, cwd=ROOT, env={**os.environ, "ACCEL": "cpu"}).returncode == 0:
            return folder
    return None


def run(name: str, arguments: list[str]) -> str:
    """Sets a row up and tests it; returns 'passed', 'failed' or 'not set up'."""
    row = ROWS[name]
    print(
        f"\n== {name}: Python {' or '.join(row.pythons)}, {', '.join(row.pins) or 'newest JAX'} ==",
        flush=True,
    )
    folder = set_up(name, row)
    if folder is None:
        return "not set up"
    show = "import sys, jax, flax; print('Python', sys.version.split()[0], 'jax', jax.__version__)"
    subprocess.run([folder / "bin/python", "-c", show], check=True)
    began = time.monotonic()
    pytest = [folder / "bin/python", "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"]
    done = subprocess.run([*pytest, *arguments], cwd=ROOT)
    print(f"-- {name}: {time.monotonic() - began:.0f} s", flush=True)
    return "passed" if done.returncode == 0 else "failed"


def main() -> int:
    """Runs the rows named and prints how each ended; 1 if any did not pass."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ROWS)}; by default all")
    given, arguments = parser.parse_known_args()
    if unknown := [name for name in given.names if name not in ROWS]:
        parser.error(f"unknown row {unknown[0]!r}; give some of: {', '.join(ROWS)}")
    ended = {name: run(name, arguments) for name in given.names or ROWS}
    print("\n" + "\n".join(f"{name:8} {how}" for name, how in ended.items()))
    return 0 if set(ended.values()) == {"passed"} else 1


if __name__ == "__main__":
    sys.exit(main())
