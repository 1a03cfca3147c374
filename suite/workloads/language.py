"""Language models over random tokens, in each of their modes: the same for every decoder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import optax
from flax import nnx

from suite.models.precision import POLICIES
from suite.spec.case import Case
from suite.spec.catalogue import batch_of
from suite.spec.workload import Dims
from suite.workloads.base import Workload
from suite.workloads.generation import decode, prefill
from suite.workloads.network import Network
from suite.workloads.training import Loss, Report, classification, training


def language_model(
    case: Case,
    dims: Dims,
    make: Callable[[nnx.Rngs], nnx.Module],
    *,
    learning_rate: float,
    loss: Loss = classification,
    report: Report | None = None,
) -> Workload:
    """Returns the workload of a decoder case: 'train', 'prefill' or 'decode'.

    Args:
        case: names the mode, the precision and how many sequences there are.
        dims: 'vocab' and 'seq': the tokens of a sequence, which in 'decode' are the cache's slots.
        make: builds the model; see `suite.workloads.generation.Decoder`.
        learning_rate: of AdamW, with the betas and the weight decay that are usual for these models.
        loss: of the predictions, in training.
        report: what training returns besides the loss.
    """
    shape, policy = (batch_of(case), dims["seq"]), POLICIES[case.precision]

    def batch(rng: np.random.Generator) -> dict[str, np.ndarray]:
        sequences, tokens = shape
        drawn = rng.integers(0, dims["vocab"], (sequences, tokens + 1), dtype=np.int32)
        return {"inputs": drawn[:, :-1].copy(), "targets": drawn[:, 1:].copy()}

    network = Network.of(make)
    if case.mode == "prefill":
        return prefill(network, policy=policy, batch=batch, shape=shape)
    if case.mode == "decode":
        return decode(network, policy=policy, batch=batch, shape=shape)
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(learning_rate, b1=0.9, b2=0.95, weight_decay=0.1)
    )
    return training(network, optimiser=optimiser, policy=policy, batch=batch, loss=loss, report=report)
