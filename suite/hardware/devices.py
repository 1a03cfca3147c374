"""What vendors state of their accelerators, from devices.toml. An unknown one is None, never a guess."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("devices.toml")


@cache
def _by_kind() -> dict[str, dict[str, Any]]:
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["device"]
    return {kind: row for row in rows for kind in row["kind"]}


def peak_flops(device_kind: str, arithmetic: str) -> float | None:
    """Dense peak of one JAX device in FLOP/s.

    Args:
        device_kind: exactly as JAX names it, such as 'NVIDIA H100 80GB HBM3'.
        arithmetic: of the multiplication: 'fp64', 'fp32', 'tf32', 'fp16', 'bf16', 'fp8', 'int8'.

    Returns:
        None for a device or an arithmetic that the table does not have.
    """
    row = _by_kind().get(device_kind)
    if row is None or arithmetic not in row.get("peak_tflops", {}):
        return None
    return float(row["peak_tflops"][arithmetic]) * 1e12 / int(row["jax_devices_per_chip"])


def products_of(precision: str, platform: str) -> tuple[str, ...]:
    """The arithmetic that a case's products may run in, the likeliest first.

    'default' is the hardware's own float32: TF32 where a CUDA chip has it, bf16 passes on a TPU.
    Strict float32 takes several of these passes there, and no table states its peak.
    """
    if platform == "tpu":
        return {"default": ("bf16",), "fp32": ()}.get(precision, (precision,))
    return {"default": ("tf32", "fp32")}.get(precision, (precision,))
