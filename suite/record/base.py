"""What all stored records share."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

# Checked when a file or a worker's answer is decoded, and published in the JSON Schema. A clock
# that reads zero or less over real work is broken, and its figures must not enter a file.
Positive = Annotated[int, msgspec.Meta(gt=0)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class Record(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Base of the stored records: keyword-only, unknown fields are errors."""


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A warning.

    Attributes:
        code: one word for scripts, such as 'not_steady'.
        message: plain words for people.
    """

    code: str
    message: str


def to_json(record: Any) -> bytes:
    """Encodes a record as strict JSON; NaN and infinity become null."""
    return msgspec.json.encode(record)
