"""What the computer has: Linux's files are read as their manuals describe them, limits of containers included."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpulab.virtual_gpu.machine import computer

GIB = 1 << 30


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of / for these files."""

    monkeypatch.setattr(computer, "Path", lambda name: tmp_path / name.lstrip("/"))
    monkeypatch.setattr(computer, "_GROUPS", tmp_path / "sys/fs/cgroup")
    monkeypatch.setattr(computer.os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 << 20}[name])
    monkeypatch.setattr(computer.mmap, "PAGESIZE", 4096)
    put(tmp_path, "proc/meminfo", f"MemTotal: {16 << 20} kB\nMemFree: 5 kB\nMemAvailable: {12 << 20} kB\n")
    put(tmp_path, "proc/self/statm", f"{3 << 18} {1 << 18} 9 9 0 9 0\n")  # 3 GiB of addresses, 1 GiB in memory
    return tmp_path


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


def test_without_limits(files: Path) -> None:
    assert computer.memory() == 16 * GIB
    assert computer.unused(0) == computer.unused(GIB) == 12 * GIB
    assert computer.unused(5 * GIB) == 8 * GIB  # 4 GiB were promised and are not in memory yet
    assert computer.unused(100 * GIB) == 0
    (files / "proc/meminfo").unlink()
    assert computer.unused(0) is None


def test_a_container_of_cgroups_2(files: Path) -> None:
    put(files, "proc/self/cgroup", "0::/a/b\n")
    root = "sys/fs/cgroup"
    put(files, f"{root}/a/b/memory.max", "max\n")
    put(files, f"{root}/a/memory.max", f"{6 * GIB}\n")
    put(files, f"{root}/a/memory.current", f"{5 * GIB}\n")
    put(files, f"{root}/a/memory.stat", f"anon {2 * GIB}\nfile {3 * GIB}\n")
    assert (computer.memory(), computer.unused(0)) == (6 * GIB, 4 * GIB)  # what files take can be had


def test_a_container_of_cgroups_1(files: Path) -> None:
    put(files, "proc/self/cgroup", "5:cpu:/\n4:memory:/x\n0::/\n")
    root = "sys/fs/cgroup/memory"
    for group, limit in (("", 1 << 62), ("/x", 7 * GIB)):
        put(files, f"{root}{group}/memory.limit_in_bytes", f"{limit}\n")
        put(files, f"{root}{group}/memory.usage_in_bytes", f"{GIB}\n")
        put(files, f"{root}{group}/memory.stat", "cache 0\nrss 5\n")
    assert (computer.memory(), computer.unused(0)) == (7 * GIB, 6 * GIB)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_limited_addresses(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    for limit, left in ((resource.RLIM_INFINITY, None), (5 * GIB, 2 * GIB), (GIB, 0)):
        monkeypatch.setattr(resource, "getrlimit", lambda what, limit=limit: (limit, resource.RLIM_INFINITY))
        assert computer.addresses() == left
    (files / "proc/self/statm").unlink()
    assert computer.addresses() == 0


def test_here() -> None:
    """Whatever this computer has, it is no less than what this process uses."""
    assert computer.memory() == 0 or computer.memory() > 1 << 28
    assert computer.unused(0) is None or computer.unused(0) <= computer.memory()
