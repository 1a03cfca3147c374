"""Which distributions bring the compilers, and the command that installs a missing one. No jax."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import metadata
from pathlib import Path

from suite.errors import PlatformError

_CUDA_PLUGIN = ("jax-cuda12-pjrt", "jax-cuda12-plugin")
# Brings ptxas and libdevice, without which the plugin says that it knows no topology.
_NVCC = "nvidia-cuda-nvcc-cu12"
_RELEVANT = ("jax", "jaxlib", "flax", "optax", "libtpu", *_CUDA_PLUGIN, _NVCC)


def installed() -> dict[str, str]:
    """Versions of what compiles and of what is compiled, by distribution, in this interpreter."""
    found = {}
    for name in _RELEVANT:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def check(python: Path, versions: Mapping[str, str], platforms: Collection[str]) -> None:
    """Makes sure that an environment has the compilers of these platforms.

    Args:
        python: the environment's interpreter, for the message.
        versions: as `installed` gives them in it.
        platforms: 'cuda' and 'tpu', those that are asked for.

    Raises:
        PlatformError: it lacks one; the message is the command that installs it.
    """
    jax, missing = versions.get("jax"), []
    # Named with jax's version: a bare plugin would be the newest, whatever jax is there.
    if "tpu" in platforms and "libtpu" not in versions:
        missing.append(f"'jax[tpu]=={jax}'")
    if "cuda" in platforms:
        if not versions.keys() >= set(_CUDA_PLUGIN):
            missing.append(f"'jax[cuda12-local]=={jax}'")
        if _NVCC not in versions:
            missing.append(_NVCC)
    if missing:
        raise PlatformError(
            f"expected the compilers for {' and '.join(sorted(platforms))} in {python}, found "
            f"{', '.join(f'{name} {versions[name]}' for name in versions)}. Install what is missing:\n"
            f"  {python} -m pip install {' '.join(missing)}"
        )
