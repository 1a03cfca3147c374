"""The chips that a program can be compiled for without having them. No jax.

A target is a row of `devices.toml` that says what its compiler must be told. A step runs on one
JAX device, so memory is that of one device where a chip is two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from suite.errors import ConfigError, nearest
from suite.hardware.devices import DeviceFacts, all_devices

Platform = Literal["cuda", "tpu"]

# Words that people put before a chip's name, and that name nothing by themselves.
_PREFIX = re.compile(r"^(nvidia|tesla|geforce|amd|instinct|google|cloud|tpu)-(?=.)")
_SLICE = re.compile(r"^(?P<chip>[a-z0-9-]*[a-z][a-z0-9]*)-(?P<count>\d+)$")
_TIMES = re.compile(r"^(?P<count>[1-9]\d*)-?x-?(?P<chip>[a-z].*)$")
# The cloud's names of these generations' slices count cores: a v4-8 is four chips.
_COUNTED_IN_CORES = {"v2": 2, "v3": 2, "v4": 2, "v5p": 2}
_BFLOAT16_SINCE = (8, 0)
"""NVIDIA's first compute capability with bfloat16 units (Ampere)."""

GPU_RESERVE_BYTES = 512 << 20
"""Taken off a GPU's memory: its context and libraries are there beside the program."""


@dataclass(frozen=True)
class Target:
    """One chip to compile for.

    Attributes:
        name: the shortest name that people use: 't4', 'v5e'.
        facts: its row of `devices.toml`.
    """

    name: str
    facts: DeviceFacts

    @property
    def platform(self) -> Platform:
        """'cuda' or 'tpu', as JAX names it."""
        return "tpu" if self.facts.topology is not None else "cuda"

    @property
    def usable_bytes(self) -> int:
        """What a program can use of one device's memory; of a TPU's, libtpu has taken its share already."""
        return self.facts.memory_bytes - (GPU_RESERVE_BYTES if self.platform == "cuda" else 0)

    @property
    def cache_bytes(self) -> int:
        """Of a GPU's last-level cache, whose content costs no trip to memory; 0 on a TPU, which has none."""
        return int((self.facts.target or {}).get("l2_bytes", 0))

    @property
    def training_precision(self) -> str:
        """The 16-bit precision that the chip has units for: 'fp16' before Ampere, else 'bf16'."""
        return "fp16" if self.emulation("bf16") else "bf16"

    def emulation(self, precision: str) -> str | None:
        """How the chip makes up for units that it lacks in this precision; None if it has them."""
        if self.platform == "tpu":
            return {
                "fp16": "fp16 has no units here and is computed in wider formats",
                "fp32": "fp32 has no matrix units here, and its products are several bfloat16 passes",
            }.get(precision)
        if precision == "bf16" and _capability(self.facts) < _BFLOAT16_SINCE:
            return "bf16 has no units here and is computed in float32"
        return None

    def native(self, precision: str) -> str:
        """`precision`, with 'native' replaced by the chip's own training precision."""
        return self.training_precision if precision == "native" else precision


def all_targets() -> tuple[Target, ...]:
    """Every target, in the order of `devices.toml`."""
    return tuple(Target(facts.target_names[0], facts) for facts in all_devices() if facts.target_names)


def find(name: str) -> Target:
    """The chip that people call `name`: a short name, a cloud's name, or JAX's device kind.

    Raises:
        ConfigError: no chip is called so, none can be compiled for, or it is a slice of several.
    """
    plain = _plain(name)
    known = _by_name()
    if plain in known:
        return known[plain]
    if without := _not_a_target(plain):
        raise ConfigError(
            f"{without.name} cannot be compiled for without having one: this needs a CUDA GPU or a TPU "
            "whose figures suite/hardware/devices.toml holds."
        )
    found = _SLICE.match(plain)
    if found and found["chip"] in known:
        chip = known[found["chip"]]
        if int(found["count"]) == 1:
            return chip
        raise ConfigError(
            f"{name!r} is a slice of several devices, and a step is compiled for one: use {chip.name!r}."
        )
    raise ConfigError(f"unknown target {name!r}. {nearest(plain, [t.name for t in all_targets()])}")


def parse(text: str) -> list[Target]:
    """The chips that a list with commas names, each once, in its order.

    Raises:
        ConfigError: see `find`; or the list is empty.
    """
    return list({target.name: target for target in map(find, _listed(text))}.values())


def parse_slices(text: str) -> list[tuple[Target, int]]:
    """The chips that a list with commas names, each with how many of them: 'h100', 'v5e-8', '8xh100'.

    Raises:
        ConfigError: see `find`; or the list is empty.
    """
    found = [_slice(name) for name in _listed(text)]
    return list({(target.name, chips): (target, chips) for target, chips in found}.values())


def _slice(name: str) -> tuple[Target, int]:
    plain = _plain(name)
    several = _SLICE.match(plain) if plain not in _by_name() else None
    times = _TIMES.match(plain)
    if times:
        return find(times["chip"]), int(times["count"])
    if several and several["chip"] in _by_name():
        chip = _by_name()[several["chip"]]
        count, per_chip = int(several["count"]), _COUNTED_IN_CORES.get(chip.name, 1)
        if count < 1 or (count % per_chip and count != 1):
            raise ConfigError(
                f"{name!r}: the number in a {chip.name} slice's name counts cores, {per_chip} a chip, and "
                f"{count} is no whole number of chips."
            )
        return chip, max(count // per_chip, 1)
    return find(name), 1


def _listed(text: str) -> Sequence[str]:
    names = [part for part in text.split(",") if part.strip()]
    if not names:
        raise ConfigError(f"expected targets such as t4,h100,v5e, found {text!r}.")
    return names


def _plain(name: str) -> str:
    """'  Tesla_T4 ' as 't4'."""
    plain = re.sub(r"[\s_]+", "-", name.strip().lower())
    while (shorter := _PREFIX.sub("", plain)) != plain:
        plain = shorter
    return plain


@cache
def _by_name() -> dict[str, Target]:
    """Every name of every target, plain; a short name wins over another chip's device kind."""
    names: dict[str, Target] = {}
    for target in all_targets():
        facts = target.facts
        for name in (*facts.target_names, facts.id, facts.name, *facts.kinds):
            names.setdefault(_plain(name), target)
    return names


def _not_a_target(plain: str) -> DeviceFacts | None:
    """The device of the table that is called so and that nothing here compiles for."""
    for facts in all_devices():
        if not facts.target_names and plain in map(_plain, (facts.id, facts.name, *facts.kinds)):
            return facts
    return None


def _capability(facts: DeviceFacts) -> tuple[int, ...]:
    return tuple(int(part) for part in (facts.compute_capability or "0").split("."))
