"""Older result files, brought up to the present schema.

`MIGRATIONS` maps a schema version to the function that turns a decoded file of that version into
one of the next. A file is migrated in memory when it is read; nothing on disk is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from suite.errors import ResultFileError
from suite.record.schema import SCHEMA_VERSION

Document = dict[str, Any]
Migration = Callable[[Document], Document]

MIGRATIONS: Mapping[int, Migration] = {}


def migrate(
    document: Document,
    where: str,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    target: int = SCHEMA_VERSION,
) -> Document:
    """Returns a decoded file, or the header of a journal, at schema `target`, a version at a time.

    Args:
        document: the decoded JSON object; a migration may change it in place.
        where: the file's name, for messages.
        migrations: version -> function to the next version.
        target: the version wanted.

    Raises:
        ResultFileError: `schema_version` is missing, no whole number, newer than `target`, or
            one that no migration starts from.
    """
    version = document.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise ResultFileError(
            f"{where}: expected a whole number as 'schema_version', found {version!r}. "
            "This is not a result file of jaxmark."
        )
    if version > target:
        raise ResultFileError(
            f"{where}: written by a newer jaxmark (schema {version}; this one reads up to {target}). "
            "Upgrade with: pip install --upgrade jaxmark"
        )
    while version < target:
        if version not in migrations:
            oldest = min(migrations, default=target)
            raise ResultFileError(f"{where}: expected schema {oldest} to {target}, found {version}.")
        document = migrations[version](document)
        version += 1
        document["schema_version"] = version
    return document
