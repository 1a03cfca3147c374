"""ResNet: image classification with residual blocks of convolutions.

The work of a convolution is in `convolutions.py`, two FLOPs per multiply-add. Of the input
gradient, 'input_gradient' is the textbook's figure and 'input_gradient_zeros' the products with the
zeros that strides spread in. The stem needs no input gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

from suite.spec.catalogue.convolutions import Conv
from suite.spec.workload import Dims, Preset, WorkloadSpec

STAGES = ("stage1", "stage2", "stage3", "stage4")


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    stem, *convolutions = _convolutions(dims)
    head = _channels(dims) * dims["classes"]
    behind_stem = sum(conv.multiply_adds for conv in convolutions) + head
    forward = stem.multiply_adds + behind_stem
    if mode == "infer":
        return {"forward": 2 * batch * forward}
    return {
        "forward": 2 * batch * forward,
        "weight_gradient": 2 * batch * forward,
        "input_gradient": 2 * batch * behind_stem,
        "input_gradient_zeros": 2 * batch * sum(conv.zero_multiply_adds for conv in convolutions),
    }


def stages_of(dims: Dims) -> tuple[int, ...]:
    """Returns the number of blocks in each stage; a small network has fewer than four."""
    return tuple(dims[stage] for stage in STAGES if dims[stage])


def _convolutions(dims: Dims) -> Iterator[Conv]:
    """Yields every convolution, the stem first."""
    width, imagenet = dims["width"], bool(dims["imagenet_stem"])
    size = _halve(dims["image"]) if imagenet else dims["image"]
    yield Conv(dims["image"], size, 7 if imagenet else 3, 3, width)
    size = _halve(size) if imagenet else size
    channels = width
    for stage, count in enumerate(stages_of(dims)):
        for index in range(count):
            size_out = _halve(size) if stage > 0 and index == 0 else size
            block = _bottleneck if dims["bottleneck"] else _basic
            yield from block(size, size_out, channels, width * 2**stage)
            channels = width * 2**stage * _expansion(dims)
            size = size_out


def _basic(size: int, size_out: int, inputs: int, width: int) -> Iterator[Conv]:
    yield Conv(size, size_out, 3, inputs, width)
    yield Conv(size_out, size_out, 3, width, width)
    if size != size_out or inputs != width:
        yield Conv(size, size_out, 1, inputs, width)


def _bottleneck(size: int, size_out: int, inputs: int, width: int) -> Iterator[Conv]:
    yield Conv(size, size, 1, inputs, width)
    yield Conv(size, size_out, 3, width, width)
    yield Conv(size_out, size_out, 1, width, 4 * width)
    if size != size_out or inputs != 4 * width:
        yield Conv(size, size_out, 1, inputs, 4 * width)


def _halve(size: int) -> int:
    return -(-size // 2)


def _expansion(dims: Dims) -> int:
    return 4 if dims["bottleneck"] else 1


def _channels(dims: Dims) -> int:
    """Returns the channels that reach the head."""
    last_stage = len(stages_of(dims)) - 1
    return (dims["width"] << last_stage) * _expansion(dims)


def _parameters(dims: Dims) -> int:
    """Kernels, a scale and a bias per channel after each, and the dense head."""
    body = sum(conv.parameters + 2 * conv.outputs for conv in _convolutions(dims))
    return body + (_channels(dims) + 1) * dims["classes"]


def _preset(
    *,
    image: int,
    classes: int,
    width: int,
    stages: tuple[int, int, int, int],
    bottleneck: bool,
    imagenet_stem: bool,
    batch: int,
    source: str,
) -> Preset:
    dims = {
        "image": image,
        "classes": classes,
        "width": width,
        "bottleneck": int(bottleneck),
        "imagenet_stem": int(imagenet_stem),
        **dict(zip(STAGES, stages, strict=True)),
    }
    return Preset(dims, _parameters(dims), batch={"train": batch, "infer": batch}, source=source)


RESNET = WorkloadSpec(
    name="resnet",
    family="convolutional",
    summary="Residual network with BatchNorm, trained with SGD and momentum",
    version=2,
    item="image",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            image=16,
            classes=10,
            width=8,
            stages=(1, 1, 0, 0),
            bottleneck=False,
            imagenet_stem=False,
            batch=8,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "18": _preset(
            image=224,
            classes=1_000,
            width=64,
            stages=(2, 2, 2, 2),
            bottleneck=False,
            imagenet_stem=True,
            batch=64,
            source="He et al. (2015), ResNet-18: 11,689,512 parameters",
        ),
        "50": _preset(
            image=224,
            classes=1_000,
            width=64,
            stages=(3, 4, 6, 3),
            bottleneck=True,
            imagenet_stem=True,
            batch=64,
            source="He et al. (2015), ResNet-50 with torchvision's strides (v1.5): 25,557,032 parameters",
        ),
        "152": _preset(
            image=224,
            classes=1_000,
            width=64,
            stages=(3, 8, 36, 3),
            bottleneck=True,
            imagenet_stem=True,
            batch=64,
            source="He et al. (2015), ResNet-152 with torchvision's strides (v1.5): 60,192,808 parameters",
        ),
    },
    default_preset="18",
    layers=("unroll",),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.resnet:build",
)
