"""What a run records that is one side of `jaxmark ab`."""

from __future__ import annotations

from typing import Literal

import msgspec

from suite.record.base import Record

SideName = Literal["base", "new"]


class Paired(Record):
    """One of the two sides whose processes ran in pairs, one of each, right after each other.

    Attributes:
        side: which one this file holds.
        partner: id of the run that holds the other side. Processes of equal `index` are a pair.
        first: case key -> the side that ran first, for each pair in turn. Drawn from the seed before
            anything was measured; longer than the pairs that were.
        python: interpreter that ran this side, as it was named; null for jaxmark's own.
        variables: environment variables that were named for either side, as this side had them.
    """

    side: SideName
    partner: str
    first: dict[str, list[SideName]]
    python: str | None = None
    variables: dict[str, str] = msgspec.field(default_factory=dict)
