"""A BERT encoder that learns random tokens back which are masked in its input."""

from __future__ import annotations

from typing import Any

import numpy as np
import optax
from flax import nnx
from numpy.typing import NDArray

from suite.models.bert import Encoder, MaskedLanguageModel, Pooled
from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of, dims_of
from suite.spec.catalogue.bert import masked_tokens
from suite.spec.workload import Dims, Preset
from suite.workloads.base import Workload
from suite.workloads.inference import inference
from suite.workloads.network import Network
from suite.workloads.training import training

Tokens = NDArray[np.int32]


def build(case: Case, preset: Preset) -> Workload:
    """Returns the workload of a 'bert' case; `params` may set 'seq' and 'remat'."""
    dims, size, policy = dims_of(case, preset), batch_of(case), POLICIES[case.precision]
    vocab, width = dims["vocab"], dims["width"]

    def encoder(rngs: nnx.Rngs) -> Encoder:
        return Encoder(
            vocab=vocab,
            context=dims["context"],
            width=width,
            heads=dims["heads"],
            depth=dims["depth"],
            scan=case.layers == "scan",
            remat=bool(dims["remat"]),
            policy=policy,
            rngs=rngs,
        )

    if case.mode == "infer":
        network = Network.of(lambda rngs: Pooled(encoder(rngs), width=width, policy=policy, rngs=rngs))
        return inference(
            network,
            policy=policy,
            batch=lambda rng: {"inputs": _sequences(rng, dims, size)},
            compared=lambda encoded: encoded.pooled,
        )
    network = Network.of(
        lambda rngs: MaskedLanguageModel(encoder(rngs), vocab=vocab, width=width, policy=policy, rngs=rngs)
    )
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(1e-4, b1=0.9, b2=0.999, weight_decay=0.01)
    )
    return training(
        network, optimiser=optimiser, policy=policy, batch=lambda rng: _masked_batch(rng, dims, size)
    )


def _sequences(rng: np.random.Generator, dims: Dims, size: int) -> tuple[Tokens, Tokens]:
    """Returns tokens and token types (B, S): two random sentences in each sequence."""
    tokens = rng.integers(0, dims["vocab"], (size, dims["seq"]), dtype=np.int32)
    second_from = rng.integers(0, dims["seq"], (size, 1))
    return tokens, (np.arange(dims["seq"]) >= second_from).astype(np.int32)


def _masked_batch(rng: np.random.Generator, dims: Dims, size: int) -> dict[str, Any]:
    """Hides 15% of the tokens of each sequence, which become the targets, as the paper does.

    Of those 80% become the mask token, 10% a random one, and 10% stay what they are.
    """
    tokens, types = _sequences(rng, dims, size)
    order = np.argsort(rng.random(tokens.shape), axis=1)
    positions = np.sort(order[:, : masked_tokens(dims)], axis=1).astype(np.int32)
    targets = np.take_along_axis(tokens, positions, axis=1)
    draw = rng.random(positions.shape)
    other = rng.integers(0, dims["vocab"], positions.shape, dtype=np.int32)
    hidden = np.where(draw < 0.8, np.int32(dims["mask_token"]), np.where(draw < 0.9, other, targets))
    np.put_along_axis(tokens, positions, hidden, axis=1)
    return {"inputs": (tokens, types, positions), "targets": targets}
