"""Device and host memory of a step, and the peak that follows, by a named method."""

from __future__ import annotations

import ctypes
import ctypes.util
import gc
import re
import resource
import sys
from pathlib import Path
from typing import Any

from suite.measurement.step import Step
from suite.record.schema import HostRss, Memory, StaticMemory

_STEPS = 3


class MemoryProbe:
    """Reads memory at fixed points of one process.

    Args:
        device: the device that the step runs on.
        proc: where Linux shows this process; a folder of fixtures in tests.
        fresh_process: False in a notebook or script, where an allocator's peak may be older
            than the step.
    """

    def __init__(
        self,
        device: Any,
        *,
        proc: Path = Path("/proc/self"),
        platform: str = sys.platform,
        fresh_process: bool = True,
    ) -> None:
        self._device = device
        self._proc = proc
        self._os = platform
        self._fresh = fresh_process
        self._allocator: dict[str, dict[str, int]] = {}
        self._compile_high_water: int | None = None
        self._host_reason: str | None = None

    @property
    def _reads_rss(self) -> bool:
        return bool(self._device.platform == "cpu") and self._os == "linux"

    def _reset_high_water(self) -> bool:
        """Starts the kernel's high-water mark anew; False where it has none, as under gVisor."""
        try:
            (self._proc / "clear_refs").write_text("5")
        except OSError as error:
            self._host_reason = f"this kernel's high-water mark of memory cannot be reset: {error}"
            return False
        return True

    def read_allocator(self, point: str) -> None:
        """Stores the device's raw `memory_stats()` under 'baseline', 'after_compile', ...."""
        stats = self._device.memory_stats()
        if stats:
            self._allocator[point] = {key: int(value) for key, value in stats.items()}

    def before_compile(self) -> None:
        """Starts the high-water mark of compiling."""
        if self._reads_rss:
            self._reset_high_water()

    def after_compile(self) -> None:
        """Reads the high-water mark of compiling."""
        self.read_allocator("after_compile")
        if self._reads_rss and self._host_reason is None:
            self._compile_high_water = _status_bytes(self._proc, "VmHWM")

    def measure(self, step: Step) -> Memory:
        """Runs three synchronised steps and returns what they needed."""
        host = self._host_rss(step) if self._reads_rss else None
        if host is None:
            for _ in range(_STEPS):
                step.run(1)
        self.read_allocator("after_steps")
        return derive(
            self._allocator,
            step.program.static,
            step.program.static_reason,
            host,
            host_reason=self._host_reason,
            platform=self._device.platform,
            os=self._os,
            fresh=self._fresh,
        )

    def _host_rss(self, step: Step) -> HostRss | None:
        gc.collect()
        _trim_heap()
        live = step.live_bytes()
        resident = _status_bytes(self._proc, "VmRSS")
        if not self._reset_high_water():
            return None
        for _ in range(_STEPS):
            step.run(1)
        return HostRss(
            baseline_bytes=resident - live,
            live_array_bytes=live,
            high_water_bytes=_status_bytes(self._proc, "VmHWM"),
            compile_high_water_bytes=self._compile_high_water,
        )


def derive(
    allocator: dict[str, dict[str, int]],
    static: StaticMemory | None,
    static_reason: str | None,
    host: HostRss | None,
    *,
    host_reason: str | None = None,
    platform: str,
    os: str,
    fresh: bool = True,
) -> Memory:
    """Chooses the method that this platform allows and computes the peak by it."""
    memory = Memory(allocator=allocator or None, static=static, host_rss=host)
    if host is not None:
        _derive_host(memory, host)
    elif host_reason is not None:
        # The compiler's total is no stand-in: on a CPU it can leave temporaries out.
        memory.reason = host_reason
    elif platform == "cpu" and os == "darwin":
        _derive_lifetime(memory, fresh)
    elif fresh and "peak_bytes_in_use" in allocator.get("after_steps", {}):
        _derive_allocator(memory, allocator, platform)
    elif static is not None:
        memory.peak_bytes, memory.method = static.total_bytes, "static"
    else:
        statistics = (
            "no memory statistics" if fresh else "no peak that leaves out what else this process holds"
        )
        memory.reason = f"{statistics} on this device, and {static_reason or 'no static analysis'}"
    return memory


def _derive_host(memory: Memory, host: HostRss) -> None:
    grown = host.high_water_bytes - host.baseline_bytes
    if grown > 0:
        memory.peak_bytes, memory.method = grown, "host_rss"
    else:
        memory.reason = "the step holds no arrays and took less than a page of memory"


def _derive_lifetime(memory: Memory, fresh: bool) -> None:
    if fresh:
        memory.peak_bytes, memory.method = _lifetime_rss_bytes(), "host_rss_lifetime"
    else:
        memory.reason = (
            "macOS tells the peak of a process's whole life only, and this one did more than the step"
        )


def _derive_allocator(memory: Memory, allocator: dict[str, dict[str, int]], platform: str) -> None:
    after = allocator["after_steps"]
    peak = after["peak_bytes_in_use"]
    if peak < 0:  # the runtime's own mark for 'unavailable'
        memory.reason = "the device reports its peak as unavailable"
        return
    reserved = after.get("peak_bytes_reserved", -1)
    if platform == "tpu" and reserved >= 0:
        memory.peak_bytes, memory.method = peak + reserved, "allocator+reserved"
    else:
        memory.peak_bytes, memory.method = peak, "allocator"


def _status_bytes(proc: Path, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB$", (proc / "status").read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"{proc / 'status'} has no line {name!r}; is this Linux?")
    return int(found[1]) * 1024


def _trim_heap() -> None:
    """Gives freed heap back to the system, so that it does not hide what the step allocates."""
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    if hasattr(library, "malloc_trim"):  # glibc has it, musl does not
        library.malloc_trim(0)


def _lifetime_rss_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts bytes, Linux kilobytes
