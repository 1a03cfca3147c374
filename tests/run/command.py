"""The real command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from suite.record.schema import ResultFile

REPOSITORY = Path(__file__).resolve().parents[2]
OWN = Path(__file__).with_name("own_workloads")
# Enough to go through the whole protocol, and no more.
BRIEF = [f"--set={name}_seconds=0.02" for name in ("warmup", "block", "latency")]


def start(folder: Path, *arguments: str, **settings: Any) -> subprocess.Popen[str]:
    """Starts `jaxmark` in `folder`."""
    variables = dict(os.environ) | {"PYTHONPATH": str(REPOSITORY), "COLUMNS": "200"}
    return subprocess.Popen(
        [sys.executable, "-m", "suite", *arguments],
        cwd=folder,
        env=variables | settings.pop("variables", {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def jaxmark(folder: Path, *arguments: str, **settings: Any) -> tuple[int, str, str]:
    """Runs `jaxmark` in `folder`; returns exit code, standard output and standard error."""
    with start(folder, *arguments, **settings) as process:
        out, err = process.communicate(timeout=240)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def result_paths(folder: Path) -> list[Path]:
    """Every result file below a results folder."""
    return sorted(folder.glob("*/*.json"))


def only_result(folder: Path) -> tuple[Path, ResultFile]:
    """The one result file below a results folder, strictly decoded."""
    (path,) = result_paths(folder)
    return path, msgspec.json.decode(path.read_bytes(), type=ResultFile)


def journal_lines(folder: Path) -> int:
    """Whole lines of the one journal below a results folder; 0 while there is none."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*/*.journal"))


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120.0) -> None:
    """Waits until `what` holds; fails if the process ends first or it takes too long."""
    deadline = time.monotonic() + seconds
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def descendants(pid: int) -> Iterator[int]:
    """Every process below `pid` (Linux)."""
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, tasks.read_text().split()):
            yield child
            yield from descendants(child)


def is_running(pid: int) -> bool:
    """Whether a process is there and is no zombie (Linux)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
