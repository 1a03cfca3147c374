"""What an accelerator can do at best: vendors' figures from `devices.toml`, by exact `device_kind`.

An unknown device or precision gives None, never a guess: another chip's peak, or another
precision's, would make a utilisation that means nothing. No jax.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_GB, _GIB, _GIGA, _TERA = 10**9, 1 << 30, 10**9, 10**12


@dataclass(frozen=True)
class DeviceFacts:
    """One row of `devices.toml`: a chip or card as it is sold.

    Attributes:
        name: as it is sold, such as 'A100 SXM4 80GB'.
        kinds: the `device_kind` strings that JAX gives for it.
        devices_per_chip: JAX devices in one chip; per-device figures are a chip's divided by it.
        chip_memory_bytes: what a program can use, or the vendor's capacity where that is unknown.
        chip_bandwidth: of the memory, in bytes per second.
        chip_peak_tflops: dense, by precision ('fp32', 'tf32', 'bf16', 'fp16', 'int8', 'fp8', 'fp64', 'fp4').
        chip_power_w: the vendor's limit for the chip or card.
        source: where the figures come from.
        target_names: what people call a chip that can be compiled for without it; () for the others.
        target: what the CUDA compiler must be told of one device, by name; None for other platforms.
        topology: libtpu's name for the smallest slice of it; None for other platforms.
        clock_hz: at which a TPU's matrix units give the vendor's peak; None where it is not known.
        as_of: the day on which they were looked up.
        note: what a reader must know before relying on them.
    """

    id: str
    vendor: str
    name: str
    kinds: tuple[str, ...]
    platform: str
    devices_per_chip: int
    chip_memory_bytes: int
    chip_bandwidth: float
    chip_peak_tflops: Mapping[str, float]
    chip_power_w: float | None
    compute_capability: str | None
    target_names: tuple[str, ...]
    target: Mapping[str, float] | None
    topology: str | None
    clock_hz: float | None
    source: tuple[str, ...]
    as_of: str
    note: str

    def peak_flops(self, precision: str) -> float | None:
        """Dense peak of one JAX device in operations per second; None if the vendor gives none."""
        peak = self.chip_peak_tflops.get(precision)
        return None if peak is None else peak * _TERA / self.devices_per_chip

    @property
    def memory_bytes(self) -> int:
        """Memory of one JAX device, in bytes."""
        return self.chip_memory_bytes // self.devices_per_chip

    @property
    def bandwidth(self) -> float:
        """Memory bandwidth of one JAX device, in bytes per second."""
        return self.chip_bandwidth / self.devices_per_chip


def lookup(device_kind: str) -> DeviceFacts | None:
    """The facts of the device that JAX calls exactly so; None for one that is not in the table."""
    return _by_kind().get(device_kind)


def peak_flops(device_kind: str, arithmetic: str) -> float | None:
    """Dense peak of one JAX device in operations per second; None if device or arithmetic is unknown."""
    facts = lookup(device_kind)
    return None if facts is None else facts.peak_flops(arithmetic)


def products_of(precision: str, platform: str) -> tuple[str, ...]:
    """Which arithmetic a case's products run in, by precision and platform: the first that a chip has.

    'default' is the hardware's own float32: TF32 where there are units for it, one bf16 pass on a
    TPU. Strict 'fp32' on a TPU is several bf16 passes, for which no vendor gives a peak: ().
    """
    if precision == "default":
        return {"cuda": ("tf32", "fp32"), "tpu": ("bf16",)}.get(platform, ("fp32",))
    return () if platform == "tpu" and precision in ("fp32", "fp16") else (precision,)


def all_devices() -> tuple[DeviceFacts, ...]:
    """Every row, in the table's order."""
    text = resources.files("suite.hardware").joinpath("devices.toml").read_text(encoding="utf-8")
    return tuple(_facts(row) for row in tomllib.loads(text)["device"])


@cache
def _by_kind() -> dict[str, DeviceFacts]:
    return {kind: facts for facts in all_devices() for kind in facts.kinds}


def _facts(row: Mapping[str, Any]) -> DeviceFacts:
    usable = row.get("memory_gib")
    return DeviceFacts(
        id=row["id"],
        vendor=row["vendor"],
        name=row["name"],
        kinds=tuple(row["kind"]),
        platform=row["platform"],
        devices_per_chip=row["jax_devices_per_chip"],
        chip_memory_bytes=round(row["memory_gb"] * _GB if usable is None else usable * _GIB),
        chip_bandwidth=row["bandwidth_gb_s"] * _GB,
        chip_peak_tflops=row["peak_tflops"],
        chip_power_w=row.get("tdp_w"),
        compute_capability=row.get("compute_capability"),
        target_names=tuple(row.get("target_names", ())),
        target=row.get("target"),
        topology=row.get("topology"),
        clock_hz=row["clock_ghz"] * _GIGA if "clock_ghz" in row else None,
        source=tuple(row["source"]),
        as_of=row["as_of"],
        note=row["note"],
    )
