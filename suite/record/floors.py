"""Noise floors: how much whole runs of one case differ on one machine, kept between commands.

    <data folder>/noise/<machine id>-<devices>.json

The data folder is the user's, not the cache: a floor takes hours to measure, and nothing can
make it anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from suite.errors import StorageError
from suite.record.atomic import replace_file
from suite.record.base import Positive, Record, to_json
from suite.record.environment import Machine

SCHEMA_VERSION = 1

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Floor(Record):
    """Of one case and metric.

    Attributes:
        key: of the case.
        metric: 'step_time', 'latency', 'tail', 'memory' or 'compile'.
        runs: that it stands on.
        p95: 95th percentile of |log ratio| between two of them.
        deviation: standard deviation of the runs' logarithms.
        first_run_at: start of the earliest of them.
        last_run_at: start of the latest.
    """

    key: str
    metric: str
    runs: Positive
    p95: float
    deviation: float
    first_run_at: str
    last_run_at: str


class FloorFile(Record):
    """All floors of the same devices of one machine."""

    schema_version: int
    machine: Machine
    floors: list[Floor]


def data_folder(variables: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for what the user would miss; it need not exist yet.

    The XDG rules, where a relative XDG_DATA_HOME counts as not set; ~/Library/Application Support
    on macOS.
    """
    base = Path(variables.get("XDG_DATA_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ("Library/Application Support" if platform == "darwin" else ".local/share")
    return base / "jaxmark"


def path_for(machine: Machine) -> Path:
    """Where the floors of a machine's devices are kept."""
    devices = f"{machine.platform}|{machine.device_kind}|{machine.device_count}|{machine.cpu_model}"
    name = machine.machine_id
    if not _NAME.fullmatch(name):  # a file from elsewhere may call its machine anything
        name = _hash(name)
    return data_folder() / "noise" / f"{name}-{_hash(devices)}.json"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def load(machine: Machine) -> list[Floor]:
    """The floors known for a machine; none if nobody measured them.

    Raises:
        StorageError: they are there and cannot be read.
    """
    path = path_for(machine)
    return read(path).floors if path.exists() else []


def known() -> list[FloorFile]:
    """The floors of every machine.

    Raises:
        StorageError: one of the files cannot be read.
    """
    return [read(path) for path in sorted((data_folder() / "noise").glob("*.json"))]


def read(path: Path) -> FloorFile:
    """Reads a file of floors.

    Raises:
        StorageError: it cannot be read, or is not one of this version.
    """
    again = "Move it away, and run `jaxmark noise` on the result files again."
    try:
        file = msgspec.json.decode(path.read_bytes(), type=FloorFile)
    except OSError as error:
        raise StorageError(f"Cannot read the noise floors in {path}: {error.strerror or error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: expected noise floors of jaxmark, found {error}. {again}") from error
    if file.schema_version != SCHEMA_VERSION:
        raise StorageError(
            f"{path}: expected noise floors of schema {SCHEMA_VERSION}, found {file.schema_version}. {again}"
        )
    return file


def keep(machine: Machine, floors: list[Floor]) -> Path:
    """Adds floors to those known for a machine; a case's newer floors replace its older ones.

    Returns:
        The file that they are kept in.

    Raises:
        StorageError: they cannot be kept, or those already there cannot be read.
    """
    path = path_for(machine)
    new = {floor.key for floor in floors}
    merged = [floor for floor in load(machine) if floor.key not in new] + floors
    file = FloorFile(schema_version=SCHEMA_VERSION, machine=machine, floors=merged)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, to_json(file))
    except OSError as error:
        raise StorageError(
            f"Cannot keep the noise floors in {path}: {error.strerror or error}. "
            "Set XDG_DATA_HOME to a folder that can be written."
        ) from error
    return path
