"""The LSTM language model against `torch.nn.LSTM`, trained by `torch.optim.SGD` with clipped gradients.

PyTorch has two biases where ours, as the paper, has one: its second is zero and stays so.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest
import torch

from suite.spec import catalogue
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import OUTPUTS_WITHIN, dense, named, ours, relative_error, with_values

CASES = [
    catalogue.resolve("lstm", preset=preset, mode="train", precision="fp32", layers="unroll", batch=batch)
    for preset, batch in (("smoke", 4), ("small", 3))
]


class Theirs(torch.nn.Module):
    def __init__(self, dims: catalogue.Dims) -> None:
        super().__init__()
        vocab, width, depth = (dims[name] for name in ("vocab", "width", "depth"))
        self.tokens = torch.nn.Embedding(vocab, width)
        self.lstm = torch.nn.LSTM(width, width, depth, batch_first=True)
        self.head = torch.nn.Linear(width, vocab)
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("bias_hh"):
                torch.nn.init.zeros_(parameter)
                parameter.requires_grad_(False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.tokens(tokens))[0])

    def in_our_names(self) -> dict[str, np.ndarray]:
        values = {"tokens.embedding": self.tokens.weight.detach().numpy().copy()}
        for layer in range(self.lstm.num_layers):
            name = f"layers.blocks.layers.{layer}"
            values[f"{name}.inputs.kernel"] = dense(getattr(self.lstm, f"weight_ih_l{layer}"))
            values[f"{name}.inputs.bias"] = getattr(self.lstm, f"bias_ih_l{layer}").detach().numpy().copy()
            values[f"{name}.recurrent"] = dense(getattr(self.lstm, f"weight_hh_l{layer}"))
        head = {"head.kernel": dense(self.head.weight), "head.bias": self.head.bias.detach().numpy().copy()}
        return values | head


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.preset)
def test_outputs_and_one_step_of_training(case: catalogue.Case) -> None:
    workload, state, batch = ours(case)
    theirs = Theirs(catalogue.preset_of(case).dims)
    before = theirs.in_our_names()
    state = state._replace(params=with_values(state.params, before))
    logits = theirs(torch.from_numpy(batch["inputs"]))
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN

    targets = torch.from_numpy(batch["targets"]).long().flatten()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets, label_smoothing=LABEL_SMOOTHING)
    loss.backward()
    trained = [parameter for parameter in theirs.parameters() if parameter.requires_grad]
    assert torch.nn.utils.clip_grad_norm_(trained, 0.1) > 0.1, "nothing is clipped"
    torch.optim.SGD(trained, lr=10.0).step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in theirs.in_our_names().items():
        assert relative_error(updated[name], expected) < OUTPUTS_WITHIN, name
        # The change is small beside the weight, so that the weight's rounding is a part of it.
        change, wanted = updated[name] - before[name], expected - before[name]
        assert relative_error(change, wanted) < 10 * OUTPUTS_WITHIN, name
