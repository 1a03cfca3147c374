"""A stack of identical blocks, compiled once (scan) or one by one (unroll)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
from flax import nnx

State: TypeAlias = "nnx.State[Any, Any]"


class Stack(nnx.Module):
    """`depth` blocks of one shape, applied one after the other.

    With `scan` their parameters are stacked along a leading axis and the compiler sees one
    block: compile time does not grow with depth. Without it sees them all and can
    optimise across them. Both start from the same parameters and compute the same function.

    With `remat` the gradient computes what is inside a block again, from the block's input, in
    place of keeping it: memory for arithmetic.

    Blocks must not hold a convolution: its gradient inside a scan is far slower on a CPU.
    """

    def __init__(
        self,
        block: Callable[[nnx.Rngs], Callable[[jax.Array], jax.Array]],
        *,
        depth: int,
        scan: bool,
        remat: bool = False,
        rngs: nnx.Rngs,
    ) -> None:
        keys = jax.random.split(rngs.params(), depth)
        self.scan, self.remat = scan, remat
        self.blocks: Any
        if scan:
            self.blocks = nnx.vmap(lambda key: block(nnx.Rngs(key)))(keys)
        else:
            self.blocks = nnx.Sequential(*(block(nnx.Rngs(key)) for key in keys))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Applies the blocks in order; each keeps the shape and dtype of its input."""
        if not self.scan:
            for block in self.blocks.layers:
                x = self._apply(*nnx.split(block))(x)
            return x
        graphdef, stacked = nnx.split(self.blocks)

        def apply(x: jax.Array, state: State) -> tuple[jax.Array, None]:
            return self._apply(graphdef, state)(x), None

        out, _ = jax.lax.scan(apply, x, stacked)
        return out

    def _apply(self, graphdef: nnx.GraphDef[Any], state: State) -> Callable[[jax.Array], jax.Array]:
        """Returns one block as a function of its input."""

        def run(state: State, x: jax.Array) -> jax.Array:
            out: jax.Array = nnx.merge(graphdef, state)(x)
            return out

        if not self.remat:
            return partial(run, state)
        # A scan's own boundary keeps the compiler from undoing it; without one it must be told.
        return partial(jax.checkpoint(run, prevent_cse=not self.scan), state)
