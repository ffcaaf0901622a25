"""How much memory this computer has for a process: `memory` in all, `unused` now, `addresses` that a process may have.

Limits of control groups (containers) count. Linux tells them in files: cgroups(7), proc_meminfo(5), proc_pid_statm(5).
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Bytes of memory that processes here may have in all; 0: not known."""
    if os.name == "nt":
        status = (ctypes.c_uint64 * 8)(64)  # MEMORYSTATUSEX: its length, then two numbers of 32 bits, total bytes
        ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(status)  # type: ignore[attr-defined]
        return int(status[1])
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
    return min([there, *(limit for limit, _ in _limits())])


def unused(promised: int) -> int | None:
    """Bytes that nobody uses now, less what is `promised` in this process but not in use yet; None: not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE
        found = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    found = min([found, *(limit - used for limit, used in _limits())])
    return max(0, found - max(0, promised - resident))


def addresses() -> int | None:
    """Bytes of addresses that this process may still get; None: as many as it likes. Where that is limited, and it
    cannot be seen how many there are (in a jail): 0."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE
    except (OSError, ValueError):
        return 0
    return max(0, limit - used)


def _limits() -> Iterator[tuple[int, int]]:
    """(limit, bytes in use that are no file's) of each control group that this process is in."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            number, kinds, own = line.split(":", 2)
            old = "memory" in kinds.split(",")
            if not old and number != "0":
                continue
            root = _GROUPS / "memory" if old else _GROUPS
            most, now, file = (
                ("memory.limit_in_bytes", "memory.usage_in_bytes", "cache")
                if old
                else ("memory.max", "memory.current", "file")
            )
            folder = root / own.lstrip("/")
            for group in (folder, *folder.parents):
                with contextlib.suppress(OSError, ValueError):
                    limit = int((group / most).read_text(encoding="ascii"))
                    stat = dict(row.split() for row in (group / "memory.stat").read_text(encoding="ascii").splitlines())
                    yield limit, int((group / now).read_text(encoding="ascii")) - int(stat.get(file, 0))
                if group == root:
                    break
