"""Figures as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.report import units


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.0, "0 ns"),
        (1e-6, "1.00 ns"),
        (0.000999, "999 ns"),
        (0.0009996, "1.00 µs"),
        (0.0123, "12.3 µs"),
        (0.9994, "999 µs"),
        (0.99951, "1.00 ms"),
        (4.15, "4.15 ms"),
        (812, "812 ms"),
        (59_940, "59.9 s"),
        (60_000, "1.00 min"),
        (1_234_567, "20.6 min"),
    ],
)
def test_time(milliseconds: float, text: str) -> None:
    assert units.time_ms(milliseconds) == text
    assert units.time_ns(milliseconds * 1e6) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (512_000_000, "488 MiB"), (80 * 2**30, "80.0 GiB")],
)
def test_bytes(count: int, text: str) -> None:
    assert units.size(count) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (7, "7.00"), (999.6, "1.00k"), (1927.7, "1.93k"), (124_439_808, "124M"), (3.2e15, "3.20P")],
)
def test_count(number: float, text: str) -> None:
    assert units.count(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01234, "0.0123"),
        (2.891, "2.89"),
        (989.4, "989"),
        (9.996, "10.0"),
        (123_456, "123000"),
        (-1.5, "-1.50"),
    ],
)
def test_significant(value: float, text: str) -> None:
    assert units.significant(value) == text


def test_an_interval_stands_in_the_unit_of_its_figure() -> None:
    assert units.range_ms(0.95, 1.2, beside=1.05) == "0.950-1.20"
    assert units.range_ms(0.95, 1.2, beside=0.99) == "950-1200"


@given(st.floats(1e-5, 1e9))
def test_a_printed_time_is_within_half_a_percent(milliseconds: float) -> None:
    number, unit = units.time_ms(milliseconds).split()
    factor = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4}[unit]
    assert float(number) * factor == pytest.approx(milliseconds, rel=0.0051)
