"""GPT-2: a decoder-only transformer, as a language model over random tokens.

The work of a step that reads T tokens of B sequences, depth L, width D, vocabulary V, two FLOPs
per multiply-add; attention, gradients and rematerialisation are in `decoder.py`:

    blocks              2 T L (3 D^2 + D^2 + 8 D^2)      qkv, output, feed-forward
    unembedding         2 T D V                          of B tokens alone where the last is asked for

A block's gradient does not ask for its last product, 4 D^2: it is not rematerialised.
"""

from __future__ import annotations

from suite.spec.catalogue import decoder
from suite.spec.workload import Dims, Preset, WorkloadSpec


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    depth, width, vocab = (dims[name] for name in ("depth", "width", "vocab"))
    tokens = decoder.tokens(dims, mode, batch)
    attention = decoder.attention(dims, mode, batch, mixed=width)
    predicted = tokens if mode == "train" else batch
    forward = {
        "blocks": 2 * tokens * depth * 12 * width**2,
        **attention,
        "unembedding": 2 * predicted * width * vocab,
    }
    again = 2 * tokens * depth * 8 * width**2 + sum(attention.values())
    return decoder.step(forward, mode, rematerialised=dims["remat"] * again)


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the state that a step does not move: positions that no token stands at, and of the cache.

    The token table is read whole, as the head. A training step updates every row of both.
    """
    if mode == "train":
        return 0
    read_rows = 1 if mode == "decode" else dims["seq"]
    unread = (dims["context"] - read_rows) * dims["width"] * width
    return unread + decoder.unmoved_cache_bytes(dims, mode, batch, width, kept=2 * dims["width"])


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
            "remat": 0,
        },
        parameters=_parameters(vocab, context, width, depth),
        batch=dict.fromkeys(decoder.MODES, batch),
        source=source,
    )


GPT = WorkloadSpec(
    name="gpt",
    family="transformer",
    summary="GPT-2 language model, trained with AdamW, and how it writes",
    version=2,
    item="token",
    modes=decoder.MODES,
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
        "char-cpu": _preset(
            vocab=65,
            context=64,
            width=128,
            heads=4,
            depth=4,
            batch=12,
            source="Karpathy, nanoGPT (2022): train_shakespeare_char as its README has it for a CPU",
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
        "355m": _preset(
            vocab=50_257,
            context=1_024,
            width=1_024,
            heads=16,
            depth=24,
            batch=8,
            source="Radford et al., GPT-2 (2019): medium, 354,823,168 parameters, without dropout",
        ),
        "1.5b": _preset(
            vocab=50_257,
            context=1_024,
            width=1_600,
            heads=25,
            depth=48,
            batch=8,
            source="Radford et al., GPT-2 (2019): the largest, 1,557,611,200 parameters, without dropout",
        ),
    },
    default_preset="char",
    layers=("scan", "unroll"),
    layers_of=decoder.LAYERS_OF,
    flops=flops,
    items=decoder.tokens,
    build="suite.workloads.gpt:build",
    unmoved_bytes=unmoved_bytes,
    settings=decoder.SETTINGS,
)
