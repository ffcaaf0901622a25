"""The arena: addresses, bounds, reuse, and what messages are told."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpulab.errors import DeviceMemoryError
from gpulab.virtual_gpu.machine.arena import Arena


@pytest.fixture(scope="module")
def arena():
    return Arena()


def test_all_addresses_share_a_high_half(arena):
    addresses = [arena.allocate(size, "device", 0) for size in (1, 1000, 1 << 20, 300 << 20)]
    assert arena.base % 2**32 == 0
    assert {a >> 32 for a in addresses} == {arena.base >> 32}
    assert all(a % 256 == 0 for a in addresses)
    for address in addresses:
        arena.free(address)


def test_memory_is_zero_and_holds_what_is_written(arena):
    for size in (100, 3 << 20):
        first = arena.allocate(size, "device", 0)
        view = arena.view(first, size)
        assert view[0] == view[size - 1] == 0
        view[:] = b"\xab" * size
        arena.free(first)
        again = arena.allocate(size, "device", 0)
        assert bytes(arena.view(again, size)) == bytes(size)
        arena.free(again)


def test_freed_space_comes_together_again(arena):
    before = arena.free_bytes()
    pieces = [arena.allocate(1 << 20, "device", 0) for _ in range(8)]
    for address in pieces[::2] + pieces[1::2]:
        arena.free(address)
    assert arena.free_bytes() == before
    large = arena.allocate(3 << 30, "device", 0)
    arena.free(large)


def test_too_large_is_a_memory_error(arena):
    with pytest.raises(MemoryError, match="5368709120 bytes"):
        arena.allocate(5 << 30, "device", 0)


def test_freeing_twice_is_refused(arena):
    address = arena.allocate(64, "device", 0)
    arena.free(address)
    with pytest.raises(DeviceMemoryError, match=hex(address)):
        arena.free(address)


def test_find_and_nearest(arena):
    address = arena.allocate(100, "global", 1, "table")
    assert arena.find(address + 99).name == "table"
    assert arena.find(address + 100) is None
    after = arena.nearest(address + 104)
    assert (after.address, after.size, after.relation, after.distance) == (address, 100, "after", 4)
    assert after.name == "global variable table"
    before = arena.nearest(address - 8)
    assert (before.address, before.relation, before.distance) == (address, "before", 8)
    arena.free(address)
    assert arena.nearest(address + 8).relation == "freed"


def test_tables_follow_the_allocations(arena):
    address = arena.allocate(100, "device", 0, writable=False)
    live, _ = arena.table()
    row = [live[i : i + 3].tolist() for i in range(0, len(live), 3)]
    assert [address, 100, 1] in row
    rounded, _ = arena.table(4096)
    assert [address, 4096, 1] in [rounded[i : i + 3].tolist() for i in range(0, len(rounded), 3)]
    arena.free(address)
    live, freed = arena.table()
    assert address not in live[::3]
    assert address in freed[::3]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: addresses are chosen freely elsewhere")
def test_addresses_are_the_same_in_every_process() -> None:
    program = (
        "from gpulab.virtual_gpu.machine.arena import Arena\n"
        "arena = Arena()\nprint(hex(arena.allocate(1000, 'device', 0)), hex(arena.allocate(8, 'device', 0)))"
    )
    found = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in "ab"]
    assert found[0].stdout == found[1].stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: it reads /proc/self/smaps, and forks")
def test_reserved_memory_does_not_count_before_it_is_used() -> None:
    """Else Linux refuses to reserve more than there is, and to fork: mappings that lie side by side count as one."""
    program = """
import ctypes, os, re
from gpulab.virtual_gpu.machine.arena import Arena, SIZE
from gpulab.virtual_gpu.machine.checking import _Room
memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
arenas = [Arena() for _ in range(memory // (2 * SIZE) + 2)]
room = _Room()
room.fit(1 << 30)
flags = {}
for line in open("/proc/self/smaps"):
    if found := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
        first, end = (int(text, 16) for text in found.groups())
    elif line.startswith("VmFlags:"):
        flags[first, end] = line.split()[1:]
for address in (room.address, *(arena.base for arena in arenas)):
    assert "nr" in next(words for (first, end), words in flags.items() if first <= address < end), hex(address)
child = os.fork()
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("right")
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.stdout == "right\n", found.stderr
