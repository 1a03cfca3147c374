"""The limits that a Linux control group puts on this process, version 1 or 2.

A limit may sit on the process's own group or on any group above it, so each is read from the
group up to the mount and the tightest counts. Inside a container the path in
`/proc/self/cgroup` may not exist below the mount; the groups that do exist are read.
Every function takes `root`, the folder that stands for `/`, so that tests can plant a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from suite.hardware.files import ROOT, read_int, read_text

_MOUNT = "sys/fs/cgroup"
# Version 1 writes 'no limit' as the largest page-aligned 63-bit number.
_UNLIMITED = 1 << 60
# Controller, then the names of the limit, the usage and the reclaimable part in memory.stat.
_MEMORY_FILES = (
    ("", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def _own_path(root: Path, controller: str) -> str | None:
    """The process's group for `controller` ('' for version 2), as in /proc/self/cgroup."""
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            return path
    return None


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Folders of the process's group and of those above it, that exist, innermost first."""
    path = _own_path(root, controller)
    if path is None:
        return
    mount = root / _MOUNT / controller if controller else root / _MOUNT
    group = mount / path.strip("/")
    for folder in (group, *group.parents):
        if folder.is_dir():
            yield folder
        if folder == mount:
            return


def _headrooms(root: Path) -> Iterator[int]:
    """Bytes still free in each group that has a memory limit."""
    for controller, limit_name, usage_name, reclaimable_name in _MEMORY_FILES:
        for group in _groups(root, controller):
            limit = read_int(group / limit_name)
            if limit is None or limit >= _UNLIMITED:
                continue
            usage = read_int(group / usage_name) or 0
            # Page cache counts as usage, and the kernel drops it before it kills anyone.
            reclaimable = _stat(group / "memory.stat", reclaimable_name)
            yield max(0, limit - usage + min(usage, reclaimable))


def _stat(path: Path, key: str) -> int:
    for line in (read_text(path) or "").splitlines():
        name, _, value = line.partition(" ")
        if name == key and value.strip().isdigit():
            return int(value)
    return 0


def memory_headroom(root: Path = ROOT) -> int | None:
    """Bytes still free under the tightest limit, reclaimable page cache included; None without one."""
    return min(_headrooms(root), default=None)


def cpu_quota(root: Path = ROOT) -> float | None:
    """CPU time allowed, in cores (1.5 is one and a half); None without a quota."""
    quotas = []
    for group in _groups(root, ""):
        quota, _, period = (read_text(group / "cpu.max") or "").partition(" ")
        if quota.isdigit() and period.strip().isdigit():
            quotas.append(int(quota) / int(period))
    for group in _groups(root, "cpu"):
        microseconds, every = read_int(group / "cpu.cfs_quota_us"), read_int(group / "cpu.cfs_period_us")
        if microseconds is not None and microseconds > 0 and every:
            quotas.append(microseconds / every)
    return min(quotas, default=None)
