"""A model as pure functions of its split state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import jax
from flax import nnx

State: TypeAlias = "nnx.State[Any, Any]"


@dataclass(frozen=True)
class Network:
    """A model split once, outside every step: the static part here, the arrays in the state.

    Attributes:
        make: builds the model, drawing its parameters from the generators it is given. The
            model maps the batch's inputs to predictions.
        graphdef: its structure, without one array.
    """

    make: Callable[[nnx.Rngs], nnx.Module]
    graphdef: nnx.GraphDef[Any]

    @classmethod
    def of(cls, make: Callable[[nnx.Rngs], nnx.Module]) -> Network:
        """Splits the model that `make` builds; allocates nothing."""
        abstract = nnx.eval_shape(partial(_build, make), jax.random.key(0))
        return cls(make, nnx.graphdef(abstract))

    def init(self, key: jax.Array) -> tuple[State, State]:
        """Returns fresh (parameters, BatchNorm statistics); the latter may be empty."""
        params, stats = nnx.state(_build(self.make, key), nnx.Param, nnx.BatchStat)
        return params, stats

    def apply(self, params: State, stats: State, inputs: Any, *, train: bool) -> tuple[Any, State]:
        """Returns the predictions for `inputs` and the statistics after them.

        A tuple is handed to the model as several arguments.
        Training normalises by the batch and moves the running statistics; otherwise they are
        used and come back as they were.
        """
        # Copied, because BatchNorm writes its statistics in place and the caller's are not ours.
        model: Any = nnx.merge(self.graphdef, params, stats, copy=True)
        if train:
            model.train()
        else:
            model.eval()
        predictions = model(*inputs) if isinstance(inputs, tuple) else model(inputs)
        return predictions, nnx.state(model, nnx.BatchStat)


def _build(make: Callable[[nnx.Rngs], nnx.Module], key: jax.Array) -> nnx.Module:
    return make(nnx.Rngs(key))
