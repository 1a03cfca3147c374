"""The largest batch that fits a chip, by few compiles. No jax.

Memory grows almost along a line with the batch, so a line through what is known says where to
look next; the answer stands on compiles alone: that batch fits, and the next does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from suite.record.forecast import Forecast

MOST = 1 << 20
_COMPILES = 24
# What does not grow with the batch.
_FIXED = ("parameters", "optimiser", "statistics", "code")
_ANSWERS = ("ok", "does_not_fit")


@dataclass(frozen=True)
class Largest:
    """What a search came to.

    Attributes:
        fits: the answer for the largest batch that fits; None if not even one of 1 does.
        above: the answer for the batch above it, which does not fit, or which says why the search
            ended; None where the search ended at its limit.
        batch: the largest that fits; 0 if none does.
        exact: whether the batch above it was seen not to fit.
        compiles: how many programs it took, those known from before included.
    """

    fits: Forecast | None
    above: Forecast | None
    batch: int
    exact: bool
    compiles: int


@dataclass
class _Bracket:
    """What is known so far: the largest batch that fits and the smallest that does not."""

    usable: int
    step: int
    low: int = 0
    high: int | None = None
    fits: Forecast | None = None
    above: Forecast | None = None
    points: list[tuple[int, int]] = field(default_factory=list)
    width: float = math.inf
    narrowed: bool = True

    def add(self, batch: int, answer: Forecast) -> None:
        if answer.status == "ok" and batch > self.low:
            self.low, self.fits = batch, answer
        elif answer.status == "does_not_fit" and (self.high is None or batch < self.high):
            self.high, self.above = batch, answer
        width = math.inf if self.high is None else self.high - self.low
        self.narrowed = math.isinf(self.width) or width <= self.width / 2
        self.width = width
        if answer.needed_bytes is not None:
            self.points.append((batch, answer.needed_bytes))
            if len(self.points) == 1:
                self.points.append((0, sum(answer.parts.get(name, 0) for name in _FIXED)))

    @property
    def done(self) -> bool:
        return self.high is not None and self.high - self.low <= self.step

    def next(self) -> int:
        """The batch to try: where the line meets the chip's memory, kept inside the bracket."""
        least, most = self.low + self.step, MOST
        if self.high is not None:
            most = self.high - self.step
        # Where memory bends away from a line, the line closes in from one side only: halve in between.
        guess = self._on_line() if self.narrowed else None
        if guess is None:
            guess = 2 * self.low if self.high is None else (self.low + self.high) // 2
        return self._whole(guess, least, most)

    def _on_line(self) -> int | None:
        """The largest batch that would fit on the line through the two points nearest to the limit."""
        nearest = sorted(set(self.points), key=lambda point: abs(point[1] - self.usable))[:2]
        if len(nearest) < 2:
            return None
        (b0, m0), (b1, m1) = nearest
        if b0 == b1 or (m1 - m0) / (b1 - b0) <= 0:
            return None
        return int(b0 + (self.usable - m0) * (b1 - b0) / (m1 - m0))

    def _whole(self, guess: int, least: int, most: int) -> int:
        return max(least, min(guess // self.step * self.step, most))


def largest_batch(compile_at: Callable[[int], Forecast], usable: int, first: int, step: int = 1) -> Largest:
    """Finds the largest batch that fits.

    Args:
        compile_at: compiles the program of a batch.
        usable: bytes that a program can use.
        first: the batch to begin with.
        step: batches are multiples of it, as on a mesh, whose devices share them equally.
    """
    known = _Bracket(usable, step)
    batch = max(first // step, 1) * step
    for tries in range(1, _COMPILES + 1):
        answer = compile_at(batch)
        if answer.status not in _ANSWERS:
            return Largest(known.fits, answer, known.low, exact=False, compiles=tries)
        known.add(batch, answer)
        if known.done or known.low + step > MOST:
            return Largest(known.fits, known.above, known.low, exact=known.done, compiles=tries)
        batch = known.next()
    return Largest(known.fits, known.above, known.low, exact=False, compiles=_COMPILES)
