"""Mixtral: a decoder with a choice of experts in each block, as a language model over random tokens.

The work of a step that reads T tokens of B sequences, depth L, width D, H heads of size K = D / H,
G of them for keys and values, E experts of hidden width M, N chosen for each token, vocabulary V,
two FLOPs per multiply-add; attention, gradients and rematerialisation are in `decoder.py`:

    projections         2 T L (D (H + 2 G) K + D^2)      qkv and output
    router              2 T L D E
    experts             2 N T L 3 D M                    gate, up and down for each choice
    experts_spare       2 (E C - N T) L 3 D M            slots beyond one for each choice
    unembedding         2 T D V                          of B tokens alone where the last is asked for

An expert has C slots: N T / E, its even share of the choices, times the capacity, rounded up. They
are computed whether taken or not. In decode, where no token may be dropped, C is T, as it is
wherever the capacity is that large. Choices that find no slot count as if they had: those dropped
are among the step's outputs.

A block's gradient asks for all of its products, the last included: that of a choice's weight needs
the expert's answer.
"""

from __future__ import annotations

from suite.spec.catalogue import decoder
from suite.spec.catalogue.llama import attention_weights, kept
from suite.spec.workload import Dims, Preset, Setting, WorkloadSpec


def slots(dims: Dims, mode: str, batch: int) -> int:
    """Returns the slots of each expert."""
    tokens = decoder.tokens(dims, mode, batch)
    share = -(-tokens * dims["chosen"] * dims["capacity"] // (dims["experts"] * 100))
    return tokens if mode == "decode" else min(share, tokens)


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    depth, width = dims["depth"], dims["width"]
    tokens = decoder.tokens(dims, mode, batch)
    attention = decoder.attention(dims, mode, batch, mixed=width)
    choices, expert = tokens * dims["chosen"], 3 * width * dims["hidden"]
    spare = dims["experts"] * slots(dims, mode, batch) - choices
    predicted = tokens if mode == "train" else batch
    blocks = {
        "projections": 2 * tokens * depth * attention_weights(dims),
        **attention,
        "router": 2 * tokens * depth * width * dims["experts"],
        "experts": 2 * choices * depth * expert,
        "experts_spare": 2 * spare * depth * expert,
    }
    forward = blocks | {"unembedding": 2 * predicted * width * dims["vocab"]}
    return decoder.step(forward, mode, rematerialised=dims["remat"] * sum(blocks.values()))


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the state that a step does not move: of the cache, and embeddings that no token asks for.

    The experts' weights are all read, whether a token chose them or not. A training step updates
    every row.
    """
    if mode == "train":
        return 0
    unread = max(dims["vocab"] - decoder.tokens(dims, mode, batch), 0) * dims["width"] * width
    return unread + decoder.unmoved_cache_bytes(dims, mode, batch, width, kept=kept(dims))


def _parameters(dims: Dims) -> int:
    width, experts = dims["width"], dims["experts"]
    block = attention_weights(dims) + width * experts + experts * 3 * width * dims["hidden"] + 2 * width
    return 2 * dims["vocab"] * width + dims["depth"] * block + width


def _preset(
    *,
    vocab: int,
    context: int,
    seq: int,
    width: int,
    heads: int,
    groups: int,
    hidden: int,
    experts: int,
    depth: int,
    theta: int,
    batch: dict[str, int],
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
        "experts": experts,
        "chosen": 2,
        "capacity": 125,
        "depth": depth,
        "theta": theta,
        "remat": 0,
    }
    return Preset(dims, _parameters(dims), batch=batch, source=source)


MOE = WorkloadSpec(
    name="moe",
    family="transformer",
    summary="Mixtral language model with a choice of experts, trained with AdamW, and how it writes",
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
            # Small, because rounding sends a token elsewhere now and then: on other chips it must not show.
            hidden=16,
            experts=8,
            depth=2,
            theta=10_000,
            batch=dict.fromkeys(decoder.MODES, 4),
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "8x7b": _preset(
            vocab=32_000,
            context=32_768,
            seq=2_048,
            width=4_096,
            heads=32,
            groups=8,
            hidden=14_336,
            experts=8,
            depth=32,
            theta=1_000_000,
            # In decode enough for nearly all experts to be chosen: fewer tokens need fewer of the bytes.
            batch={"train": 1, "prefill": 4, "decode": 16},
            source="Jiang et al., Mixtral of Experts (2024), 8x7B: 46,702,792,704 parameters",
        ),
    },
    default_preset="8x7b",
    layers=("scan", "unroll"),
    layers_of=decoder.LAYERS_OF,
    flops=flops,
    items=decoder.tokens,
    build="suite.workloads.moe:build",
    unmoved_bytes=unmoved_bytes,
    settings=decoder.SETTINGS
    | {
        "capacity": Setting(
            "slots of each expert, in percent of its even share",
            limit=400,
            least=100,
            modes=("train", "prefill"),
        )
    },
)
