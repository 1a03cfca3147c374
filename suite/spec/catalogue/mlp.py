"""Multilayer perceptron: dense layers with ReLU, classifying a batch of vectors."""

from __future__ import annotations

from suite.spec.workload import Dims, Preset, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step, two per multiply-add.

    Training adds the gradient of every weight, and the gradient of every layer's input except
    the first: nothing needs the derivative of the loss by the data.
    """
    features, width, depth, classes = (dims[name] for name in ("features", "width", "depth", "classes"))
    first = 2 * batch * features * width
    rest = 2 * batch * ((depth - 1) * width * width + width * classes)
    if mode == "infer":
        return {"forward": first + rest}
    return {"forward": first + rest, "weight_gradient": first + rest, "input_gradient": rest}


def _parameters(features: int, width: int, depth: int, classes: int) -> int:
    return (features + 1) * width + (depth - 1) * (width + 1) * width + (width + 1) * classes


def _preset(features: int, width: int, depth: int, classes: int, batch: int, source: str) -> Preset:
    return Preset(
        dims={"features": features, "width": width, "depth": depth, "classes": classes},
        parameters=_parameters(features, width, depth, classes),
        batch={"train": batch, "infer": batch},
        source=source,
    )


MLP = WorkloadSpec(
    name="mlp",
    family="dense",
    summary="Multilayer perceptron classifier with ReLU, trained with Adam",
    version=2,
    item="sample",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(32, 64, 3, 10, 16, "jaxmark's own: a correctness check in milliseconds"),
        "digits": _preset(64, 128, 2, 10, 64, "jaxmark's own: the 8x8 pixels of scikit-learn's digits"),
        "deep": _preset(
            64, 64, 20, 10, 64, "jaxmark's own: many small layers, so that dispatch and not arithmetic costs"
        ),
        "small": _preset(784, 512, 2, 10, 128, "Chollet, Keras mnist_mlp example (2015): 784-512-512-10"),
        "wide": _preset(
            1_024, 4_096, 2, 1_000, 256, "jaxmark's own: products that fill an accelerator's matrix units"
        ),
    },
    default_preset="small",
    layers=("unroll", "scan"),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.mlp:build",
)
