"""The published schema against an independent validator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import msgspec
import pytest

from suite.analysis.summary import fold
from suite.record.jsonschema import json_schema
from suite.record.schema import Memory, to_json
from tests.builders import case, document, failure, header, outcome, process, result_file

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def errors(content: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(content)]


def test_the_schema_is_valid_draft_2020_12() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["$id"] == "urn:jaxmark:result-file:1"


def test_files_validate() -> None:
    assert errors(document(result_file())) == []
    cases = [case(), case(batch=16, params={"sequence": 64, "causal": True}), case(batch=32)]
    nothing_known = process(1, memory=Memory(reason="not here"), latency_ns=None)
    outcomes = [
        outcome(cases[0], process(0)),
        outcome(cases[0], failure(1)),
        outcome(cases[1], nothing_known),
    ]
    for state, end in (("running", None), ("interrupted", "2026-01-31T12:10:00Z")):
        file = fold(header(*cases), outcomes, state, end)
        assert errors(json.loads(to_json(file))) == []


def test_not_a_number_becomes_null_and_stays_valid() -> None:
    broken = process(0)
    broken.checks.losses = [2.5, float("nan"), float("inf"), 2.2, 2.1]
    content = json.loads(to_json(fold(header(), [outcome(case(), broken)], "running", None)))
    assert content["results"][0]["processes"][0]["checks"]["losses"] == [2.5, None, None, 2.2, 2.1]
    assert errors(content) == []


def drop(*path: str | int) -> Callable[[Any], None]:
    def apply(content: Any) -> None:
        for part in path[:-1]:
            content = content[part]
        del content[path[-1]]

    return apply


def put(value: Any, *path: str | int) -> Callable[[Any], None]:
    def apply(content: Any) -> None:
        for part in path[:-1]:
            content = content[part]
        content[path[-1]] = value

    return apply


@pytest.mark.parametrize(
    "broken",
    [
        drop("run"),
        drop("results", 0, "processes", 0, "block_ns"),
        drop("results", 0, "summary", "step_time_ms"),
        put(2, "schema_version"),
        put("done", "run", "state"),
        put([], "results", 0, "processes", 0, "block_ns"),
        put(0, "results", 0, "processes", 0, "block_ns", 2),
        put("4", "results", 0, "processes", 0, "block_ns", 2),
        put(0, "results", 0, "processes", 0, "block_steps"),
        put(1, "results", 0, "extra"),
        put("best", "results", 0, "processes", 0, "memory", "method"),
    ],
)
def test_broken_files_do_not(broken: Callable[[Any], None]) -> None:
    content = document(result_file())
    broken(content)
    assert errors(content)


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_every_object_is_described_and_closed() -> None:
    for name, definition in SCHEMA["$defs"].items():
        assert definition["description"], name
        assert "Attributes" not in definition["description"]
        assert definition["additionalProperties"] is False, name
    assert set(references(SCHEMA)) == {f"#/$defs/{name}" for name in SCHEMA["$defs"]}


def test_descriptions_come_from_the_docstrings() -> None:
    properties = SCHEMA["$defs"]["Process"]["properties"]
    assert properties["block_steps"]["description"] == "K, the chained steps in a block."
    assert properties["latency_ns"]["description"].endswith("every block is exactly that.")
    assert msgspec.json.decode(msgspec.json.encode(SCHEMA)) == SCHEMA
