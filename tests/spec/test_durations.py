from __future__ import annotations

import pytest

from suite.errors import ConfigError
from suite.spec.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h", 3600), ("1h30m", 5400), ("1.5m", 90), ("2h0m5s", 7205), (" 5m ", 300)],
)
def test_parse(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "10 m", "m", "0s", "-5m", "5d", "30s10m", "1e3s", "nan", "٣s x"])
def test_parse_refuses(text: str) -> None:
    with pytest.raises(ConfigError, match="expected a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0.4 s"),
        (3.14, "3.1 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 05 min"),
    ],
)
def test_format(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
