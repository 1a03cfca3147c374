"""The computer around the accelerator: processor, memory, load. Linux and macOS, no jax.

Functions read `/proc` and `/sys` on Linux and ask `sysctl` on macOS. What cannot be had is
None, never 0. `root` stands for `/`, so that tests can plant a tree of their own.
"""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from suite.hardware import cgroup
from suite.hardware.command import output
from suite.hardware.files import ROOT, read_int, read_text

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def cpu_model(root: Path = ROOT) -> str:
    """The processor's name; on an ARM Linux without one, its implementer and part numbers."""
    fields = _cpuinfo(root)
    implementer, part = fields.get("CPU implementer"), fields.get("CPU part")
    named = (
        fields.get("model name") or fields.get("Hardware") or read_text(root / "proc/device-tree/model")
    ) or _sysctl("machdep.cpu.brand_string")
    if named:
        return " ".join(named.split())
    if implementer and part:
        return f"{platform.machine()} implementer {implementer} part {part}"
    return platform.processor() or platform.machine() or "unknown"


def cpu_cores_total() -> int | None:
    """Logical processors that the operating system has online."""
    return os.cpu_count()


def cpu_cores_available(root: Path = ROOT) -> int:
    """Logical processors that this process may use: its affinity, cut by a control group's quota."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroup.cpu_quota(root)
    return affinity if quota is None else max(1, min(affinity, math.ceil(quota)))


def last_level_cache_bytes(root: Path = ROOT) -> int | None:
    """Bytes of the largest-numbered cache level that one core shares in."""
    sizes = []
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, size = read_int(index / "level"), read_text(index / "size") or ""
        match = re.fullmatch(r"(\d+)([KMG]?)", size)
        if level is not None and match and read_text(index / "type") != "Instruction":
            sizes.append((level, int(match[1]) * _UNITS[match[2]]))
    if sizes:
        return max(sizes)[1]
    # An Apple chip reports its level 2 per cluster and no level 3.
    for name in ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"):
        value = _sysctl(name)
        if value and value.isdigit() and int(value) > 0:
            return int(value)
    return None


def ram_bytes(root: Path = ROOT) -> int | None:
    """Bytes of memory that the machine has, whatever this process may use of it."""
    total = _meminfo(root, "MemTotal")
    if total is None and (value := _sysctl("hw.memsize")) and value.isdigit():
        return int(value)
    return total


def available_memory_bytes(root: Path = ROOT) -> int | None:
    """Bytes that can be had without swapping, by the kernel's own estimate."""
    available = _meminfo(root, "MemAvailable")
    return _vm_stat_available() if available is None and platform.system() == "Darwin" else available


def memory_limit_bytes(root: Path = ROOT) -> int | None:
    """Bytes that a new process can take now: what is available, and what a control group leaves."""
    known = [n for n in (available_memory_bytes(root), cgroup.memory_headroom(root)) if n is not None]
    return min(known, default=None)


def load_average() -> float | None:
    """Runnable processes over the last minute."""
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None


def cpu_mhz(root: Path = ROOT) -> float | None:
    """Mean clock over the processors now, in MHz; None where the system does not tell."""
    now = [khz / 1000 for khz in _scaling_khz(root)]
    if not now:
        text = read_text(root / "proc/cpuinfo") or ""
        now = [float(mhz) for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)", text, re.MULTILINE)]
    return sum(now) / len(now) if now else None


def os_name(root: Path = ROOT) -> str:
    """System with release, and on Linux the distribution: 'Linux 6.1.0 (Debian GNU/Linux 12)'."""
    name = f"{platform.system()} {platform.release()}"
    release = read_text(root / "etc/os-release") or ""
    if pretty := re.search(r'^PRETTY_NAME="?([^"\n]+)"?', release, re.MULTILINE):
        return f"{name} ({pretty[1]})"
    mac = platform.mac_ver()[0]
    return f"{name} (macOS {mac})" if mac else name


def architecture() -> str:
    """The instruction set: 'x86_64', 'aarch64', 'arm64'."""
    return platform.machine()


def _cpuinfo(root: Path) -> dict[str, str]:
    """First value of each field of /proc/cpuinfo."""
    fields: dict[str, str] = {}
    for line in (read_text(root / "proc/cpuinfo") or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    return fields


def _meminfo(root: Path, field: str) -> int | None:
    match = re.search(rf"^{field}:\s+(\d+) kB", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _scaling_khz(root: Path) -> Iterator[int]:
    for path in sorted((root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq")):
        khz = read_int(path)
        if khz is not None:
            yield khz


def _sysctl(name: str) -> str | None:
    return output(["sysctl", "-n", name]) if platform.system() == "Darwin" else None


def _vm_stat_available() -> int | None:
    """Free and inactive pages on macOS, which are what it gives to a process that asks."""
    text = output(["vm_stat"]) or ""
    size = re.search(r"page size of (\d+) bytes", text)
    pages = re.findall(r"^Pages (?:free|inactive|purgeable):\s+(\d+)\.", text, re.MULTILINE)
    return int(size[1]) * sum(map(int, pages)) if size and pages else None
