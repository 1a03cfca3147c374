"""Memory: what a worker may use, and whether the kernel ended one for using more."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from suite.hardware import host

_RESERVE_SHARE = 0.05
_LEAST_RESERVE = 256 * 2**20


def worker_memory_limit(platform: str) -> int | None:
    """Bytes that a worker may take, or None where no limit is set.

    On a Linux CPU a worker gets what is free now, less a reserve for the rest of the machine: it then
    runs out of memory by itself and can say so, before the kernel kills it, or something else.
    Elsewhere the device's own allocator knows its limit.
    """
    if platform != "cpu" or sys.platform != "linux":
        return None
    free = host.memory_limit_bytes()
    if free is None:
        return None
    return max(free - max(_LEAST_RESERVE, int(free * _RESERVE_SHARE)), free // 2)


def oom_kills(root: Path = Path("/")) -> int:
    """Processes that the kernel has killed for memory since it started; 0 where it does not count.

    The count is that of the whole machine. It says what a SIGKILL was for only together with a
    worker that died of one in between.
    """
    try:
        text = (root / "proc/vmstat").read_text()
    except OSError:
        return 0
    found = re.search(r"^oom_kill (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0
