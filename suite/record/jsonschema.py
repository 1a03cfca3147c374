"""The published JSON Schema of a result file, made from the records themselves.

Descriptions come from their docstrings: what stands before 'Attributes:' describes the object,
what stands in it the properties.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec

from suite.record.schema import SCHEMA_VERSION, ResultFile

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ENTRY = re.compile(r"^(\w+): (.*)$")


def json_schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of a result file of the present version."""
    (root,), definitions = msgspec.json.schema_components([ResultFile], ref_template="#/$defs/{name}")
    for struct in _structs(ResultFile):
        _describe(definitions[struct.__name__], struct)
    definitions["ResultFile"]["properties"]["schema_version"] |= {"const": SCHEMA_VERSION}
    return {
        "$schema": _DRAFT,
        "$id": f"urn:jaxmark:result-file:{SCHEMA_VERSION}",
        "title": "jaxmark result file",
        **root,
        "$defs": definitions,
    }


def _structs(root: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """Every record that a file can hold, each once."""
    seen: set[type[msgspec.Struct]] = set()
    waiting: list[Any] = [root]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if kind in seen:
                continue
            seen.add(kind)
            yield kind
            waiting.extend(get_type_hints(kind).values())
        else:
            waiting.extend(get_args(kind))


def _describe(definition: dict[str, Any], struct: type[msgspec.Struct]) -> None:
    text, _, attributes = inspect.cleandoc(struct.__doc__ or "").partition("\n\nAttributes:\n")
    definition["description"] = " ".join(text.split())
    for name, meaning in _attributes(attributes).items():
        definition["properties"][name]["description"] = meaning


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(text).splitlines():
        if entry := _ENTRY.match(line):
            name = entry[1]
            found[name] = entry[2]
        elif name:
            found[name] += f" {line.strip()}"
    return found
