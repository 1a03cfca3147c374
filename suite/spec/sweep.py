"""From tables of settings to cases: every list is a sweep, several lists are their product."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.errors import ConfigError, JaxmarkError, nearest
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.places import Place, Text
from suite.spec.sources import entry_points, own_case, own_name, source_of

Table = Mapping[str, Any]


@dataclass(frozen=True)
class CaseTable:
    """The settings of one [[case]], defaults filled in, and where they stand."""

    text: Text
    number: int
    values: Table


def expand(tables: list[CaseTable], folder: Path) -> tuple[list[Case], dict[str, str]]:
    """Returns the cases in order, and the source of each that is a user's own, by case key.

    Raises:
        ConfigError: a value that the catalogue does not know, or a case that is there twice.
        WorkloadError: a user's workload that cannot be found.
    """
    cases: list[Case] = []
    sources: dict[str, str] = {}
    seen: dict[str, int] = {}
    for table in tables:
        for fields in _product(table.values):
            case, source = _resolve(table, fields, folder)
            if case.key in seen:
                raise ConfigError(_duplicate(table, case.key, seen[case.key]))
            seen[case.key] = table.number
            cases.append(case)
            if source is not None:
                sources[case.key] = source
    return cases, sources


def _product(values: Table) -> Iterator[dict[str, Any]]:
    """Yields one table per combination of the listed values, params included."""
    params = values.get("params", {})
    axes = [(key, _as_list(value)) for key, value in values.items() if key != "params"]
    axes += [(f"params.{key}", _as_list(value)) for key, value in params.items()]
    for combination in itertools.product(*(choices for _, choices in axes)):
        fields: dict[str, Any] = {}
        chosen: dict[str, Any] = {}
        for (key, _), value in zip(axes, combination, strict=True):
            name = key.removeprefix("params.")
            (chosen if name != key else fields)[name] = value
        yield fields | ({"params": chosen} if chosen else {})


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _resolve(table: CaseTable, fields: dict[str, Any], folder: Path) -> tuple[Case, str | None]:
    place = Place("case", table.number)
    name = fields.get("workload")
    if name is None:
        raise ConfigError(f"{table.text.at(place)}: no workload. Add a line such as workload = 'gpt'.")
    settings = {key: value for key, value in fields.items() if key != "workload"}
    try:
        source = source_of(name, folder)
        if source is None:
            _refuse_unknown(name)
            return catalogue.resolve(name, **settings), None
        _refuse_settings(name, settings)
        return own_case(own_name(source)), source
    except JaxmarkError as error:
        key = _key_in(str(error), fields)
        where = table.text.at(Place("case", table.number, key))
        raise type(error)(f"{where}: {error}") from error


def _refuse_unknown(name: str) -> None:
    """Names what installed packages bring too, of which the catalogue knows nothing."""
    known = [*(spec.name for spec in catalogue.all_specs()), *entry_points()]
    if name not in known:
        raise ConfigError(f"Unknown workload: {name!r}. {nearest(name, known)}")


def _refuse_settings(name: str, settings: dict[str, Any]) -> None:
    if settings:
        raise ConfigError(
            f"{', '.join(map(repr, settings))} cannot be set for {name!r}: a workload of your own "
            "decides these itself. Leave them out, and out of [defaults]."
        )


def _key_in(message: str, fields: dict[str, Any]) -> str | None:
    """The key whose value an error of the catalogue is about, if the message shows it."""
    found = message.partition(" Did you mean")[0].partition(" Known:")[0]
    settings = {**fields, **{f"params.{name}": name for name in fields.get("params", {})}}
    return next((key for key, value in settings.items() if repr(value) in found), None)


def _duplicate(table: CaseTable, key: str, earlier: int) -> str:
    where = table.text.at(Place("case", table.number))
    other = "this table too" if earlier == table.number else f"[[case]] {earlier}"
    return (
        f"{where}: the case {key} is there twice; {other} gives it. "
        "Remove one, or change a field of its identity."
    )
