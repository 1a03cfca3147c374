"""Whether processor or device slowed themselves down, and who else is on the device. Standard library only.

The Linux kernel counts how often each core was throttled for heat (Intel). Newer
drivers of NVIDIA count for how long the clock was held down for heat or by the power supply; all
list the programs on a GPU. `nvidia-smi` is found on PATH; what it does not know reads as None.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from suite.hardware.command import output
from suite.hardware.files import ROOT, read_int

_COUNTERS = ("sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown")
_FORMAT = ("--format=csv,noheader,nounits",)


class Throttling(NamedTuple):
    """Running totals, or what was added to them; None where nobody counts.

    Attributes:
        events: of the processor's cores.
        device_ms: of the device, in milliseconds.
    """

    events: int | None
    device_ms: int | None

    def since(self, earlier: Throttling) -> Throttling:
        """What was added since `earlier`; a counter that began anew has added nothing that is known."""
        events, device_ms = (_added(*pair) for pair in zip(earlier, self, strict=True))
        return Throttling(events, device_ms)


def read(platform: str, root: Path = ROOT) -> Throttling:
    """The totals now; those of the device on 'cuda' only."""
    return Throttling(cpu_events(root), nvidia_ms() if platform == "cuda" else None)


def cpu_events(root: Path = ROOT) -> int | None:
    """Times that cores were throttled for heat since the machine started, added up over the cores."""
    counts = [count for path in _counters(root) if (count := read_int(path)) is not None]
    return sum(counts) if counts else None


def nvidia_ms(variables: Mapping[str, str] = os.environ) -> int | None:
    """Milliseconds for which the first visible GPU was slowed down since its driver started."""
    query = ",".join(f"clocks_event_reasons_counters.{name}" for name in _COUNTERS)
    text = output(["nvidia-smi", *_first_gpu(variables), f"--query-gpu={query}", *_FORMAT], timeout_s=10.0)
    numbers = re.findall(r"\d+", (text or "").partition("\n")[0])  # microseconds, with or without the unit
    return sum(map(int, numbers)) // 1000 if numbers else None


def device_processes(platform: str, variables: Mapping[str, str] = os.environ) -> int | None:
    """Programs that compute on the first visible GPU now; None where that cannot be told.

    Inside a container the driver may hide those of others: 0 is what it shows, and no proof.
    """
    if platform != "cuda":
        return None
    command = ["nvidia-smi", *_first_gpu(variables), "--query-compute-apps=pid", *_FORMAT]
    # Says nothing at all if there is none, so that one more question has to tell it from a failure.
    text = output(command, timeout_s=10.0)
    if text is None:
        return None if output(["nvidia-smi", "-L"], timeout_s=10.0) is None else 0
    return sum(line.strip().isdigit() for line in text.splitlines())


def _first_gpu(variables: Mapping[str, str]) -> Sequence[str]:
    """The flags that choose the GPU that JAX lists first."""
    first = variables.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0].strip()
    return ("-i", first or "0")


def _counters(root: Path) -> Iterator[Path]:
    yield from sorted(
        (root / "sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    )


def _added(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before
