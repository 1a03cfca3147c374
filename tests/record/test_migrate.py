"""Migration, with made-up versions: there is only one real one so far."""

from __future__ import annotations

from typing import Any

import pytest

from suite.errors import ResultFileError
from suite.record.migrate import MIGRATIONS, migrate
from suite.record.schema import SCHEMA_VERSION


def rename(document: dict[str, Any]) -> dict[str, Any]:
    document["step_time_ms"] = document.pop("time")
    return document


def scale(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"step_time_ms": document["step_time_ms"] * 1000}


STEPS = {1: rename, 2: scale}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"schema_version": 1, "time": 2}, 2000),
        ({"schema_version": 2, "step_time_ms": 2}, 2000),
        ({"schema_version": 3, "step_time_ms": 2}, 2),
    ],
)
def test_each_version_goes_through_every_later_step(document: dict[str, Any], expected: int) -> None:
    assert migrate(document, "f", STEPS, target=3) == {"schema_version": 3, "step_time_ms": expected}


def test_a_version_that_no_step_starts_from() -> None:
    with pytest.raises(ResultFileError, match="f: expected schema 1 to 3, found 0"):
        migrate({"schema_version": 0}, "f", STEPS, target=3)


def test_every_older_version_has_its_step() -> None:
    assert sorted(MIGRATIONS) == list(range(1, SCHEMA_VERSION))
