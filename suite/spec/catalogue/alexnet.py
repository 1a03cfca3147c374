"""AlexNet: image classification with five convolutions and three dense layers.

The work of a convolution over B images, onto h x h x c from C channels with a k x k kernel, is
2 B h^2 k^2 C c, padding included; that of a dense layer 2 B inputs outputs. Training adds as much
for the gradient of the weights and as much for that of the inputs, which the first convolution
does not need: nothing asks for the derivative of the loss by the data.
"""

from __future__ import annotations

from typing import NamedTuple

from suite.spec.workload import Dims, Preset, WorkloadSpec


class _Layer(NamedTuple):
    """A layer: how often its weights are used per image, its weights, and its outputs."""

    uses: int
    weights: int
    outputs: int


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    first, *rest = (2 * batch * layer.uses * layer.weights for layer in _layers(dims))
    forward = first + sum(rest)
    if mode == "infer":
        return {"forward": forward}
    return {"forward": forward, "weight_gradient": forward, "input_gradient": sum(rest)}


def side_of(dims: Dims) -> int:
    """Returns the height and width, in pixels, of what reaches the dense layers."""
    return _pooled(_sides(dims)[-1])


def _sides(dims: Dims) -> tuple[int, int, int]:
    """Returns the height and width that leave the first, the second and the other convolutions."""
    first = (dims["image"] + 2 * 2 - 11) // 4 + 1
    second = _pooled(first)
    return first, second, _pooled(second)


def _pooled(side: int) -> int:
    return (side - 3) // 2 + 1


def _layers(dims: Dims) -> list[_Layer]:
    width, hidden, classes = (dims[name] for name in ("width", "hidden", "classes"))
    first, second, third = _sides(dims)
    return [
        _Layer(first**2, 11**2 * 3 * width, width),
        _Layer(second**2, 5**2 * width * 3 * width, 3 * width),
        _Layer(third**2, 3**2 * 3 * width * 6 * width, 6 * width),
        _Layer(third**2, 3**2 * 6 * width * 4 * width, 4 * width),
        _Layer(third**2, 3**2 * 4 * width * 4 * width, 4 * width),
        _Layer(1, side_of(dims) ** 2 * 4 * width * hidden, hidden),
        _Layer(1, hidden * hidden, hidden),
        _Layer(1, hidden * classes, classes),
    ]


def _preset(*, image: int, classes: int, width: int, hidden: int, batch: int, source: str) -> Preset:
    dims = {"image": image, "classes": classes, "width": width, "hidden": hidden}
    parameters = sum(layer.weights + layer.outputs for layer in _layers(dims))
    return Preset(dims, parameters, batch={"train": batch, "infer": batch}, source=source)


ALEXNET = WorkloadSpec(
    name="alexnet",
    family="convolutional",
    summary="The network that started it: convolutions and dense layers, trained with SGD and momentum",
    version=1,
    item="image",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            image=96,
            classes=10,
            width=8,
            hidden=128,
            batch=8,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "2012": _preset(
            image=224,
            classes=1_000,
            width=64,
            hidden=4_096,
            batch=128,
            source="Krizhevsky et al. (2012), in one tower as torchvision has it: 61,100,840 parameters",
        ),
    },
    default_preset="2012",
    layers=("unroll",),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.alexnet:build",
)
