"""Counts what JAX compiles and reads from its persistent cache, through jax.monitoring."""

from __future__ import annotations

from typing import Any

import jax.monitoring

_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"
_HIT_EVENT = "/jax/compilation_cache/cache_hits"

_counts = {"compiled": 0, "hits": 0}


def _on_duration(event: str, duration_secs: float, **_: Any) -> None:
    if event == _COMPILE_EVENT:
        _counts["compiled"] += 1


def _on_event(event: str, **_: Any) -> None:
    if event == _HIT_EVENT:
        _counts["hits"] += 1


jax.monitoring.register_event_duration_secs_listener(_on_duration)
jax.monitoring.register_event_listener(_on_event)


def compiled_programs() -> int:
    """Programs compiled (or read from the cache) in this process so far."""
    return _counts["compiled"]


def cache_hits() -> int:
    """Programs read from the persistent cache in this process so far."""
    return _counts["hits"]
