"""Which accelerators the machine has, whatever JAX makes of them. Standard library only.

Device nodes, `/proc`, the PCI bus and `nvidia-smi` are asked, never JAX: the answer is needed
before JAX is installed, and to notice hardware that JAX does not use. `root` stands for `/`, so
that tests can plant a tree; `nvidia-smi` is found on PATH.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from suite.hardware.command import output
from suite.hardware.files import ROOT, read_text

_NVIDIA, _AMD, _GOOGLE = "0x10de", "0x1002", "0x1ae0"
# Google's PCI vendor id is also that of its network cards: only these devices are TPUs (the list
# in jax/_src/hardware_utils.py).
_TPU_DEVICES = {
    "0x0027": "TPU v2 or v3",
    "0x0056": "TPU",
    "0x005e": "TPU v4",
    "0x0062": "TPU v5p",
    "0x0063": "TPU v5e",
    "0x006f": "TPU v6e",
    "0x0076": "TPU7x",
    "0x0083": "TPU8i",
    "0x007c": "TPU8t",
}
_DISPLAY_OR_ACCELERATOR = ("0x03", "0x12")
MIB = 1 << 20


@dataclass(frozen=True)
class NvidiaGpu:
    """One GPU as its driver names it; None where the driver does not say.

    Attributes:
        compute_capability: '7.5', '9.0'.
        driver: '580.82.07'.
        memory_bytes: the whole of it, in bytes.
    """

    name: str
    compute_capability: str | None
    driver: str | None
    memory_bytes: int | None


@dataclass(frozen=True)
class Presence:
    """An accelerator that the machine has.

    Attributes:
        kind: 'cuda', 'rocm' or 'tpu', as JAX names the platform.
        name: what to call it in a sentence.
        evidence: where it shows, for a reader who doubts it.
        driver_loaded: False if the hardware is there but nothing can open it.
    """

    kind: str
    name: str
    evidence: str
    driver_loaded: bool = True


def nvidia_gpus() -> list[NvidiaGpu]:
    """The GPUs that `nvidia-smi` on PATH lists; empty without one or without a driver."""
    fields = "name,driver_version,memory.total"
    # Drivers before 495 do not know compute_cap and refuse the whole query.
    for query in (f"{fields},compute_cap", fields):
        text = output(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"])
        if text:
            return [_gpu(line) for line in text.splitlines() if line.count(",") >= 2]
    return []


def _gpu(line: str) -> NvidiaGpu:
    name, driver, memory, *rest = (field.strip() for field in line.split(","))
    capability = rest[0] if rest and re.fullmatch(r"\d+\.\d+", rest[0]) else None
    return NvidiaGpu(name, capability, driver or None, int(memory) * MIB if memory.isdigit() else None)


def nvidia_driver(root: Path = ROOT) -> str | None:
    """Version of the loaded NVIDIA kernel driver, such as '535.104.05'; None without one."""
    version = read_text(root / "sys/module/nvidia/version")
    if not version:
        text = read_text(root / "proc/driver/nvidia/version") or ""
        match = re.search(r"Kernel Module\b.*?\s(\d+(?:\.\d+)+)\s", text)
        version = match[1] if match else None
    return version or None


def amd_driver(root: Path = ROOT) -> str | None:
    """Version of the loaded amdgpu driver where it has its own; None for the kernel's."""
    return read_text(root / "sys/module/amdgpu/version") or None


def amd_memory_bytes(root: Path = ROOT) -> int | None:
    """Memory of the first AMD GPU that has a loaded driver, in bytes."""
    for path in sorted((root / "sys/class/drm").glob("card*/device/mem_info_vram_total")):
        text = read_text(path) or ""
        if text.isdigit() and read_text(path.parent / "vendor") == _AMD:
            return int(text)
    return None


def present(root: Path = ROOT) -> list[Presence]:
    """Accelerators that the machine shows, each kind once, TPUs first as JAX prefers them."""
    found = (_tpu(root), _nvidia(root), _amd(root))
    return [presence for presence in found if presence is not None]


def _tpu(root: Path) -> Presence | None:
    name = next((_TPU_DEVICES[device] for device in _pci(root, _GOOGLE) if device in _TPU_DEVICES), None)
    node = _first(root, "dev/accel[0-9]*") or _first(root, "dev/vfio/[0-9]*")
    if name is None:
        return None
    if node is None:
        return Presence("tpu", name, "/sys/bus/pci", driver_loaded=False)
    return Presence("tpu", name, node)


def _nvidia(root: Path) -> Presence | None:
    nodes = ("dev/nvidia[0-9]*", "dev/nvidiactl", "proc/driver/nvidia/version")
    node = next((found for pattern in nodes if (found := _first(root, pattern))), None)
    if gpus := nvidia_gpus():
        return Presence("cuda", gpus[0].name, node or "nvidia-smi")
    if node:
        return Presence("cuda", "NVIDIA GPU", node)
    if any(True for _ in _pci(root, _NVIDIA, _DISPLAY_OR_ACCELERATOR)):
        return Presence("cuda", "NVIDIA GPU", "/sys/bus/pci", driver_loaded=False)
    return None


def _amd(root: Path) -> Presence | None:
    # A ROCm driver without a GPU of its own lists only CPU nodes, with no SIMD units.
    for node in sorted((root / "sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        if re.search(r"^simd_count [1-9]", read_text(node) or "", re.MULTILINE):
            kfd = _first(root, "dev/kfd")
            return Presence("rocm", "AMD GPU", kfd or "/sys/class/kfd", driver_loaded=kfd is not None)
    return None


def _pci(root: Path, vendor: str, classes: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Device ids on the PCI bus of a vendor, kept to classes that start so."""
    for folder in sorted((root / "sys/bus/pci/devices").glob("*")):
        if read_text(folder / "vendor") == vendor and (read_text(folder / "class") or "").startswith(classes):
            yield read_text(folder / "device") or ""


def _first(root: Path, pattern: str) -> str | None:
    """The first path that matches, as it is called on the machine itself."""
    found = min(root.glob(pattern), default=None)
    return None if found is None else f"/{found.relative_to(root)}"
