"""What the catalogue knows of a workload, without importing jax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from suite.spec.case import Layers

Dims = Mapping[str, int]
PRECISIONS = ("fp32", "default", "bf16", "fp16")


@dataclass(frozen=True)
class Preset:
    """One size of a workload.

    Attributes:
        dims: the model's dimensions and the fixed shapes of its inputs, by name.
        parameters: exact number of trainable parameters.
        batch: default batch size of each mode.
        source: the paper or model card that the size comes from.
        mode_parameters: the same in a mode that has others: a head for training, another to predict.
    """

    dims: Dims
    parameters: int
    batch: Mapping[str, int]
    source: str
    mode_parameters: Mapping[str, int] = field(default_factory=dict)

    def parameters_in(self, mode: str) -> int:
        """Returns the exact number of trainable parameters in this mode."""
        return self.mode_parameters.get(mode, self.parameters)


@dataclass(frozen=True)
class Setting:
    """A dimension that a case may set through its `params`.

    Attributes:
        summary: one line for `jaxmark list`.
        limit: the largest value: a number, or the dimension that it must not exceed.
        least: the smallest value. A switch goes from 0 to 1.
        modes: where it means something; None is everywhere.
    """

    summary: str
    limit: str | int
    least: int = 1
    modes: tuple[str, ...] | None = None


REMAT = Setting("1 computes each block again for its gradient, to save memory", 1, least=0, modes=("train",))


@dataclass(frozen=True)
class WorkloadSpec:
    """A row of the catalogue.

    Attributes:
        name: as users type it.
        family: what kind of network: dense, convolutional, transformer, ...
        summary: one line for `jaxmark list`.
        version: bumped when the meaning of the workload changes.
        item: what one item of a step is: sample, image, token.
        modes: what a step can be: train, infer, ...; the default first.
        presets: sizes, smallest first; 'smoke' is always there.
        default_preset: what is meant where no preset is named; a size that people use.
        layers: the ways in which repeated blocks can be compiled, the default first.
        layers_of: the modes in which another of them is the default.
        flops: (dims, mode, batch) -> named terms that add up to the FLOPs of one step.
        items: (dims, mode, batch) -> items of one step.
        unmoved_bytes: (dims, mode, batch, width) -> bytes of state and batch that a step neither reads
            nor writes, counted once for each of the two: embedding rows that no token asks for,
            experts that none is routed to, cache slots that stay as they are. `width` is the
            bytes of a stored value. None where a step moves all of it.
        build: 'module:function' of the builder, called as build(case, preset) -> Workload.
        precisions: policies that it supports.
        settings: dimensions that a case may set through `params`, by name.
    """

    name: str
    family: str
    summary: str
    version: int
    item: str
    modes: tuple[str, ...]
    presets: Mapping[str, Preset]
    default_preset: str
    layers: tuple[Layers, ...]
    flops: Callable[[Dims, str, int], dict[str, int]]
    items: Callable[[Dims, str, int], int]
    build: str
    precisions: tuple[str, ...] = PRECISIONS
    layers_of: Mapping[str, Layers] = field(default_factory=dict)
    unmoved_bytes: Callable[[Dims, str, int, int], int] | None = field(default=None)
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def default_layers(self, mode: str) -> Layers:
        """How repeated blocks are compiled in a mode where nobody says."""
        return self.layers_of.get(mode, self.layers[0])
