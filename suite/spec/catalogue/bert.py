"""BERT: a transformer encoder that reads a sequence from both sides.

The work of a step, for B sequences of S tokens, M of them to be predicted, depth L, width D,
vocabulary V, two FLOPs per multiply-add:

    blocks        2 B S L (3 D^2 + D^2 + 8 D^2)    qkv, output, feed-forward
    attention     2 B L (S^2 D + S^2 D)            scores and mixing
    pooler        2 B D^2                          infer: of the first token
    head          2 B M (D^2 + D V)                train: of the tokens to predict alone

The gradient of a product is two products, and the embedding below the first block needs the
gradient of its input: training is three times its forward pass, exactly. Rematerialised, blocks
and attention are computed once more: norms come last in a block, so its gradient needs all of it.

Parameters: the published figure is that of the encoder with its pooler, which is what 'infer'
runs. 'train' has the encoder, no pooler (next-sentence prediction, which it served, is left out)
and the head for masked tokens: a dense layer, a norm and a bias for each row of the embedding,
which is also the last layer. Base: 109,482,240 - 590,592 + 622,650 = 109,514,298.
"""

from __future__ import annotations

from suite.spec.workload import REMAT, Dims, Preset, Setting, WorkloadSpec

MASK_TOKEN = 103


def masked_tokens(dims: Dims) -> int:
    """Returns how many tokens of each sequence are to be predicted: 15%, rounded, at least one."""
    return max(1, (15 * dims["seq"] + 50) // 100)


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    seq, depth, width = dims["seq"], dims["depth"], dims["width"]
    forward = {
        "blocks": 2 * batch * seq * depth * 12 * width**2,
        "attention": 2 * 2 * batch * depth * seq**2 * width,
    }
    if mode == "infer":
        forward["pooler"] = 2 * batch * width**2
        return {f"forward_{name}": value for name, value in forward.items()}
    forward["head"] = 2 * batch * masked_tokens(dims) * (width**2 + width * dims["vocab"])
    terms = {f"forward_{name}": value for name, value in forward.items()}
    terms |= {f"gradient_{name}": 2 * value for name, value in forward.items()}
    if dims["remat"]:
        terms["rematerialised"] = forward["blocks"] + forward["attention"]
    return terms


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the state that a step does not move: rows of tokens and positions that do not occur.

    Counted as if no token occurred twice, so a little less than is really left alone. A training
    step updates every row.
    """
    if mode == "train":
        return 0
    unread_tokens = max(dims["vocab"] - batch * dims["seq"], 0)
    return (unread_tokens + dims["context"] - dims["seq"]) * dims["width"] * width


def _encoder_parameters(vocab: int, context: int, width: int, depth: int) -> int:
    embeddings = (vocab + context + 2) * width + 2 * width
    return embeddings + depth * (12 * width**2 + 13 * width)


def _preset(
    *,
    vocab: int = 30_522,
    context: int = 512,
    seq: int = 128,
    mask_token: int = MASK_TOKEN,
    width: int,
    heads: int,
    depth: int,
    batch: int,
    source: str,
) -> Preset:
    encoder, square = _encoder_parameters(vocab, context, width, depth), (width + 1) * width
    return Preset(
        dims={
            "vocab": vocab,
            "context": context,
            "seq": seq,
            "mask_token": mask_token,
            "width": width,
            "heads": heads,
            "depth": depth,
            "remat": 0,
        },
        parameters=encoder + square,
        mode_parameters={"train": encoder + square + 2 * width + vocab},
        batch={"train": batch, "infer": batch},
        source=source,
    )


BERT = WorkloadSpec(
    name="bert",
    family="transformer",
    summary="BERT encoder, trained on masked tokens with AdamW",
    version=1,
    item="token",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            vocab=64,
            context=20,
            seq=16,
            mask_token=3,
            width=64,
            heads=4,
            depth=2,
            batch=4,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "base": _preset(
            width=768,
            heads=12,
            depth=12,
            batch=32,
            source="Devlin et al. (2018), base, without dropout: 109,482,240 parameters with pooler",
        ),
        "large": _preset(
            width=1_024,
            heads=16,
            depth=24,
            batch=32,
            source="Devlin et al. (2018), large, without dropout: 335,141,888 parameters with pooler",
        ),
    },
    default_preset="base",
    layers=("scan", "unroll"),
    flops=flops,
    items=lambda dims, mode, batch: batch * dims["seq"],
    build="suite.workloads.bert:build",
    unmoved_bytes=unmoved_bytes,
    settings={"seq": Setting("tokens per sequence", limit="context"), "remat": REMAT},
)
