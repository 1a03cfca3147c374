"""A stack of identical blocks, compiled once (scan) or one by one (unroll)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from flax import nnx

from suite.models.attention import Cache, Memory, empty_cache
from suite.models.precision import Policy

PyTree = Any
State: TypeAlias = "nnx.State[Any, Any]"
# A `Cache` of all layers where they are scanned, else a tuple with one for each.
Caches: TypeAlias = Any


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
        block: Callable[[nnx.Rngs], Callable[..., Any]],
        *,
        depth: int,
        scan: bool,
        remat: bool = False,
        rngs: nnx.Rngs,
    ) -> None:
        keys = jax.random.split(rngs.params(), depth)
        self.depth, self.scan, self.remat = depth, scan, remat
        self.blocks: Any
        if scan:
            self.blocks = nnx.vmap(lambda key: block(nnx.Rngs(key)))(keys)
        else:
            self.blocks = nnx.Sequential(*(block(nnx.Rngs(key)) for key in keys))

    def __call__(self, x: Any) -> Any:
        """Applies the blocks in order; each keeps the structure, shapes and dtypes of its input."""
        if not self.scan:
            for block in self.blocks.layers:
                x = self._apply(*nnx.split(block))(x)
            return x
        graphdef, stacked = nnx.split(self.blocks)

        def apply(x: PyTree, state: State) -> tuple[PyTree, None]:
            return self._apply(graphdef, state)(x), None

        out, _ = jax.lax.scan(apply, x, stacked)
        return out

    def cache(self, shape: tuple[int, ...], policy: Policy) -> Caches:
        """Returns an empty cache for every layer, each of this shape: see `read`."""
        if self.scan:
            return empty_cache((self.depth, *shape), policy)
        return tuple(empty_cache(shape, policy) for _ in range(self.depth))

    def read(self, x: Any, caches: Caches, position: jax.Array | int) -> tuple[Any, Caches]:
        """Applies blocks that remember: each is called with its input and its `Memory`.

        Args:
            x: of the tokens read now; its structure, shapes and dtypes are kept.
            caches: as `cache` makes them.
            position: the slot of the first of these tokens.

        Returns:
            What the last block gives, and the caches with these tokens in them.
        """
        if not self.scan:
            memories = [Memory(cache, position) for cache in caches]
            for block, memory in zip(self.blocks.layers, memories, strict=True):
                x = block(x, memory)
            return x, tuple(memory.cache for memory in memories)
        graphdef, stacked = nnx.split(self.blocks)

        def apply(carry: tuple[PyTree, Cache], each: tuple[State, jax.Array]) -> tuple[PyTree, None]:
            (x, cache), (state, layer) = carry, each
            memory = Memory(cache, position, layer)
            x = nnx.merge(graphdef, state)(x, memory)
            return (x, memory.cache), None

        layers = jnp.arange(self.depth, dtype=jnp.int32)
        (x, caches), _ = jax.lax.scan(apply, (x, caches), (stacked, layers))
        return x, caches

    def _apply(self, graphdef: nnx.GraphDef[Any], state: State) -> Callable[[Any], Any]:
        """Returns one block as a function of its input."""

        def run(state: State, x: PyTree) -> PyTree:
            return nnx.merge(graphdef, state)(x)

        if not self.remat:
            return partial(run, state)
        # A scan's own boundary keeps the compiler from undoing it; without one it must be told.
        return partial(jax.checkpoint(run, prevent_cse=not self.scan), state)
