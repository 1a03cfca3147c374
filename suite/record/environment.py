"""Where a run took place.

What an imported run does not say is null, and 'unknown' where a word is needed.
"""

from __future__ import annotations

import msgspec

from suite.record.base import Note, Record


class Machine(Record):
    """The identity of the hardware.

    Attributes:
        machine_id: random, made on first use; or the name given with --machine.
        platform: 'cpu', 'cuda', 'rocm' or 'tpu'.
        device_kind: as JAX names it.
        device_count: JAX devices; a TPU v2, v3 or v7x chip is two of them.
        device_memory_bytes: of one device.
        compute_capability: of an NVIDIA GPU, such as '9.0'.
        cpu_model: name of the processor.
        cpu_cores_available: that this process may use.
        cpu_cores_total: that the machine has.
        last_level_cache_bytes: of the processor.
        ram_bytes: of the machine.
        os: name and version of the operating system.
        architecture: such as 'x86_64'.
        hostname: left out unless asked for.
    """

    machine_id: str
    platform: str
    device_kind: str
    device_count: int | None
    device_memory_bytes: int | None
    compute_capability: str | None
    cpu_model: str
    cpu_cores_available: int | None
    cpu_cores_total: int | None
    last_level_cache_bytes: int | None
    ram_bytes: int | None
    os: str
    architecture: str
    hostname: str | None = None


class Software(Record):
    """Everything that may differ between two runs on one machine.

    Attributes:
        platform_version: of the accelerator's runtime, as JAX reports it.
        driver: version of the accelerator's driver.
        plugins: distribution -> version of what brings JAX to an accelerator.
        variables: environment variables that change what is measured (XLA_FLAGS, JAX_*, OMP_*
            and the like), verbatim.
    """

    python: str
    jax: str | None
    jaxlib: str | None
    flax: str | None
    optax: str | None
    numpy: str | None
    platform_version: str | None
    driver: str | None
    plugins: dict[str, str]
    variables: dict[str, str]


class Volatile(Record):
    """What changes from hour to hour, when the run began.

    Attributes:
        load_average: runnable programs over the last minute.
        cpu_mhz: clock of the processor.
        ram_available_bytes: that programs could still take.
        memory_limit_bytes: that the workers ran under; null for none.
        device_memory_in_use_bytes: by JAX's allocator.
        device_memory_limit_bytes: the most that JAX's allocator may take.
    """

    load_average: float | None
    cpu_mhz: float | None
    ram_available_bytes: int | None
    memory_limit_bytes: int | None
    device_memory_in_use_bytes: int | None = None
    device_memory_limit_bytes: int | None = None


class Environment(Record):
    """Where a run took place: what identifies the hardware, what may differ, what drifts.

    Attributes:
        warnings: what is odd about the place, such as an accelerator that JAX does not use.
    """

    machine: Machine
    software: Software
    volatile: Volatile
    warnings: list[Note] = msgspec.field(default_factory=list)
