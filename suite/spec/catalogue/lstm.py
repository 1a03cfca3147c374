"""LSTM: a recurrent language model over random tokens.

The work of a step, for B sequences of S tokens, depth L, width D, vocabulary V, two FLOPs per
multiply-add. Four gates take the input and the output of the step before, as wide as each other:

    input        2 B S L 4 D^2    one product for all positions
    recurrent    2 B S L 4 D^2    S products, each waiting for the one before
    head         2 B S D V

The gradient of a product is two products, and the embedding below the first layer needs the
gradient of its input: training is three times the forward pass, exactly.
"""

from __future__ import annotations

from suite.spec.workload import Dims, Preset, Setting, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    seq, depth, width, vocab = (dims[name] for name in ("seq", "depth", "width", "vocab"))
    tokens = batch * seq
    forward = {
        "input": 2 * tokens * depth * 4 * width**2,
        "recurrent": 2 * tokens * depth * 4 * width**2,
        "head": 2 * tokens * width * vocab,
    }
    terms = {f"forward_{name}": value for name, value in forward.items()}
    if mode == "infer":
        return terms
    return terms | {f"gradient_{name}": 2 * value for name, value in forward.items()}


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the state that a step does not move: embedding rows of tokens that do not occur.

    Counted as if no token occurred twice, so a little less than is really left alone. A training
    step updates every row.
    """
    if mode == "train":
        return 0
    return max(dims["vocab"] - batch * dims["seq"], 0) * dims["width"] * width


def _parameters(vocab: int, width: int, depth: int) -> int:
    layer = 8 * width**2 + 4 * width
    return vocab * width + depth * layer + (width + 1) * vocab


def _preset(*, vocab: int, seq: int, width: int, batch: int, source: str, depth: int = 2) -> Preset:
    return Preset(
        dims={"vocab": vocab, "seq": seq, "width": width, "depth": depth},
        parameters=_parameters(vocab, width, depth),
        batch={"train": batch, "infer": batch},
        source=source,
    )


LSTM = WorkloadSpec(
    name="lstm",
    family="recurrent",
    summary="LSTM language model, trained with SGD and clipped gradients",
    version=1,
    item="token",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            vocab=64,
            seq=8,
            width=32,
            batch=4,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "small": _preset(
            vocab=10_000,
            seq=20,
            width=200,
            batch=20,
            source="Zaremba et al. (2014), the non-regularised LSTM: 2 layers of 200 units, 20 steps",
        ),
        "medium": _preset(
            vocab=10_000,
            seq=35,
            width=650,
            batch=20,
            source="Zaremba et al. (2014), medium: 2 layers of 650 units, 35 steps, without dropout",
        ),
        "large": _preset(
            vocab=10_000,
            seq=35,
            width=1_500,
            batch=20,
            source="Zaremba et al. (2014), large: 2 layers of 1,500 units, 35 steps, without dropout",
        ),
    },
    default_preset="medium",
    layers=("unroll", "scan"),
    flops=flops,
    items=lambda dims, mode, batch: batch * dims["seq"],
    build="suite.workloads.lstm:build",
    unmoved_bytes=unmoved_bytes,
    settings={"seq": Setting("tokens per sequence", limit=4_096)},
)
