"""One thing measured, and its identity."""

from __future__ import annotations

from typing import Literal

import msgspec

Layers = Literal["scan", "unroll", "own"]
Path = Literal["aot", "call"]
ParamValue = int | float | str | bool


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is measured. Every field is part of the identity; nothing else is.

    Attributes:
        workload: name in the catalogue, or 'file-stem:name' for a user's own.
        version: of the workload; bumped when its meaning changes.
        preset: a size from the workload's table; 'own' for a user's workload.
        mode: 'train', 'infer', ... as the workload declares; 'own' for a user's.
        precision: 'fp32', 'default', 'bf16', 'fp16'; 'own' for a user's workload.
        batch: items per step along the batch axis; None where a user's workload does not say.
        layers: how repeated blocks are compiled.
        params: further settings of the workload (sequence length, ...), sorted by name.
        mesh: None on a single device.
        prng: JAX's random number generator.
        path: 'aot' compiles a pure step ahead of time; 'call' runs a function as it is.
    """

    workload: str
    version: int
    preset: str
    mode: str
    precision: str
    batch: int | None
    layers: Layers
    params: dict[str, ParamValue] = {}
    mesh: str | None = None
    prng: str = "threefry2x32"
    path: Path = "aot"

    @property
    def key(self) -> str:
        """The identity as one string, such as 'gpt/char/train/fp32/b8/scan/v2'."""
        parts = [self.workload, self.preset, self.mode, self.precision]
        parts.append("b-" if self.batch is None else f"b{self.batch}")
        parts += [self.layers, f"v{self.version}"]
        parts += [f"{name}={self.params[name]}" for name in sorted(self.params)]
        if self.mesh is not None:
            parts.append(f"mesh={self.mesh}")
        if self.prng != "threefry2x32":
            parts.append(f"prng={self.prng}")
        if self.path != "aot":
            parts.append(self.path)
        return "/".join(parts)
