"""jaxmark: benchmarks of Flax NNX models on CPU, GPU and TPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from suite.api import Measured as Measured
    from suite.api import measure as measure
    from suite.bridges.frames import load as load
    from suite.spec.settings import MeasureSettings as MeasureSettings
    from suite.workloads.base import Checks as Checks
    from suite.workloads.base import Workload as Workload
    from suite.workloads.own import Call as Call
    from suite.workloads.own import Facts as Facts
    from suite.workloads.own import Step as Step

# Imported on first use: reading results must not need jax.
_HOMES = {
    "Call": "suite.workloads.own",
    "Checks": "suite.workloads.base",
    "Facts": "suite.workloads.own",
    "MeasureSettings": "suite.spec.settings",
    "Measured": "suite.api",
    "Step": "suite.workloads.own",
    "Workload": "suite.workloads.base",
    "load": "suite.bridges.frames",
    "measure": "suite.api",
}
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'suite' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
