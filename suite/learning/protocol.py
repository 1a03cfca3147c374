"""What `jaxmark learn` and its workers say to each other.

One `Job` line on the worker's standard input; on its standard output any number of `Seen`, then
one `Done`. Standard input stays open while the command lives.
"""

from __future__ import annotations

import msgspec

from suite.record.learning import Attempt, Evaluation
from suite.spec.learning import Task


class Job(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One task to train for from one seed.

    Attributes:
        platform: 'cpu', 'cuda', 'rocm' or 'tpu': what JAX must give, or the job fails.
        memory_limit_bytes: more than this and the process is out of memory; None for no limit.
    """

    task: Task
    seed: int
    platform: str
    memory_limit_bytes: int | None = None


class Seen(msgspec.Struct, kw_only=True, tag="seen"):
    """The held-out data was evaluated."""

    evaluation: Evaluation


class Done(msgspec.Struct, kw_only=True, tag="done"):
    """The worker's last word."""

    attempt: Attempt


Message = Seen | Done
