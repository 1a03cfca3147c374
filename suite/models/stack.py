"""A stack of identical blocks, compiled once (scan) or one by one (unroll)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from flax import nnx


class Stack(nnx.Module):
    """`depth` blocks of one shape, applied one after the other.

    With `scan` their parameters are stacked along a leading axis and the compiler sees one
    block: compile time does not grow with depth. Without it sees them all and can
    optimise across them. Both start from the same parameters and compute the same function.

    Blocks must not hold a convolution: its gradient inside a scan is far slower on a CPU.
    """

    def __init__(
        self,
        block: Callable[[nnx.Rngs], Callable[[jax.Array], jax.Array]],
        *,
        depth: int,
        scan: bool,
        rngs: nnx.Rngs,
    ) -> None:
        keys = jax.random.split(rngs.params(), depth)
        self.scan = scan
        if scan:
            self.blocks = nnx.vmap(lambda key: block(nnx.Rngs(key)))(keys)
        else:
            self.blocks = nnx.Sequential(*(block(nnx.Rngs(key)) for key in keys))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Applies the blocks in order; each keeps the shape and dtype of its input."""
        if not self.scan:
            out: jax.Array = self.blocks(x)
            return out
        graphdef, stacked = nnx.split(self.blocks)

        def apply(x: jax.Array, state: nnx.State[Any, Any]) -> tuple[jax.Array, None]:
            return nnx.merge(graphdef, state)(x), None

        out, _ = jax.lax.scan(apply, x, stacked)
        return out
