"""What the orchestrator and its workers say to each other.

The orchestrator writes one `Job` line to the worker's standard input and keeps it open; end of
file there means that the orchestrator is gone, and the worker leaves. The worker answers on its
standard output with one JSON object a line: any number of `Progress`, then one `Outcome`
wrapped in `Done`. Everything that libraries print goes to standard error.
"""

from __future__ import annotations

import msgspec

from suite.record.schema import MeasureSettings, Outcome, Stage
from suite.spec.case import Case


class Job(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One case to measure once.

    Attributes:
        platform: 'cpu', 'cuda', 'rocm' or 'tpu': what JAX must give, or the job fails.
        source: 'path/to/file.py:name' of a user's workload; None for the catalogue.
        block_steps: K if an earlier process has chosen it.
        cache_dir: a persistent compilation cache to use; None compiles cold.
        verify: also check the smoke preset against the committed reference, after measuring.
        memory_limit_bytes: more than this and the case is out of memory; None for no limit.
    """

    case: Case
    index: int
    platform: str
    seed: int
    settings: MeasureSettings
    source: str | None = None
    block_steps: int | None = None
    cache_dir: str | None = None
    verify: bool = False
    memory_limit_bytes: int | None = None


class Progress(msgspec.Struct, kw_only=True, tag="progress"):
    """The worker has entered a stage."""

    stage: Stage


class Done(msgspec.Struct, kw_only=True, tag="done"):
    """The worker's last word."""

    outcome: Outcome


Message = Progress | Done


class Identity(msgspec.Struct, kw_only=True, tag="identity"):
    """What a user's own workload says it is, asked before a run.

    Attributes:
        index: of its source among those that were asked for.
        case: None where its own code raises.
        refusal: why it is no workload, in words for its author; None if it is one.
    """

    index: int
    case: Case | None = None
    refusal: str | None = None
