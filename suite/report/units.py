"""How figures are written for people: three significant digits and a unit, in one place."""

from __future__ import annotations

import math

_TIMES = ((1e-6, "ns"), (1e-3, "µs"), (1.0, "ms"), (1e3, "s"), (6e4, "min"))
_BYTES = ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"), (2.0**40, "TiB"))
_COUNTS = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P"))


def time_ms(milliseconds: float) -> str:
    """A duration: '4.15 ms', '830 µs', '1.20 s'."""
    return _scaled(milliseconds, _TIMES)


def time_ns(nanoseconds: float) -> str:
    """A duration given in nanoseconds."""
    return time_ms(nanoseconds / 1e6)


def range_ms(low: float, high: float, beside: float) -> str:
    """Both ends of an interval, without a unit, in the unit of the figure that they stand beside."""
    factor, _ = _unit(beside, _TIMES)
    return f"{significant(low / factor)}-{significant(high / factor)}"


def size(count: int) -> str:
    """Bytes in binary units, as drivers and kernels report them: '488 MiB'."""
    return f"{count} B" if abs(count) < 1024 else _scaled(float(count), _BYTES)


def count(number: float) -> str:
    """A large number: '1.93k', '124M'."""
    return _scaled(number, _COUNTS).replace(" ", "")


def counted(number: int, one: str, many: str) -> str:
    """'1 process', '7 processes'."""
    return f"{number} {one if number == 1 else many}"


def significant(value: float, digits: int = 3) -> str:
    """Rounds to significant digits, without an exponent: '0.0123', '4.15', '1234'."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = _round(value, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def _round(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits - 1}e}")


def _unit(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """The largest unit in which the value, as it will be printed, is at least 1."""
    fitting = [unit for unit in units if abs(_round(value / unit[0])) >= 1]
    return fitting[-1] if fitting else units[0]


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    factor, name = _unit(value, units)
    return f"{significant(value / factor)} {name}"
