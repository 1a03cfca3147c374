"""GPT-2: a decoder-only transformer, as a language model over random tokens.

The work of a step, for B sequences of S tokens, depth L, width D, vocabulary V, two FLOPs per
multiply-add:

    blocks              2 B S L (3 D^2 + D^2 + 8 D^2)    qkv, output, feed-forward
    attention, all      2 B L (S^2 D + S^2 D)            scores and mixing, as executed
    unembedding         2 B S D V

Plain attention computes every pair of positions and masks half of them away. The terms keep the
two apart: 'attention_causal' holds the S (S + 1) / 2 pairs that count, 'attention_masked' the rest.
The gradient of a product is two products, and the embedding below the first block needs the
gradient of its input: training is three times the forward pass, exactly.
"""

from __future__ import annotations

from suite.spec.workload import Dims, Preset, Setting, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    seq, depth, width, vocab = (dims[name] for name in ("seq", "depth", "width", "vocab"))
    pairs = seq * (seq + 1) // 2
    per_pair = 2 * 2 * batch * depth * width
    forward = {
        "blocks": 2 * batch * seq * depth * 12 * width**2,
        "attention_causal": per_pair * pairs,
        "attention_masked": per_pair * (seq**2 - pairs),
        "unembedding": 2 * batch * seq * width * vocab,
    }
    if mode == "infer":
        return {f"forward_{name}": value for name, value in forward.items()}
    gradient = {f"gradient_{name}": 2 * value for name, value in forward.items()}
    return {f"forward_{name}": value for name, value in forward.items()} | gradient


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the state that a step does not move: positions beyond the sequence.

    The token table is read whole, as the head. A training step updates every row.
    """
    unread_rows = dims["context"] - dims["seq"]
    return unread_rows * dims["width"] * width if mode == "infer" else 0


def _parameters(vocab: int, context: int, width: int, depth: int) -> int:
    block = 12 * width**2 + 13 * width
    return (vocab + context) * width + depth * block + 2 * width


def _preset(
    *, vocab: int, context: int, width: int, heads: int, depth: int, batch: int, source: str
) -> Preset:
    return Preset(
        dims={
            "vocab": vocab,
            "context": context,
            "seq": context,
            "width": width,
            "heads": heads,
            "depth": depth,
        },
        parameters=_parameters(vocab, context, width, depth),
        batch={"train": batch, "infer": batch},
        source=source,
    )


GPT = WorkloadSpec(
    name="gpt",
    family="transformer",
    summary="GPT-2 language model, trained with AdamW",
    version=2,
    item="token",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            vocab=64,
            context=16,
            width=64,
            heads=4,
            depth=2,
            batch=4,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "char": _preset(
            vocab=65,
            context=256,
            width=384,
            heads=6,
            depth=6,
            batch=64,
            source="Karpathy, nanoGPT train_shakespeare_char (2022), without dropout and with biases",
        ),
        "124m": _preset(
            vocab=50_257,
            context=1_024,
            width=768,
            heads=12,
            depth=12,
            batch=8,
            source="Radford et al., GPT-2 (2019): the smallest, 124,439,808 parameters, without dropout",
        ),
    },
    default_preset="char",
    layers=("scan", "unroll"),
    flops=flops,
    items=lambda dims, mode, batch: batch * dims["seq"],
    build="suite.workloads.gpt:build",
    unmoved_bytes=unmoved_bytes,
    settings={"seq": Setting("tokens per sequence", limit="context")},
)
