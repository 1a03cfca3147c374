"""How long each process measures."""

from __future__ import annotations

import msgspec


class MeasureSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long each process measures. The defaults are the protocol of docs/measuring.md."""

    warmup_seconds: float = 1.0
    block_seconds: float = 2.0
    latency_seconds: float = 1.0
