"""Faults of released versions that would make a figure wrong, and the flags that keep them out. No jax."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from importlib import metadata

# On a CPU these releases cache a product's packed weights by the address of their buffer. A donated state
# keeps its address and changes its contents, so training goes on with the weights of its first step.
_XNNPACK_SINCE, _XNNPACK_UNTIL = (0, 7, 2), (0, 8, 2)
_XNNPACK_OFF = "--xla_cpu_use_xnnpack=false"


def mend(variables: MutableMapping[str, str], jaxlib: str | None = None) -> None:
    """Adds the flags that a jaxlib needs to `variables`; a user's own choice stays.

    Args:
        variables: changed in place.
        jaxlib: its version; None for the installed one.
    """
    if lacks_a_flag(variables, jaxlib):
        variables["XLA_FLAGS"] = f"{variables.get('XLA_FLAGS', '')} {_XNNPACK_OFF}".strip()


def lacks_a_flag(variables: Mapping[str, str], jaxlib: str | None = None) -> bool:
    """Whether a jaxlib, by default the installed one, needs a flag about which `variables` say nothing."""
    return needs_xnnpack_off(jaxlib) and "xla_cpu_use_xnnpack" not in variables.get("XLA_FLAGS", "")


def needs_xnnpack_off(jaxlib: str | None = None) -> bool:
    """Whether a jaxlib, by default the installed one, computes donated training wrongly on a CPU."""
    if jaxlib is None:
        try:
            jaxlib = metadata.version("jaxlib")
        except metadata.PackageNotFoundError:
            return False
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", jaxlib)
    return found is not None and _XNNPACK_SINCE <= tuple(map(int, found.groups())) < _XNNPACK_UNTIL
