"""The noise of processes and steps that both simulations draw."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

BLOCKS = 20
_CORRELATION = 0.8

Array = npt.NDArray[np.float64]


def t3(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Student's t with 3 degrees of freedom, scaled to a variance of 1."""
    return rng.standard_t(3, shape) / math.sqrt(3)


def blocks(deviation: float, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Log of each block over the process's own [*shape, BLOCKS]: AR(1) with heavy-tailed innovations."""
    innovations = t3((*shape, BLOCKS), rng)
    values = np.empty_like(innovations)
    values[..., 0] = innovations[..., 0]
    for n in range(1, BLOCKS):
        fresh = math.sqrt(1 - _CORRELATION**2) * innovations[..., n]
        values[..., n] = _CORRELATION * values[..., n - 1] + fresh
    return deviation * values


def median_of_blocks(deviation: float, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """What a process's median block adds to the log of its step time."""
    medians: Array = np.median(blocks(deviation, shape, rng), axis=-1)
    return medians
