"""What JAX has here, and what is around it: one `Environment` for the result file.

Importing this module imports jax; `describe` starts its backends. Memory figures of a device
come from JAX's allocator where it has one, and the total from the driver, since an allocator
only knows the share that it was given.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import jax

from suite.errors import PlatformError
from suite.hardware import accelerators, host
from suite.hardware.hints import hints
from suite.record.schema import Environment, Machine, Note, Software, Volatile

# What JAX calls 'gpu' is one of these backends; a case's platform tells them apart.
_GPU_BACKENDS = ("cuda", "rocm")
_PLUGIN_PREFIXES = ("jax-cuda", "jax-rocm", "jax-metal", "libtpu")
# Variables that change what JAX runs on or how fast, recorded as they are.
_VARIABLE_PREFIXES = (
    *("JAX_", "XLA_", "PJRT_", "TF_CPP_", "TF_XLA_", "TF_GPU_", "TF_FORCE_", "TF_CUDNN_", "TF_NUM_"),
    *("CUDA_", "NVIDIA_", "NCCL_", "HIP_", "HSA_", "ROCR_", "ROCM_", "GPU_DEVICE_ORDINAL"),
    *("LIBTPU_", "TPU_", "OMP_", "KMP_", "MKL_", "OPENBLAS_", "MALLOC_", "TCMALLOC_", "LD_PRELOAD"),
)


def describe(
    device_platform: str | None = None,
    *,
    machine_id: str,
    variables: Mapping[str, str] | None = None,
) -> Environment:
    """Describes the devices of one platform and the machine around them.

    Args:
        device_platform: 'cpu', 'cuda', 'rocm' or 'tpu'; None for JAX's own choice.
        machine_id: name of the machine in its identity.
        variables: the environment variables to record; by default those of this process.

    Raises:
        PlatformError: JAX has no such device, or cannot start its backends.
    """
    devices = devices_of(device_platform)
    variables = recorded_variables(os.environ) if variables is None else dict(variables)
    software = _software(devices[0], variables)
    machine = _machine(devices, machine_id)
    return Environment(
        machine=machine,
        software=software,
        volatile=_volatile(devices[0]),
        warnings=_warnings(device_platform, machine.platform, software),
    )


def devices_of(device_platform: str | None) -> list[jax.Device]:
    """The local devices of a platform, or of JAX's own choice for None.

    Raises:
        PlatformError: JAX has no such device, or cannot start its backends.
    """
    try:
        devices: list[jax.Device] = jax.local_devices(backend=device_platform)
    # An assertion is how jax 0.12 says that no backend named in JAX_PLATFORMS could start.
    except (RuntimeError, AssertionError) as error:
        asked = device_platform or os.environ.get("JAX_PLATFORMS") or "any device"
        reason = str(error) or "no backend that JAX_PLATFORMS names could start."
        raise PlatformError(f"jax {jax.__version__} gives no {asked}: {reason}") from error
    return devices


def platform_of(device: jax.Device) -> str:
    """The platform as cases name it: 'cpu', 'cuda', 'rocm' or 'tpu', where JAX may say 'gpu'."""
    if device.platform != "gpu":
        return str(device.platform)
    for name in _GPU_BACKENDS:
        try:
            if device in jax.devices(name):
                return name
        except RuntimeError:  # the other vendor's backend, which is not here
            continue
    return "gpu"


def recorded_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a result file records, verbatim, by name."""
    return {name: environ[name] for name in sorted(environ) if name.startswith(_VARIABLE_PREFIXES)}


def plugin_versions() -> dict[str, str]:
    """Versions of the installed distributions that bring accelerators to JAX."""
    found = {}
    for distribution in metadata.distributions():
        # A half-removed distribution has metadata without a name.
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name.startswith(_PLUGIN_PREFIXES):
            found[name] = distribution.version
    return dict(sorted(found.items()))


def memory_stats(device: jax.Device) -> dict[str, int]:
    """The allocator's figures in bytes; empty where it keeps none, as on a CPU."""
    try:
        stats: Mapping[str, Any] | None = device.memory_stats()
    except jax.errors.JaxRuntimeError:  # a backend that does not implement it
        return {}
    return {name: int(value) for name, value in (stats or {}).items()}


def _machine(devices: list[jax.Device], machine_id: str) -> Machine:
    device, name = devices[0], platform_of(devices[0])
    return Machine(
        machine_id=machine_id,
        platform=name,
        device_kind=device.device_kind,
        device_count=len(devices),
        device_memory_bytes=_device_memory_bytes(device, name),
        compute_capability=_compute_capability(device),
        cpu_model=host.cpu_model(),
        cpu_cores_available=host.cpu_cores_available(),
        cpu_cores_total=host.cpu_cores_total(),
        last_level_cache_bytes=host.last_level_cache_bytes(),
        ram_bytes=host.ram_bytes(),
        os=host.os_name(),
        architecture=host.architecture(),
    )


def _device_memory_bytes(device: jax.Device, name: str) -> int | None:
    """All of one device's memory. The allocator's limit stands in for it on a TPU only."""
    if name == "cuda":
        sizes = {gpu.name: gpu.memory_bytes for gpu in accelerators.nvidia_gpus()}
        return sizes.get(device.device_kind)
    if name == "rocm":
        return accelerators.amd_memory_bytes()
    return memory_stats(device).get("bytes_limit") if name == "tpu" else None


def _compute_capability(device: jax.Device) -> str | None:
    value = getattr(device, "compute_capability", None)
    return None if value is None else str(value)


def _software(device: jax.Device, variables: Mapping[str, str]) -> Software:
    return Software(
        python=platform.python_version(),
        jax=jax.__version__,
        jaxlib=metadata.version("jaxlib"),
        flax=metadata.version("flax"),
        optax=metadata.version("optax"),
        numpy=metadata.version("numpy"),
        platform_version=getattr(device.client, "platform_version", None),
        driver=_driver(platform_of(device)),
        plugins=plugin_versions(),
        variables=dict(variables),
    )


def _driver(name: str) -> str | None:
    """The kernel driver's version; a TPU's is that of the libtpu among the plugins."""
    if name == "cuda":
        return accelerators.nvidia_driver() or next((gpu.driver for gpu in accelerators.nvidia_gpus()), None)
    return accelerators.amd_driver() if name == "rocm" else None


def _volatile(device: jax.Device) -> Volatile:
    stats = memory_stats(device)
    return Volatile(
        load_average=host.load_average(),
        cpu_mhz=host.cpu_mhz(),
        ram_available_bytes=host.available_memory_bytes(),
        memory_limit_bytes=host.memory_limit_bytes(),
        device_memory_in_use_bytes=stats.get("bytes_in_use"),
        device_memory_limit_bytes=stats.get("bytes_limit"),
    )


def _warnings(asked: str | None, name: str, software: Software) -> list[Note]:
    """What is odd about the place: hardware or a plugin that JAX passed over without being told to."""
    if asked is not None:
        return []
    unused = hints(name, jax_version=software.jax, plugins=software.plugins, variables=software.variables)
    return [Note(code="cpu_fallback", message=message) for message in unused]
