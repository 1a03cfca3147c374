"""Settings given on the command line: `--set key=value`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from suite.errors import ConfigError, nearest
from suite.spec.fields import CASE, RUN


def parse_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """Parses 'key=value' pairs: keys of [run], fields of a case, and 'params.name'.

    The value is TOML; a bare word, a duration or a name stands for itself. '--key=value' is a pair
    that a flag of its own gave, and which errors call by that flag.

    Raises:
        ConfigError: no '=', an unknown key, or a value that the key cannot have.
    """
    overrides: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        where = text if text.startswith("--") else f"--set {text!r}"
        key = key.removeprefix("--")
        if not equals or not key or not value:
            raise ConfigError(f"{where}: expected KEY=VALUE, such as --set precision=bf16.")
        root, _, param = key.partition(".")
        if (param and root != "params") or root not in (*RUN.checks, *CASE.checks):
            raise ConfigError(f"{where}: unknown key {key!r}. {nearest(key, [*RUN.checks, *CASE.checks])}")
        parsed = _parse_value(value, where)
        if param:
            parsed = overrides.get("params", {}) | {param: parsed}
        (RUN if root in RUN.checks else CASE).check_value(root, parsed, where)
        overrides[root] = parsed
    return overrides


def _parse_value(text: str, where: str) -> Any:
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        if text[0] in "[{\"'":
            raise ConfigError(f"{where}: not a valid TOML value: {error}.") from error
        return text
    except RecursionError as error:
        raise ConfigError(f"{where}: not a valid TOML value: lists nested too deep to read.") from error
    # 'a\nb = 1' would be a second key: not one value.
    return document["value"] if len(document) == 1 else text
