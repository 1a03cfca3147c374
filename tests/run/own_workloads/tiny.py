"""Workloads of a few numbers, each with one thing wrong with it."""

from __future__ import annotations

import os
import signal
import time

import jax
import jax.numpy as jnp

import suite


def _step(state, batch):
    return state + batch, state.sum()


def _own(step=_step, **facts) -> suite.Step:
    return suite.Step(step, jnp.zeros(8), jnp.ones(8), suite.Facts(**facts))


def good() -> suite.Step:
    return _own(items=8, item="number", batch=8, version=3)


def also_good() -> suite.Step:
    return _own()


def called() -> suite.Call:
    return suite.Call(jnp.add, (jnp.zeros(8), jnp.ones(8)))


def _on_the_host(action):
    """A step that calls `action` from inside the compiled program."""

    def step(state, batch):
        def call(value):
            action()
            return value

        moved = jax.pure_callback(call, jax.ShapeDtypeStruct(state.shape, state.dtype), state + batch)
        return moved, moved.sum()

    return _own(step)


def hangs() -> suite.Step:
    return _on_the_host(lambda: time.sleep(3600))


def segfaults() -> suite.Step:
    return _on_the_host(lambda: os.kill(os.getpid(), signal.SIGSEGV))


def is_killed() -> suite.Step:
    return _on_the_host(lambda: os.kill(os.getpid(), signal.SIGKILL))


def _table(rows: int) -> suite.Step:
    """A step that needs 4 rows² bytes for a table."""

    def step(state, batch):
        wide = jnp.resize(state + batch, rows)
        # Sorting keeps the compiler from reasoning the table away.
        table = jnp.sort(wide[:, None] * wide[None, :], axis=0)
        return state + table[0, :8], table[1, 1]

    return _own(step)


def huge() -> suite.Step:
    return _table(2**19)  # a terabyte


def large() -> suite.Step:
    return _table(2**14)  # a gigabyte


def not_a_number() -> suite.Step:
    return _own(lambda state, batch: (state, jnp.log(-batch.sum())), loss=lambda outputs: outputs)


def raises() -> suite.Step:
    raise RuntimeError("the user's own mistake")


def raises_what_is_no_text() -> suite.Step:
    raise RuntimeError("no such file: \udcff.npz")


def raises_what_cannot_be_printed() -> suite.Step:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise ValueError

    raise Unspeakable


def exits() -> suite.Step:
    raise SystemExit("bye")


def wrong_type() -> int:
    return 3
