"""One dense layer: the classic first comparison of a CPU with a GPU."""

from __future__ import annotations

from suite.spec.workload import Dims, Preset, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of y = x W + b: a multiplication and an addition per weight and sample."""
    return {"forward": 2 * batch * dims["inputs"] * dims["outputs"]}


def _preset(inputs: int, outputs: int, batch: int, source: str) -> Preset:
    dims = {"inputs": inputs, "outputs": outputs}
    return Preset(dims, parameters=(inputs + 1) * outputs, batch={"infer": batch}, source=source)


LINEAR = WorkloadSpec(
    name="linear",
    family="dense",
    summary="One dense layer, applied to a batch",
    version=2,
    item="sample",
    modes=("infer",),
    presets={
        "smoke": _preset(256, 256, 16, "jaxmark's own: a correctness check in milliseconds"),
        "1k": _preset(1_000, 1_000, 32, "The usual first layer of a tutorial: 1,000 units, batch 32"),
        "10k": _preset(10_000, 10_000, 1_000, "The usual tutorial's large layer: 10,000 units, batch 1,000"),
    },
    default_preset="1k",
    layers=("unroll",),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.linear:build",
)
