"""How a step is spread over several chips: 'data=4', 'fsdp=8', 'data=2,fsdp=4'. No jax."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from suite.errors import ConfigError

AXES = ("data", "fsdp")
_PART = re.compile(r"(?P<axis>[a-z]+)=(?P<size>\d+)")


@dataclass(frozen=True)
class MeshSpec:
    """Axes of a mesh of chips, in order.

    Attributes:
        sizes: chips along 'data', over which the batch is split and the state repeated, and along
            'fsdp', over which both are split.
    """

    sizes: Mapping[str, int]

    @property
    def chips(self) -> int:
        """How many chips it takes."""
        return math.prod(self.sizes.values())

    def __str__(self) -> str:
        return ",".join(f"{axis}={size}" for axis, size in self.sizes.items())


def parse_mesh(text: str) -> MeshSpec:
    """Reads 'data=4', 'fsdp=8' or 'data=2,fsdp=4'.

    Raises:
        ConfigError: it is written in another way, or an axis is unknown, twice there or empty.
    """
    sizes: dict[str, int] = {}
    for part in text.replace(" ", "").split(","):
        found = _PART.fullmatch(part)
        if not found or found["axis"] not in AXES or found["axis"] in sizes or int(found["size"]) < 1:
            raise ConfigError(
                f"expected a mesh such as data=4, fsdp=8 or data=2,fsdp=4 (counts of chips), found {text!r}."
            )
        sizes[found["axis"]] = int(found["size"])
    return MeshSpec({axis: sizes[axis] for axis in AXES if axis in sizes})
