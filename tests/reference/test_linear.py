"""One dense layer against `torch.nn.Linear`."""

from __future__ import annotations

import jax
import torch

from suite.spec import catalogue
from tests.reference.support import OUTPUTS_WITHIN, dense, ours, relative_error, with_values


def test_outputs() -> None:
    case = catalogue.resolve("linear", preset="smoke", precision="fp32")
    workload, state, batch = ours(case)
    dims = catalogue.preset_of(case).dims
    theirs = torch.nn.Linear(dims["inputs"], dims["outputs"])
    values = {"dense.kernel": dense(theirs.weight), "dense.bias": theirs.bias.detach().numpy()}
    state = state._replace(params=with_values(state.params, values))
    found = jax.jit(workload.forward)(state, batch)
    assert relative_error(found, theirs(torch.from_numpy(batch["inputs"]))) < OUTPUTS_WITHIN
