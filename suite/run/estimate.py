"""How long a process of a case may take, before any has run. An estimate, and called one.

    process = start + compile + (warm-up, blocks, latency pass and checks at the step's time)
    step    = FLOPs of the step / rate

The rate is, on a CPU, that of a NumPy matrix product measured here; on an accelerator a share of the
vendor's dense peak. Real steps fall short of both, the more the smaller they are; the first
round's figures replace the estimates.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suite.hardware import accelerators, devices
from suite.record.environment import Machine
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.settings import MeasureSettings
from suite.spec.workload import PRECISIONS

_START_SECONDS = 3.0  # import jax and flax, start the backend
_COMPILE_SECONDS = 4.0
_CPU_SHARE = 0.8  # of NumPy's own rate, which convolutions and small products do not reach
_PEAK_SHARE = 0.3
_SINGLE_STEPS = 8  # first five for the losses, three for memory
_LEAST_BLOCK_SECONDS = 0.05


@dataclass(frozen=True)
class Rates:
    """FLOPs per second that estimates count with.

    Attributes:
        by_precision: what is known of each precision; those that are missing are unknown.
        basis: where the figures come from, or why there is none.
    """

    by_precision: Mapping[str, float]
    basis: str


def cpu_rates(size: int = 1024, seconds: float = 0.2) -> Rates:
    """Measures NumPy's float32 matrix product for about `seconds`; bf16 and fp16 are not faster."""
    import numpy as np

    left = np.full((size, size), 0.5, np.float32)
    left @ left  # the first call starts the library's threads
    began, products = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - began) < seconds:
        left @ left
        products += 1
    measured = 2 * size**3 * products / elapsed
    basis = f"{_CPU_SHARE:.0%} of NumPy's float32 matrix product, now {measured / 1e9:.0f} GFLOP/s"
    return Rates(dict.fromkeys(PRECISIONS, _CPU_SHARE * measured), basis)


def accelerator_rates(platform: str, device_kind: str) -> Rates:
    """A share of the vendor's dense peak for each precision that the table knows."""
    known: dict[str, float] = {}
    for precision in PRECISIONS:
        for arithmetic in devices.products_of(precision, platform):
            if (peak := devices.peak_flops(device_kind, arithmetic)) is not None:
                known[precision] = _PEAK_SHARE * peak
                break
    if not known:
        return Rates({}, f"no peak of {device_kind!r} is known, so no time can be estimated")
    return Rates(known, f"{_PEAK_SHARE:.0%} of the dense peak of {device_kind}, by its vendor")


def rates_of(machine: Machine) -> Rates:
    """The rates of a machine that JAX has been asked about: this one."""
    if machine.platform == "cpu":
        return cpu_rates()
    return accelerator_rates(machine.platform, machine.device_kind)


def rates_here(platform: str | None) -> Rates:
    """The rates of what this machine shows, found without jax.

    Args:
        platform: as asked for; None for what JAX would choose: an accelerator where one is.
    """
    found = [p for p in accelerators.present() if platform in (None, p.kind) or platform == "gpu"]
    if found and platform != "cpu":
        return accelerator_rates(found[0].kind, found[0].name)
    return cpu_rates()


def expected_seconds(case: Case, settings: MeasureSettings, rates: Rates) -> float | None:
    """Seconds that one process of a case may take; None for a user's workload or no rate."""
    rate = rates.by_precision.get(case.precision)
    if rate is None:
        return None
    terms, *_ = catalogue.work(case)
    step = sum(terms.values()) / rate
    block = max(step, _LEAST_BLOCK_SECONDS)
    warmup = max(settings.warmup_seconds, 4 * block)
    blocks = max(5 * block, min(settings.block_seconds, 20 * block))
    latency = 0.0 if step >= _LEAST_BLOCK_SECONDS else min(settings.latency_seconds, 100 * step)
    return _START_SECONDS + _COMPILE_SECONDS + _SINGLE_STEPS * step + warmup + blocks + latency


def expected_of_all(
    cases: Sequence[Case], settings: MeasureSettings, rates: Rates
) -> Mapping[str, float | None]:
    """`expected_seconds` of each case, by its key."""
    return {case.key: expected_seconds(case, settings, rates) for case in cases}
