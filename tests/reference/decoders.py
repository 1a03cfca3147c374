"""How any decoder is compared with one of transformers: the logits, and one step of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch

from suite.workloads.base import Workload
from suite.workloads.regenerate import start
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import OUTPUTS_WITHIN, named, relative_error, with_values

Values = dict[str, np.ndarray]
InOurNames = Callable[[Callable[[str], torch.Tensor]], Values]


def compare(
    workload: Workload,
    theirs: Any,
    in_our_names: InOurNames,
    *,
    learning_rate: float,
    extra_loss: Callable[[Any], torch.Tensor] | None = None,
) -> Any:
    """Takes a training step of both from the same weights; returns what ours gives.

    Args:
        workload: of the mode 'train', with unrolled layers.
        theirs: a causal language model of transformers.
        in_our_names: given a function from their names to tensors, returns these under our names.
        learning_rate: of AdamW.
        extra_loss: what their training adds to the cross-entropy, of what their model returns.
    """
    theirs.train()
    state, batch = start(workload)
    parameters = dict(theirs.named_parameters())
    state = state._replace(params=with_values(state.params, in_our_names(parameters.__getitem__)))
    asked = {"output_router_logits": True} if extra_loss else {}
    found = theirs(torch.from_numpy(batch["inputs"]).long(), **asked)
    assert relative_error(jax.jit(workload.forward)(state, batch), found.logits) < OUTPUTS_WITHIN

    targets = torch.from_numpy(batch["targets"]).long().flatten()
    loss = torch.nn.functional.cross_entropy(
        found.logits.flatten(0, 1), targets, label_smoothing=LABEL_SMOOTHING
    )
    loss = loss + extra_loss(found) if extra_loss else loss
    loss.backward()
    gradients = in_our_names(lambda name: parameters[name].grad.clone())
    torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
    torch.optim.AdamW(theirs.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.1).step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in in_our_names(parameters.__getitem__).items():
        _assert_updated(name, updated[name], expected, gradients[name])
    return outputs


def _assert_updated(name: str, found: np.ndarray, expected: np.ndarray, gradient: np.ndarray) -> None:
    """Compares where the gradient is more than rounding: Adam's first step is its sign times the rate."""
    sure = np.abs(gradient) > 1e-3 * np.abs(gradient).max()
    assert sure.mean() > 0.3, f"{name}: hardly any gradient to compare by"
    assert relative_error(found[sure], expected[sure]) < OUTPUTS_WITHIN, name


def joined(*weights: torch.Tensor) -> np.ndarray:
    """Brings `torch.nn.Linear` weights (outputs, inputs) to one of ours, (inputs, outputs of all)."""
    return torch.cat(weights).detach().numpy().T.copy()


def as_it_is(values: torch.Tensor) -> np.ndarray:
    return values.detach().numpy().copy()
