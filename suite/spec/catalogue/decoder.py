"""The work of a decoder-only language model, as far as all of them have it in common.

A step works on B sequences. In 'train' and 'prefill' it reads S tokens of each and attends over S
positions; in 'decode' it reads one and attends over all S slots of the cache, filled or not. With
depth L and H query heads of size K, two FLOPs per multiply-add:

    attention, read S    2 B L (S^2 H K + S^2 H K)        scores and mixing, as executed
    attention, read 1    2 B L (S H K + S H K)

Plain attention computes every pair of positions and masks half of them away. The terms keep the
two apart: 'attention_causal' holds the S (S + 1) / 2 pairs that count, 'attention_masked' the rest.
In decode how many count grows with the position, and 'attention' holds all.

The gradient of a product is two products, and the embedding below the first block needs the
gradient of its input: training is three times the forward pass, exactly. Rematerialised, a block
is computed once more, but for the products whose results its gradient does not ask for.
"""

from __future__ import annotations

from suite.spec.case import Layers
from suite.spec.workload import REMAT, Dims, Setting

MODES = ("train", "prefill", "decode")
# A scan takes each layer's weights and slots out of the stack, a copy of all that decode reads.
LAYERS_OF: dict[str, Layers] = {"decode": "unroll"}
SETTINGS = {
    "seq": Setting("tokens per sequence; in decode, slots of the cache", limit="context"),
    "remat": REMAT,
}


def tokens(dims: Dims, mode: str, batch: int) -> int:
    """Returns how many tokens one step reads."""
    return batch if mode == "decode" else batch * dims["seq"]


def attention(dims: Dims, mode: str, batch: int, *, mixed: int) -> dict[str, int]:
    """Returns the terms of the products between positions; `mixed` is H K."""
    seq, per_pair = dims["seq"], 2 * 2 * batch * dims["depth"] * mixed
    if mode == "decode":
        return {"attention": per_pair * seq}
    pairs = seq * (seq + 1) // 2
    return {"attention_causal": per_pair * pairs, "attention_masked": per_pair * (seq**2 - pairs)}


def step(forward: dict[str, int], mode: str, *, rematerialised: int) -> dict[str, int]:
    """Returns the terms of a whole step, given those of its forward pass.

    `rematerialised` is what a training step computes once more; left out where it is none.
    """
    terms = {f"forward_{name}": value for name, value in forward.items()}
    if mode == "train":
        terms |= {f"gradient_{name}": 2 * value for name, value in forward.items()}
        terms |= {"rematerialised": rematerialised} if rematerialised else {}
    return terms


def unmoved_cache_bytes(dims: Dims, mode: str, batch: int, width: int, *, kept: int) -> int:
    """Bytes of the cache and of the batch's tokens that a step does not move.

    A prefill writes all slots and reads none. A decode reads all of them and writes one, and reads
    one of each sequence's tokens, which are int32.

    Args:
        dims: of the case.
        mode: of the case.
        batch: sequences.
        width: bytes of a stored value.
        kept: keys and values of one token in one layer.
    """
    per_slot = batch * dims["depth"] * kept * width
    slots = {"train": 0, "prefill": dims["seq"], "decode": dims["seq"] - 1}[mode]
    unread_tokens = batch * (dims["seq"] - 1) * 4 if mode == "decode" else 0
    return per_slot * slots + unread_tokens
