"""The keys that a config may hold, and what each may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from suite.errors import ConfigError, nearest
from suite.spec.durations import parse_duration
from suite.spec.places import Place, Text

Check = Callable[[Any], str | None]
"""Returns what was expected, or None for a good value."""


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "text in quotes"


def _whole(least: int, most: int) -> Check:
    def check(value: Any) -> str | None:
        good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if good else f"a whole number from {least:,} to {most:,}, without quotes"

    return check


def _seconds(value: Any) -> str | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 3600
    return None if good else "a number of seconds above 0 and at most 3600, without quotes"


def _duration(value: Any) -> str | None:
    try:
        parse_duration(value if isinstance(value, str) else "")
    except ConfigError:
        return "a duration with its unit, such as '90s', '10m' or '1h30m'"
    return None


def _choice(*known: str) -> Check:
    def check(value: Any) -> str | None:
        return None if value in known else f"one of {', '.join(repr(k) for k in known)}"

    return check


def _table(value: Any) -> str | None:
    return None if isinstance(value, dict) else "a table such as { seq = 128 }"


def _number(above: float, most: float) -> Check:
    def check(value: Any) -> str | None:
        good = isinstance(value, int | float) and not isinstance(value, bool) and above < value <= most
        return None if good else f"a number above {above:g} and at most {most:g}, without quotes"

    return check


def _scalar(value: Any) -> str | None:
    return None if isinstance(value, int | float | str | bool) else "a number, text, true or false"


@dataclass(frozen=True)
class Fields:
    """The keys of one kind of table.

    Attributes:
        checks: what each key may be.
        sweeps: whether any value may be a list, standing for each of its elements in turn.
    """

    checks: Mapping[str, Check]
    sweeps: bool

    def check_key(self, key: str, where: str) -> None:
        """Raises ConfigError with the nearest known key if `key` is unknown."""
        if key not in self.checks:
            raise ConfigError(f"{where}: unknown key. {nearest(key, self.checks)}")

    def check_value(self, key: str, value: Any, where: str) -> None:
        """Raises ConfigError if `value` cannot be what `key` needs."""
        if key == "params" and isinstance(value, dict):
            for name, inner in value.items():
                self._check_sweep(_scalar, inner, f"{where} -> {name!r}")
            return
        self._check_sweep(self.checks[key], value, where)

    def _check_sweep(self, check: Check, value: Any, where: str) -> None:
        if not (self.sweeps and isinstance(value, list)):
            _expect(check, value, where)
            return
        if not value:
            raise ConfigError(
                f"{where}: the list is empty, so it stands for no case at all. "
                "Give it at least one value, or leave the key out for the default."
            )
        for element in value:
            _expect(check, element, where)


RUN = Fields(
    {
        "processes": _whole(1, 1000),
        "timeout": _duration,
        "budget": _duration,
        "compile": _choice("cold", "cached"),
        "warmup_seconds": _seconds,
        "block_seconds": _seconds,
        "latency_seconds": _seconds,
        "seed": _whole(0, 2**31 - 1),
        "description": _text,
    },
    sweeps=False,
)

CASE = Fields(
    {
        "workload": _text,
        "preset": _text,
        "mode": _text,
        "precision": _text,
        "batch": _whole(1, 2**31 - 1),
        "layers": _text,
        "params": _table,
    },
    sweeps=True,
)


LEARN = Fields({"seeds": _whole(1, 100), "timeout": _duration, "description": _text}, sweeps=False)

TASK = Fields(
    {
        "data": _choice("digits", "prose"),
        "accuracy": _number(0, 1),
        "loss": _number(0, 100),
        "limit_steps": _whole(1, 10**9),
        "evaluate_every": _whole(1, 10**9),
        **{key: check for key, check in CASE.checks.items() if key != "mode"},
    },
    sweeps=False,
)


def check_table(table: Mapping[str, Any], fields: Fields, text: Text, place: Place) -> None:
    """Raises ConfigError for a key that `fields` do not know, or a value that its key cannot have."""
    for key, value in table.items():
        where = text.at(replace(place, key=key))
        fields.check_key(key, where)
        fields.check_value(key, value, where)


def _expect(check: Check, value: Any, where: str) -> None:
    expected = check(value)
    if expected is not None:
        raise ConfigError(f"{where}: expected {expected}, found {_shown(value)}.")


def _shown(value: Any) -> str:
    """The value as TOML writes it, with its kind: `the text "8"`, `the whole number 8`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'the text "{value}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"the list {value}"
    kinds = {int: "the whole number", float: "the number"}
    return f"{kinds.get(type(value), 'the ' + type(value).__name__)} {value}"
