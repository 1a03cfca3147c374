"""Devices that are not here, for XLA's compilers to compile for.

libtpu knows its chips and slices by name. The CUDA compiler is told what a GPU is; without one it
cannot try kernels out, so it takes the ones that it prefers unseen.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from jax.experimental import topologies

from suite.forecast.targets import Target, find

# Slices that are sold, by the number of axes of the chips' network: the shapes of ever more chips.
_SLICES = {
    2: ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"),
    3: ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8"),
}


def devices(target: Target, chips: int = 1) -> list[Any]:
    """JAX devices of the target to compile for: one for one chip, else all of so many chips.

    One chip is one device even where it has two, because a step on one device is what is measured.

    Raises:
        Exception: the compiler does not know the chip; which exception depends on jax's version.
        ValueError: there is no slice of so many chips.
    """
    found = list(_topology(target.name, chips).devices)
    return found[: 1 if chips == 1 else chips * target.facts.devices_per_chip]


def device_kind(target: Target) -> str:
    """As JAX names the chip."""
    kind: str = devices(target)[0].device_kind
    return kind


@cache
def _topology(name: str, chips: int) -> Any:
    target = find(name)
    smallest = target.facts.topology
    if smallest is None:
        shape = f"1x1x{chips}"
        return topologies.get_topology_desc(
            platform="cuda", topology_name=shape, topology=shape, target_config=cuda_target(target)
        )
    bounds: dict[str, Any] = {"chips_per_host_bounds": [1, 1, 1]} if chips == 1 else {}
    slice_name = smallest if chips == 1 else _slice(smallest, chips)
    return topologies.get_topology_desc(platform="tpu", topology_name=slice_name, **bounds)


def _slice(smallest: str, chips: int) -> str:
    """The name of the smallest slice with so many chips.

    Raises:
        ValueError: there is none.
    """
    generation, _, shape = smallest.partition(":")
    for candidate in _SLICES[shape.count("x") + 1]:
        if math.prod(map(int, candidate.split("x"))) >= chips:
            return f"{generation}:{candidate}"
    raise ValueError(f"there is no slice of {chips} chips of this kind to compile for")


def cuda_target(target: Target) -> str:
    """What the CUDA compiler is told of a GPU: XLA's `GpuTargetConfigProto` as text."""
    facts, limits = target.facts, target.facts.target or {}
    major, minor = (facts.compute_capability or "").split(".")
    return f"""
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: {limits["shared_memory_per_block"]}
  shared_memory_per_block_optin: {limits["shared_memory_per_block_optin"]}
  shared_memory_per_core: {limits["shared_memory_per_core"]}
  threads_per_core_limit: {limits["threads_per_core_limit"]}
  core_count: {limits["core_count"]}
  fpus_per_core: {limits["fpus_per_core"]}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {round(facts.bandwidth)}
  l2_cache_size: {limits["l2_bytes"]}
  clock_rate_ghz: {limits["clock_ghz"]}
  device_memory_size: {facts.memory_bytes}
  cuda_compute_capability {{ major: {major} minor: {minor} }}
  registers_per_core_limit: {limits["registers_per_core"]}
  registers_per_block_limit: {limits["registers_per_core"]}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 }}
runtime_version {{ major: 12 minor: 8 patch: 0 }}
device_description_str: "{facts.kinds[0]}"
"""
