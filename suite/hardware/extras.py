"""Which of jaxmark's extras brings JAX to the accelerators of a machine. Standard library only.

Requirements are those of JAX's own installation guide: CUDA 13 wheels need driver 580 and compute
capability 7.5 (Turing), CUDA 12 wheels driver 525 and capability 5.2; ROCm wheels use the ROCm
that is installed on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.hardware import accelerators
from suite.hardware.accelerators import NvidiaGpu, Presence
from suite.hardware.files import ROOT

EXTRAS = ("cpu", "cuda12", "cuda13", "rocm", "tpu")
FORECAST = "forecast"
"""Brings compilers for accelerators that are not here; never chosen for a machine that measures."""
_CUDA13 = ((580,), (7, 5))
_CUDA12 = ((525,), (5, 2))


@dataclass(frozen=True)
class Choice:
    """An extra, and why in one sentence. 'cpu' stands for none."""

    extra: str
    reason: str


def choose(root: Path = ROOT) -> Choice:
    """The extra for the first accelerator that can be used; 'cpu', with the reason, without one."""
    refusals = []
    for presence in accelerators.present(root):
        choice = choose_for(presence, root)
        if choice.extra != "cpu":
            return choice
        refusals.append(choice.reason)
    return Choice("cpu", " ".join(refusals) or "no GPU or TPU found.")


def choose_for(presence: Presence, root: Path = ROOT) -> Choice:
    """The extra for one accelerator; 'cpu' if it cannot be used as the machine is set up now."""
    if not presence.driver_loaded:
        return Choice("cpu", f"{presence.name} found on {presence.evidence}, but its driver is not loaded.")
    if presence.kind == "cuda":
        return _cuda(presence, root)
    if presence.kind == "rocm" and not (root / "opt/rocm").exists():
        return Choice("cpu", f"{presence.name} found, but no ROCm in /opt/rocm, which JAX needs.")
    return Choice(presence.kind, f"{presence.name} found ({presence.evidence}).")


def _cuda(presence: Presence, root: Path) -> Choice:
    gpus = accelerators.nvidia_gpus()
    drivers = [gpu.driver for gpu in gpus if gpu.driver] or [accelerators.nvidia_driver(root) or ""]
    driver = min(drivers, key=_numbers)
    seen = f"{presence.name} found ({presence.evidence}), driver {driver or 'unknown'}"
    capabilities = [gpu.compute_capability for gpu in gpus]
    if _all_at_least(driver, gpus, *_CUDA13):
        return Choice("cuda13", f"{seen}, compute capability {', '.join(map(str, capabilities))}.")
    if driver and _numbers(driver) < _CUDA12[0]:
        return Choice("cpu", f"{seen}; CUDA 12 needs driver 525 or newer.")
    known = [capability for capability in capabilities if capability]
    if known and max(map(_numbers, known)) < _CUDA12[1]:
        return Choice("cpu", f"{seen}, compute capability {max(known)}; CUDA 12 needs 5.2 or newer.")
    return Choice("cuda12", f"{seen}, compute capability {', '.join(known) or 'unknown'}.")


def _all_at_least(
    driver: str, gpus: Sequence[NvidiaGpu], least_driver: tuple[int, ...], least: tuple[int, ...]
) -> bool:
    """Whether the driver and every GPU are known and new enough."""
    capabilities = [gpu.compute_capability for gpu in gpus]
    return (
        bool(gpus)
        and _numbers(driver) >= least_driver
        and all(capability is not None and _numbers(capability) >= least for capability in capabilities)
    )


def _numbers(version: str) -> tuple[int, ...]:
    """'535.104.05' as (535, 104, 5); () for a version that is not known, the lowest of all."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())
