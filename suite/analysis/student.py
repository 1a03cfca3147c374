"""Student's t distribution for whole degrees of freedom, in closed form; plain Python."""

from __future__ import annotations

import math
from functools import lru_cache


def cumulative(t: float, degrees: int) -> float:
    """P(T <= t), from the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4.

    Raises:
        ValueError: under one degree of freedom.
    """
    if degrees < 1:
        raise ValueError(f"expected 1 or more degrees of freedom, got {degrees}")
    angle = math.atan(t / math.sqrt(degrees))
    cosine = math.cos(angle)
    odd = degrees % 2 == 1
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(3 if odd else 2, degrees + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return (1 + inside) / 2


@lru_cache(maxsize=256)
def quantile(probability: float, degrees: int) -> float:
    """The t below which T lies with `probability`, by bisection.

    Args:
        probability: 0.5 up to, not including, 1.
        degrees: of freedom, 1 or more.

    Raises:
        ValueError: either is outside its range.
    """
    if not 0.5 <= probability < 1:
        raise ValueError(f"expected a probability from 0.5 to below 1, got {probability}")
    high = 1.0
    while cumulative(high, degrees) < probability:
        high *= 2
    low = 0.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if cumulative(middle, degrees) < probability else (low, middle)
    return high
