"""What the forecasting command and its worker say to each other, one JSON object a line.

The worker says `Ready` once, then answers each `Job` with one `Forecast`, until its standard
input closes.
"""

from __future__ import annotations

import msgspec

from suite.spec.case import Case


class Job(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One case to compile for one chip.

    Attributes:
        target: short name of the chip.
        source: 'file.py:name' of a user's own workload; None for one of the catalogue.
        cache: folder of earlier answers; None compiles afresh.
    """

    case: Case
    target: str
    source: str | None = None
    cache: str | None = None


class Ready(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the worker's environment has.

    Attributes:
        versions: of jax, flax and of each compiler's distribution that is installed.
    """

    versions: dict[str, str]
