"""What an environment was made from and with, in a file inside it, so that a second set-up has nothing to do.

The file is written before the work as 'unfinished' and after it as 'complete': an environment
without a complete stamp was interrupted and is made again, a folder without any stamp is the
user's own and is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

NAME = "jaxmark-setup.json"
# Files and folders that come and go with an accelerator or its driver: cheap to look at, unlike nvidia-smi.
_TRACES = (
    *("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg", "/dev/kfd", "/dev/accel0", "/dev/vfio", "/opt/rocm"),
    *("/proc/driver/nvidia/version", "/sys/module/nvidia/version"),
)


@dataclass(frozen=True)
class Stamp:
    """What an environment was made for.

    Attributes:
        state: 'complete' once everything is installed.
        location: the environment's folder: its scripts hold this path, so a moved one is no good.
        project: hash of the packaging file: other dependencies need another installation.
        hardware: fingerprint of the accelerators' traces; another one may want another extra.
        accel: what the user asked for, None for the machine's own.
        extra: what was installed for the hardware.
        dev: whether the tools of the tests are in.
        requirements: further requirements, such as 'jax==0.7.2'.
        python: the interpreter that the environment was asked for, None for the newest.
    """

    state: Literal["unfinished", "complete"]
    location: str
    project: str
    hardware: str
    accel: str | None
    extra: str
    dev: bool
    requirements: tuple[str, ...] = ()
    python: str | None = None

    def serves(self, wanted: Stamp) -> bool:
        """Whether an environment with this stamp does for `wanted`, whose extra may not be chosen yet."""
        same_hardware = (
            wanted.accel == self.extra
            if wanted.accel
            else (self.accel is None and self.hardware == wanted.hardware)
        )
        return (
            self.state == "complete"
            and same_hardware
            and (self.dev or not wanted.dev)
            and (self.location, self.project, self.requirements, self.python)
            == (wanted.location, wanted.project, wanted.requirements, wanted.python)
        )


def read(environment: Path) -> Stamp | None:
    """The environment's stamp; None without one, or with one of another version of this file."""
    try:
        fields = json.loads((environment / NAME).read_text())
        return Stamp(**{**fields, "requirements": tuple(fields["requirements"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write(environment: Path, stamp: Stamp) -> None:
    """Stores the stamp whole or not at all."""
    temporary = environment / f"{NAME}.new"
    temporary.write_text(json.dumps(asdict(stamp), indent=2) + "\n")
    os.replace(temporary, environment / NAME)


def is_ours(environment: Path) -> bool:
    """Whether set-up made this folder, and so may remove it."""
    return (environment / NAME).is_file()


def project_hash(packaging: Path) -> str:
    """Hash of what the packaging file says about dependencies and contents, its tools' settings aside."""
    tables = tomllib.loads(packaging.read_text())
    installed = {name: tables.get(name) for name in ("build-system", "project")}
    return hashlib.sha256(json.dumps(installed, sort_keys=True).encode()).hexdigest()[:16]


def hardware_fingerprint(root: Path = Path("/")) -> str:
    """Names of the accelerators' traces that are here, with the NVIDIA driver's version."""
    traces = [trace for trace in _TRACES if (root / trace.lstrip("/")).exists()]
    version = root / "sys/module/nvidia/version"
    driver = version.read_text().strip() if version.is_file() else ""
    return " ".join((*traces, driver)).strip() or "none"
