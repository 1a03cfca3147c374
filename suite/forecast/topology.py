"""A device that is not here, for XLA's compilers to compile for.

libtpu knows its chips by name. The CUDA compiler is told what a GPU is; without one it cannot try
kernels out, so it takes the ones that it prefers unseen.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from suite.forecast.targets import Target, find


def sharding_on(target: Target) -> NamedSharding:
    """One device of the target, as the sharding of every argument.

    Raises:
        Exception: the compiler does not know the chip; which exception depends on jax's version.
    """
    return NamedSharding(Mesh(_topology(target.name).devices[:1], ("x",)), PartitionSpec())


def device_kind(target: Target) -> str:
    """As JAX names the chip."""
    kind: str = _topology(target.name).devices[0].device_kind
    return kind


@cache
def _topology(name: str) -> Any:
    target = find(name)
    if target.facts.topology is not None:
        return topologies.get_topology_desc(
            platform="tpu", topology_name=target.facts.topology, chips_per_host_bounds=[1, 1, 1]
        )
    return topologies.get_topology_desc(
        platform="cuda", topology_name="1x1x1", topology="1x1x1", target_config=cuda_target(target)
    )


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
