"""Vision transformer: image classification with attention between patches.

The work of a step, for B images of N patches of P x P pixels, S = N + 1 tokens, depth L, width D,
C classes, two FLOPs per multiply-add:

    patches       2 B N 3 P^2 D
    blocks        2 B S L (3 D^2 + D^2 + 8 D^2)    qkv, output, feed-forward
    attention     2 B L (S^2 D + S^2 D)            scores and mixing
    head          2 B D C                          of the class token alone

The gradient of a product is two products, but that of the patches' is one: nothing asks for the
derivative of the loss by the data. Rematerialised, blocks and attention are computed once more,
but for a block's last product, 4 D^2, whose result its gradient does not ask for.
"""

from __future__ import annotations

from suite.spec.workload import REMAT, Dims, Preset, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    depth, width = dims["depth"], dims["width"]
    per_width_squared = 2 * batch * _tokens(dims) * depth * width**2
    forward = {
        "patches": 2 * batch * (_tokens(dims) - 1) * _pixels(dims) * width,
        "blocks": 12 * per_width_squared,
        "attention": 2 * 2 * batch * depth * _tokens(dims) ** 2 * width,
        "head": 2 * batch * width * dims["classes"],
    }
    terms = {f"forward_{name}": value for name, value in forward.items()}
    if mode == "infer":
        return terms
    twice = {f"gradient_{name}": 2 * value for name, value in forward.items()}
    terms |= twice | {"gradient_patches": forward["patches"]}
    if dims["remat"]:
        terms["rematerialised"] = 8 * per_width_squared + forward["attention"]
    return terms


def _tokens(dims: Dims) -> int:
    """Returns the patches and the class token."""
    return (dims["image"] // dims["patch"]) ** 2 + 1


def _pixels(dims: Dims) -> int:
    """Returns the values of a patch, of three colours."""
    return 3 * dims["patch"] ** 2


def _parameters(dims: Dims) -> int:
    width = dims["width"]
    embedding = (_pixels(dims) + 1) * width + width + _tokens(dims) * width
    block = 12 * width**2 + 13 * width
    return embedding + dims["depth"] * block + 2 * width + (width + 1) * dims["classes"]


def _preset(
    *,
    image: int = 224,
    patch: int = 16,
    classes: int = 1_000,
    width: int,
    heads: int,
    depth: int,
    batch: int,
    source: str,
) -> Preset:
    dims = {
        "image": image,
        "patch": patch,
        "classes": classes,
        "width": width,
        "heads": heads,
        "depth": depth,
        "remat": 0,
    }
    return Preset(dims, _parameters(dims), batch={"train": batch, "infer": batch}, source=source)


VIT = WorkloadSpec(
    name="vit",
    family="transformer",
    summary="Vision transformer, trained with AdamW",
    version=1,
    item="image",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            image=16,
            patch=4,
            classes=10,
            width=32,
            heads=2,
            depth=2,
            batch=4,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "digits": _preset(
            image=8,
            patch=4,
            classes=10,
            width=64,
            heads=4,
            depth=4,
            batch=64,
            source="jaxmark's own: the 8x8 pixels of scikit-learn's digits, three times over",
        ),
        "ti16": _preset(
            width=192,
            heads=3,
            depth=12,
            batch=64,
            source="Touvron et al., DeiT (2020): ViT-Ti/16 at 224 pixels, 5,717,416 parameters",
        ),
        "s16": _preset(
            width=384,
            heads=6,
            depth=12,
            batch=64,
            source="Touvron et al., DeiT (2020): ViT-S/16 at 224 pixels, 22,050,664 parameters",
        ),
        "b16": _preset(
            width=768,
            heads=12,
            depth=12,
            batch=64,
            source="Dosovitskiy et al. (2020): ViT-B/16 at 224 pixels, 86,567,656 parameters",
        ),
        "l16": _preset(
            width=1_024,
            heads=16,
            depth=24,
            batch=32,
            source="Dosovitskiy et al. (2020): ViT-L/16 at 224 pixels, 304,326,632 parameters",
        ),
    },
    default_preset="ti16",
    layers=("scan", "unroll"),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.vit:build",
    settings={"remat": REMAT},
)
