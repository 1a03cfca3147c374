"""Llama 3: a decoder-only transformer, as a language model over random tokens.

The work of a step that reads T tokens of B sequences, depth L, width D, H heads of size K = D / H,
G of them for keys and values, hidden width M, vocabulary V, two FLOPs per multiply-add; attention,
gradients and rematerialisation are in `decoder.py`:

    blocks              2 T L (D (H + 2 G) K + D^2 + 3 D M)    qkv, output, gate, up and down
    unembedding         2 T D V                                of B tokens alone where the last is asked for

A block's gradient does not ask for its last product, D M: it is not rematerialised.
"""

from __future__ import annotations

from suite.spec.catalogue import decoder
from suite.spec.workload import Dims, Preset, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    depth, width = dims["depth"], dims["width"]
    tokens = decoder.tokens(dims, mode, batch)
    attention = decoder.attention(dims, mode, batch, mixed=width)
    predicted = tokens if mode == "train" else batch
    block, last = _weights(dims), width * dims["hidden"]
    forward = {
        "blocks": 2 * tokens * depth * block,
        **attention,
        "unembedding": 2 * predicted * width * dims["vocab"],
    }
    again = 2 * tokens * depth * (block - last) + sum(attention.values())
    return decoder.step(forward, mode, rematerialised=dims["remat"] * again)


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the state that a step does not move: of the cache, and of the embedding.

    An embedding that is also the head is read whole. A training step updates every row.
    """
    if mode == "train":
        return 0
    read_rows = dims["vocab"] if dims["tied"] else decoder.tokens(dims, mode, batch)
    unread = max(dims["vocab"] - read_rows, 0) * dims["width"] * width
    return unread + decoder.unmoved_cache_bytes(dims, mode, batch, width, kept=kept(dims))


def kept(dims: Dims) -> int:
    """Returns how many values the cache keeps of one token in one layer."""
    return 2 * dims["groups"] * (dims["width"] // dims["heads"])


def attention_weights(dims: Dims) -> int:
    """Returns the weights of one layer's attention."""
    return dims["width"] * (2 * dims["width"] + kept(dims))


def _weights(dims: Dims) -> int:
    return attention_weights(dims) + 3 * dims["width"] * dims["hidden"]


def _parameters(dims: Dims) -> int:
    width, tables = dims["width"], 1 if dims["tied"] else 2
    return tables * dims["vocab"] * width + dims["depth"] * (_weights(dims) + 2 * width) + width


def _preset(
    *,
    vocab: int,
    context: int,
    seq: int,
    width: int,
    heads: int,
    groups: int,
    hidden: int,
    depth: int,
    tied: bool,
    theta: int,
    stretch: int,
    trained_context: int,
    batch: int,
    source: str,
) -> Preset:
    dims = {
        "vocab": vocab,
        "context": context,
        "seq": seq,
        "width": width,
        "heads": heads,
        "groups": groups,
        "hidden": hidden,
        "depth": depth,
        "tied": int(tied),
        "theta": theta,
        "stretch": stretch,
        "trained_context": trained_context,
        "remat": 0,
    }
    return Preset(dims, _parameters(dims), batch=dict.fromkeys(decoder.MODES, batch), source=source)


LLAMA = WorkloadSpec(
    name="llama",
    family="transformer",
    summary="Llama 3 language model, trained with AdamW, and how it writes",
    version=1,
    item="token",
    modes=decoder.MODES,
    presets={
        "smoke": _preset(
            vocab=64,
            context=16,
            seq=16,
            width=64,
            heads=4,
            groups=2,
            hidden=128,
            depth=2,
            tied=True,
            theta=10_000,
            stretch=8,
            trained_context=64,
            batch=4,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "1b": _preset(
            vocab=128_256,
            context=131_072,
            seq=2_048,
            width=2_048,
            heads=32,
            groups=8,
            hidden=8_192,
            depth=16,
            tied=True,
            theta=500_000,
            stretch=32,
            trained_context=8_192,
            batch=4,
            source="Meta, Llama 3.2 1B model card and config (2024): 1,235,814,400 parameters",
        ),
        "8b": _preset(
            vocab=128_256,
            context=8_192,
            seq=2_048,
            width=4_096,
            heads=32,
            groups=8,
            hidden=14_336,
            depth=32,
            tied=False,
            theta=500_000,
            stretch=1,
            trained_context=8_192,
            batch=4,
            source="Meta, Llama 3 8B model card and config (2024): 8,030,261,248 parameters",
        ),
    },
    default_preset="1b",
    layers=("scan", "unroll"),
    layers_of=decoder.LAYERS_OF,
    flops=flops,
    items=decoder.tokens,
    build="suite.workloads.llama:build",
    unmoved_bytes=unmoved_bytes,
    settings=decoder.SETTINGS,
)
