"""Hardware that is there and that JAX does not use, and the command that mends it. No jax."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from suite.hardware import accelerators, extras
from suite.hardware.accelerators import Presence
from suite.hardware.files import ROOT

# Name parts of the distributions that bring JAX to each kind of accelerator.
_PLUGIN_OF = {"cuda": "jax-cuda", "rocm": "jax-rocm", "tpu": "libtpu"}
_DRIVER_ADVICE = {
    "cuda": "Install NVIDIA's driver (version 525 or newer) and check it with: nvidia-smi",
    "rocm": "Load the amdgpu driver and join its groups: sudo usermod -aG video,render $USER",
    "tpu": "Check that this virtual machine was made with a TPU runtime image: ls /dev/accel* /dev/vfio",
}


def hints(
    platform: str,
    *,
    jax_version: str | None,
    plugins: Mapping[str, str],
    variables: Mapping[str, str],
    root: Path = ROOT,
) -> list[str]:
    """Says what is there but unused, one sentence or two for each kind, with what to do.

    Args:
        platform: what JAX runs on: 'cpu', 'cuda', 'rocm' or 'tpu'.
        jax_version: the version installed, so that the advice does not replace it; None if not known.
        plugins: versions of the accelerator plugins installed, by distribution.
        variables: the environment variables that the environment records.
        root: the folder that stands for `/`.
    """
    if platform != "cpu":
        return []
    present = accelerators.present(root)
    found = [_hint(presence, jax_version, plugins, variables, root) for presence in present]
    seen = {presence.kind for presence in present}
    return found + [
        f"{plugin} {version} is installed, but JAX runs on the CPU and no such device shows here. "
        f"In a container, pass the devices in ({_CONTAINER[kind]}); without the device, "
        "say so with JAX_PLATFORMS=cpu."
        for kind, prefix in _PLUGIN_OF.items()
        if kind not in seen and not _forced_cpu(variables)
        for plugin, version in sorted(plugins.items())
        if plugin.startswith(prefix) and plugin.endswith(("plugin", "libtpu"))
    ]


_CONTAINER = {
    "cuda": "docker run --gpus all",
    "rocm": "docker run --device /dev/kfd --device /dev/dri",
    "tpu": "docker run --privileged",
}


def _forced_cpu(variables: Mapping[str, str]) -> bool:
    return variables.get("JAX_PLATFORMS", "").strip().lower() == "cpu"


def _hint(
    presence: Presence,
    jax_version: str | None,
    plugins: Mapping[str, str],
    variables: Mapping[str, str],
    root: Path,
) -> str:
    there = f"{presence.name} is here ({presence.evidence}), but JAX runs on the CPU"
    if not presence.driver_loaded:
        return f"{there}: its driver is not loaded. {_DRIVER_ADVICE[presence.kind]}"
    if _forced_cpu(variables):
        return f"{there}: JAX_PLATFORMS=cpu is set. To use it: unset JAX_PLATFORMS"
    if presence.kind == "cuda" and variables.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        return f"{there}: CUDA_VISIBLE_DEVICES hides it. To use it: unset CUDA_VISIBLE_DEVICES"
    choice = extras.choose_for(presence, root)
    if choice.extra == "cpu":
        return f"{there}: {choice.reason}"
    command = install_command(choice.extra, jax_version)
    installed = [name for name in sorted(plugins) if name.startswith(_PLUGIN_OF[presence.kind])]
    if not installed:
        return f"{there}: no plugin for it is installed. To mend it: {command}"
    names = ", ".join(f"{name} {plugins[name]}" for name in installed)
    return (
        f"{there}, although {names} is installed beside jax {jax_version}: JAX could not start it. "
        f'See why: {sys.executable} -c "import jax; jax.devices({presence.kind!r})". '
        f"If the versions differ: {command}"
    )


def install_command(extra: str, jax_version: str | None) -> str:
    """The command that adds an accelerator to the JAX of this interpreter, at the same version."""
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    if extra == "rocm":  # not every release of jax has ROCm wheels: pip looks for the newest that does
        return f'{python} -m pip install "jax[rocm7-local]"'
    pin = f"=={jax_version}" if jax_version else ""
    return f'{python} -m pip install "jax[{extra}]{pin}"'
