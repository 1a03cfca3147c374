"""Durations as people write them: '90s', '10m', '1h', '1h30m'."""

from __future__ import annotations

import re

from suite.errors import ConfigError

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PART = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(rf"(?:{_PART}h)?(?:{_PART}m)?(?:{_PART}s)?")


def parse_duration(text: str) -> float:
    """Returns the seconds that `text` stands for.

    Raises:
        ConfigError: no unit, an unknown one, or nothing at all; zero counts as nothing.
    """
    match = _DURATION.fullmatch(text.strip())
    numbers = match.groups() if match else (None, None, None)
    seconds = sum(float(n) * unit for n, unit in zip(numbers, _SECONDS.values(), strict=True) if n)
    if seconds <= 0:
        raise ConfigError(f"expected a duration such as '90s', '10m' or '1h30m', found {text!r}")
    return seconds


def format_duration(seconds: float) -> str:
    """Writes seconds for people: '0.4 s', '12 s', '3 min 20 s', '2 h 05 min'."""
    if seconds < 9.95:
        return f"{seconds:.2g} s" if seconds < 0.95 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"
