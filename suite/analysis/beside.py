"""A forecast beside a measurement of the same case: memory predicted and measured, bound and measured time.

On the device that was forecast, the share of the bound that was achieved. On another, how much
faster that chip can be at most: a bound on one side is a bound on the ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from suite.record.forecast import Bound, Forecast
from suite.record.schema import Result, ResultFile


@dataclass(frozen=True)
class Beside:
    """One case, measured here and forecast for a chip.

    Attributes:
        result: as measured.
        forecast: of the same case.
        same_device: the chip is the device that was measured.
        bound: the larger of both lower bounds; None if there is none.
    """

    result: Result
    forecast: Forecast
    same_device: bool
    bound: Bound | None

    @property
    def measured_s(self) -> float | None:
        """Measured step time; None where the case was not measured."""
        time_ms = self.result.summary.step_time_ms
        return None if time_ms is None else time_ms / 1e3

    @property
    def achieved(self) -> float | None:
        """Share of the bound that was achieved, on the same device: 1 would be the bound itself."""
        if not self.same_device or self.measured_s is None or self.bound is None:
            return None
        return self.bound.seconds / self.measured_s

    @property
    def faster_at_most(self) -> float | None:
        """How many times faster than what was measured the other chip can be, at most."""
        if self.same_device or self.measured_s is None or self.bound is None or not self.bound.seconds:
            return None
        return self.measured_s / self.bound.seconds


def tightest(forecast: Forecast) -> Bound | None:
    """The larger of both bounds: each holds, so the larger says more."""
    known = [bound for bound in (forecast.step_bound, forecast.program_bound) if bound is not None]
    return max(known, key=lambda bound: bound.seconds, default=None)


def beside(file: ResultFile, forecasts: Sequence[Forecast]) -> Iterator[Beside]:
    """Each case of a run with each forecast of the same case, in the run's order.

    A case differs from another in any part of its key; precision and batch are such parts.
    """
    kind = file.environment.machine.device_kind
    for result in file.results:
        for forecast in forecasts:
            if forecast.key == result.key:
                same = kind is not None and forecast.device_kind == kind
                yield Beside(result, forecast, same, tightest(forecast))
