"""The loop that a careful engineer would write to time a JAX step. Imports nothing from jaxmark."""

from __future__ import annotations

import time

import jax


class FlatLoop:
    """Compiles a step over flat leaves with its state donated; one wait at the end of a block."""

    def __init__(self, step, state, batch):
        self.state, tree = jax.tree.flatten(state)
        self.batch, batch_tree = jax.tree.flatten(batch)
        count = len(self.state)

        def flat(state, batch):
            new_state, outputs = step(jax.tree.unflatten(tree, state), jax.tree.unflatten(batch_tree, batch))
            return jax.tree.leaves(new_state) + jax.tree.leaves(outputs)

        jitted = jax.jit(
            lambda *leaves: flat(leaves[:count], leaves[count:]), donate_argnums=tuple(range(count))
        )
        self.compiled = jitted.lower(*self.state, *self.batch).compile()

    def time_block(self, steps):
        """Nanoseconds of `steps` chained steps."""
        compiled, state, batch = self.compiled, self.state, self.batch
        count = len(state)
        began = time.perf_counter_ns()
        for _ in range(steps):
            results = compiled(*state, *batch)
            state = results[:count]
        jax.block_until_ready(results)
        ended = time.perf_counter_ns()
        self.state = state
        return ended - began


class TreeLoop:
    """The same, passing the state as the tree that it is: shorter to write, dearer to call."""

    def __init__(self, step, state, batch):
        self.compiled = jax.jit(step, donate_argnums=0).lower(state, batch).compile()
        self.state, self.batch = state, batch

    def time_block(self, steps):
        """Nanoseconds of `steps` chained steps."""
        compiled, state, batch = self.compiled, self.state, self.batch
        began = time.perf_counter_ns()
        for _ in range(steps):
            state, outputs = compiled(state, batch)
        jax.block_until_ready((state, outputs))
        ended = time.perf_counter_ns()
        self.state = state
        return ended - began
