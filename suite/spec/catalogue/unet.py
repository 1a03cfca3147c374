"""U-Net of denoising diffusion: it learns to tell the noise in images, and samples images from noise.

A step works on B images. In 'train' each is an image with noise of one random level, and the network
is to tell the noise. In 'sample' each is on its way from noise to image: a step is one of the T
(`steps`) steps of the sampling loop, in which the network is run once for every image. So an item
is a 'noised image', put through the network once; a finished sample takes T of them.

The work of a convolution is in `convolutions.py`, two FLOPs per multiply-add. An attention of S
pixels and C channels is 2 B (S^2 C + S^2 C), its gradient twice that, and its dense layers are
counted with the convolutions. Of the input gradient, 'input_gradient' is the textbook's figure and
'input_gradient_zeros' the products with the zeros that strides spread in; the first convolution, and the
first layer of the time embedding, need none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from suite.spec.catalogue.convolutions import Conv
from suite.spec.workload import Dims, Preset, WorkloadSpec

LEVELS = ("level1", "level2", "level3", "level4")
# The first of the products: of the time embedding, and of the image.
WITHOUT_INPUT_GRADIENT = 2


class _Layer(NamedTuple):
    """A residual block: side of the image in pixels, channels, and whether attention follows."""

    size: int
    inputs: int
    outputs: int
    attends: bool


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    products = list(_products(dims))
    per_item = [2 * batch * product.multiply_adds for product in products]
    attention = sum(2 * 2 * batch * each.size**4 * each.outputs for each in _layers(dims) if each.attends)
    forward = {"forward": sum(per_item), "forward_attention": attention}
    if mode == "sample":
        return forward
    return forward | {
        "weight_gradient": sum(per_item),
        "input_gradient": sum(per_item[WITHOUT_INPUT_GRADIENT:]),
        "input_gradient_zeros": sum(2 * batch * product.zero_multiply_adds for product in products),
        "gradient_attention": 2 * attention,
    }


def widths_of(dims: Dims) -> tuple[int, ...]:
    """Returns the channels at each size of the image, the largest first; there may be fewer than four."""
    return tuple(dims["width"] * dims[level] for level in LEVELS if dims[level])


def _layers(dims: Dims) -> Iterator[_Layer]:
    """Yields every layer on the way down, in the middle and on the way up."""
    widths, last = widths_of(dims), len(widths_of(dims)) - 1
    sizes = [(dims["image"] >> level, width) for level, width in enumerate(widths)]
    skips = [widths[0]]
    for level, (size, width) in enumerate(sizes):
        for _ in range(dims["layers"]):
            yield _Layer(size, skips[-1], width, size == dims["attention_image"])
            skips.append(width)
        skips += [width] * (level < last)
    smallest, below = sizes[-1]
    yield _Layer(smallest, below, below, attends=True)
    yield _Layer(smallest, below, below, attends=False)
    for size, width in reversed(sizes):
        for _ in range(dims["layers"] + 1):
            yield _Layer(size, below + skips.pop(), width, size == dims["attention_image"])
            below = width


def _products(dims: Dims) -> Iterator[Conv]:
    """Yields every convolution and every dense layer, which is one of a single pixel or of 1x1."""
    image, width, time = dims["image"], dims["width"], 4 * dims["width"]
    yield Conv(1, 1, 1, width, time)
    yield Conv(image, image, 3, 3, width)
    yield Conv(1, 1, 1, time, time)
    for size, inputs, outputs, attends in _layers(dims):
        yield Conv(size, size, 3, inputs, outputs)
        yield Conv(1, 1, 1, time, outputs)
        yield Conv(size, size, 3, outputs, outputs)
        if inputs != outputs:
            yield Conv(size, size, 1, inputs, outputs)
        if attends:
            yield from [Conv(size, size, 1, outputs, outputs)] * 4
    for level, (above, below) in enumerate(pairwise(widths_of(dims))):
        size = image >> level
        yield Conv(size, size // 2, 3, above, above)
        yield Conv(size, size, 3, below, below)
    yield Conv(image, image, 3, width, 3)


def _parameters(dims: Dims) -> int:
    """Kernels and their biases, and a scale and a bias per channel of every norm."""
    products = sum(product.parameters + product.outputs for product in _products(dims))
    norms = sum(each.inputs + (1 + each.attends) * each.outputs for each in _layers(dims)) + dims["width"]
    return products + 2 * norms


def _preset(
    *,
    image: int,
    width: int,
    levels: tuple[int, int, int, int],
    layers: int,
    attention_image: int,
    groups: int,
    steps: int,
    batch: int,
    source: str,
) -> Preset:
    dims = {
        "image": image,
        "width": width,
        **dict(zip(LEVELS, levels, strict=True)),
        "layers": layers,
        "attention_image": attention_image,
        "groups": groups,
        "steps": steps,
    }
    return Preset(dims, _parameters(dims), batch={"train": batch, "sample": batch}, source=source)


UNET = WorkloadSpec(
    name="unet",
    family="diffusion",
    summary="U-Net of denoising diffusion: it learns to tell noise, or samples; T items make a sample",
    version=1,
    item="noised image",
    modes=("train", "sample"),
    presets={
        "smoke": _preset(
            image=8,
            width=8,
            levels=(1, 2, 0, 0),
            layers=1,
            attention_image=2,
            groups=4,
            steps=4,
            batch=4,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "ddpm-cifar10": _preset(
            image=32,
            width=128,
            levels=(1, 2, 2, 2),
            layers=2,
            attention_image=16,
            groups=32,
            steps=1_000,
            batch=128,
            source="Ho et al. (2020), google/ddpm-cifar10-32: 35,746,307 parameters, without dropout",
        ),
    },
    default_preset="ddpm-cifar10",
    layers=("unroll",),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.unet:build",
)
