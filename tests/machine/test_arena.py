"""The arena: addresses, bounds, reuse, and what messages are told."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import subprocess
import sys
import threading

import pytest

from gpulab.errors import DeviceMemoryError
from gpulab.virtual_gpu.machine import computer
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
    with pytest.raises(MemoryError, match="34,359,738,368 bytes"):
        arena.allocate(32 << 30, "device", 0)


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
    row = [live[i : i + 4].tolist() for i in range(0, len(live), 4)]
    assert [address, 100, 1, address] in row
    rounded, _ = arena.table(4096)
    assert [address, 4096, 1, address] in [rounded[i : i + 4].tolist() for i in range(0, len(rounded), 4)]
    arena.free(address)
    live, freed = arena.table()
    assert address not in live[::4]
    assert address in freed[::4]


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


# Where allocations are, by hand: 64 KiB at each end are never used, allocations begin at multiples of 256 bytes, and
# 4,096 bytes behind each (rounded up to 256) stay free.

ROOM = (1 << 32) - 2 * 65536


@pytest.fixture
def small_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with memory for 4 GiB on the device, and no more."""
    monkeypatch.setattr(computer, "memory", lambda: 5 << 30)


@pytest.mark.usefixtures("small_computer")
def test_places_follow_from_sizes() -> None:
    arena = Arena()
    first = arena.base + 65536
    assert (arena.free_bytes(), arena.largest_bytes(), arena.allocated) == (ROOM, ROOM - 4096, 0)
    assert arena.allocate(1, "device", 0) == first
    assert arena.allocate(256, "device", 0) == first + 256 + 4096
    assert arena.allocate(257, "device", 0) == first + 2 * (256 + 4096)
    last = first + 2 * (256 + 4096) + 512 + 4096
    assert arena.allocate(0, "device", 0) == last
    assert arena.allocated == 1 + 256 + 257
    assert arena.free_bytes() == ROOM - (3 * 256 + 512) - 4 * 4096
    aligned = arena.allocate(8, "device", 0, align=1 << 20)
    assert aligned == arena.base + (1 << 20)
    assert arena.allocate(8, "device", 0, align=1) == last + 256 + 4096  # in the gap before it
    arena.free(aligned)
    assert arena.free_bytes() == ROOM - (4 * 256 + 512) - 5 * 4096
    assert [a.address for a in arena.allocations()] == [first, first + 4352, first + 8704, last, last + 4352]
    for allocation in arena.allocations():
        arena.free(allocation.address)
    assert (arena.free_bytes(), arena.largest_bytes(), arena.allocated) == (ROOM, ROOM - 4096, 0)
    with pytest.raises(ValueError, match="negative"):
        arena.allocate(-1, "device", 0)


def test_an_allocation_whose_bytes_lie_elsewhere_is_freed_whole() -> None:
    """As memory that processes share does: its bytes are not in the arena's range."""
    first, arena = Arena(), Arena()
    address, free = arena.allocate(1 << 21, "device", 0), arena.free_bytes()
    elsewhere = mmap.mmap(-1, 1 << 21)
    arena.move(address, ctypes.addressof(ctypes.c_char.from_buffer(elsewhere)))
    arena.free(address)
    assert arena.free_bytes() == free + (1 << 21) + 4096
    assert arena.allocate(1 << 21, "device", 0) == address
    assert first.free_bytes() > 0


def test_memory_that_the_system_refuses_leaves_the_arena_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    free = arena.free_bytes()

    def refused(address: int, size: int) -> None:
        raise MemoryError("no more")

    with monkeypatch.context() as changed:
        changed.setattr(arena._reservation, "commit", refused)
        with pytest.raises(MemoryError, match="no more"):
            arena.allocate(100, "device", 0)
    assert (arena.free_bytes(), arena.allocations()) == (free, [])
    assert arena.allocate(100, "device", 0) == arena.base + 65536


def test_the_smallest_gap_that_fits_is_taken() -> None:
    arena = Arena()
    sizes = [8192, 256, 1024, 256, 2048, 256]
    places = [arena.allocate(size, "device", 0) for size in sizes]
    for place in places[::2]:
        arena.free(place)
    assert arena.allocate(1025, "device", 0) == places[4]
    assert arena.allocate(1024, "device", 0) == places[2]
    assert arena.allocate(100, "device", 0) == places[0]  # the only one that is left before the end
    assert arena.allocate(8192 - 256 - 4096, "device", 0) == places[0] + 256 + 4096  # the rest of it, to the byte


@pytest.mark.usefixtures("small_computer")
def test_all_can_be_had_and_not_more() -> None:
    arena = Arena()
    with pytest.raises(MemoryError):
        arena.allocate(ROOM - 4095, "device", 0)
    arena.free(arena.allocate(ROOM - 4096, "device", 0))
    first = arena.allocate(100, "device", 0)
    most = arena.largest_bytes()
    assert most == ROOM - 4096 - 256 - 4096
    second = arena.allocate(most, "device", 0)
    assert (arena.largest_bytes(), arena.free_bytes()) == (0, 0)
    arena.free(first)
    assert arena.largest_bytes() == 256
    arena.free(second)
    assert arena.free_bytes() == ROOM


@pytest.mark.parametrize("size", [5, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 5000, (3 << 20) + 77])
def test_memory_is_zero_again_in_every_byte(size: int) -> None:
    """Also where the new allocation begins within what was freed, at no page's start."""
    arena = Arena()
    for offset in (0, 256 + 4096, 4096 + 512 + 4096):
        used = arena.allocate(size + (2 << 20), "device", 0)
        arena.view(used, size + (2 << 20))[:] = b"\xab" * (size + (2 << 20))
        arena.free(used)
        filler = arena.allocate(offset - 4096, "device", 0) if offset else None
        again = arena.allocate(size, "device", 0)
        assert again == used + offset
        assert bytes(arena.view(again, size)) == bytes(size)
        for address in filter(None, (filler, again)):
            arena.free(address)


@pytest.mark.usefixtures("small_computer")
def test_freed_pieces_join_in_any_order() -> None:
    import itertools

    for order in itertools.permutations(range(4)):
        arena = Arena()
        places = [arena.allocate(256, "device", 0) for _ in range(4)]
        for at in order:
            arena.free(places[at])
        assert arena.largest_bytes() == ROOM - 4096


def test_the_nearest_allocation() -> None:
    arena = Arena()
    assert arena.nearest(arena.base) is None
    first, second = arena.allocate(256, "device", 0), arena.allocate(256, "host", 0)  # 4,096 bytes between

    def seen(address):
        note = arena.nearest(address)
        return note.address, note.relation, note.distance

    assert seen(first) == (first, "inside", 0)
    assert seen(first + 255) == (first, "inside", 0)
    assert seen(first + 256) == (first, "after", 0)
    assert seen(first - 1) == (first, "before", 1)
    assert seen(first + 256 + 2047) == (first, "after", 2047)
    assert seen(first + 256 + 2049) == (second, "before", 2047)
    assert seen(first + 256 + 2048) == (first, "after", 2048)
    assert seen(second + 1000) == (second, "after", 744)
    labels = {"device": "device memory", "host": "pinned host memory", "managed": "managed memory",
              "global": "global variable", "kernarg": "kernel arguments",
              "internal": "memory of the virtual GPU"}  # fmt: skip
    for kind, label in labels.items():
        for name in ("", "x"):
            address = arena.allocate(8, kind, 0, name)
            assert arena.nearest(address).name == f"{label} {name}".strip()
            arena.free(address)


def test_what_was_freed_lately_is_remembered() -> None:
    """The latest at an address; none that a new allocation covers; not what kernels never see; 64 of them."""
    arena = Arena()
    spans = []
    for size in (100, 300):
        address = arena.allocate(size, "device", 0)
        arena.free(address)
        spans.append((address, size))
    (first, _), (same, _) = spans
    assert first == same  # the first one's note went when the second took its place
    assert [(n.address, n.size, n.relation) for n in (arena.nearest(first + 299), arena.nearest(first))] == [
        (first, 300, "freed")
    ] * 2
    assert arena.nearest(first + 300) is None
    inner = arena.allocate(8, "internal", 0)
    assert inner == first
    assert arena.nearest(first + 299).relation == "freed"  # the machine's own memory does not hide it
    arena.free(inner)
    assert arena.nearest(first + 8).size == 300
    taken = arena.allocate(8, "device", 0)
    assert arena.nearest(first + 299).relation == "after"
    arena.free(taken)
    kept = [arena.allocate(8, "device", 0) for _ in range(65)]
    for address in kept:
        arena.free(address)
    assert arena.nearest(kept[0]) is None or arena.nearest(kept[0]).relation != "freed"
    assert all(arena.nearest(address).relation == "freed" for address in kept[1:])
    assert len(arena.table()[1]) == 4 * 65  # and a row of zeros at the end


def test_tables_are_made_when_something_changed() -> None:
    arena = Arena()
    address = arena.allocate(5000, "device", 0)
    live, freed = arena.table()
    assert (live.tolist(), freed.tolist()) == ([address, 5000, 0, address, 0, 0, 0, 0], [0, 0, 0, 0])
    assert arena.table()[0] is live
    assert arena.table(4096)[0].tolist() == [address, 8192, 0, address, 0, 0, 0, 0]
    assert arena.table()[0] is live
    generation = arena.generation
    arena.free(address)
    assert arena.generation > generation
    assert arena.table()[0].tolist() == [0, 0, 0, 0]
    assert arena.table()[1].tolist() == [address, 5000, 0, 0, 0, 0, 0, 0]
    for granule in (0, 4097):
        with pytest.raises(ValueError, match="granule"):
            arena.table(granule)


# Beyond 4 GiB: as far as three quarters of the computer's memory go, in whole GiB, at most 24

GIB = 1 << 30


@pytest.fixture
def large_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 16 GiB, of which nothing is in use."""
    monkeypatch.setattr(computer, "memory", lambda: 16 * GIB)
    monkeypatch.setattr(computer, "unused", lambda promised: 16 * GIB - promised)
    monkeypatch.setattr(computer, "addresses", lambda: None)


@pytest.mark.usefixtures("large_computer")
def test_it_grows_in_place_and_becomes_small_again() -> None:
    arena = Arena()
    first = arena.base + 65536
    assert (arena.reach, arena.size, arena.free_bytes()) == (12 * GIB, 4 * GIB, ROOM)
    assert arena.largest_bytes() == 12 * GIB - 2 * 65536 - 4096
    places = [arena.allocate(3 * GIB, "device", 0) for _ in "abc"]
    assert places == [first + n * (3 * GIB + 4096) for n in range(3)]
    assert (arena.size, arena.is_wide) == (10 * GIB, True)  # 9 GiB, two ends and three gaps
    for place in places:
        for at in (0, 3 * GIB - 8):
            view = arena.view(place + at, 8)
            assert bytes(view) == bytes(8)
            view[:] = b"12345678"
    assert [arena.find(place + 3 * GIB - 1).address for place in places] == places
    assert arena.find(places[2] + 3 * GIB) is None
    assert arena.holds(places[2] + 3 * GIB)
    assert arena.largest_bytes() == 12 * GIB - 2 * 65536 - 9 * GIB - 4 * 4096
    with pytest.raises(MemoryError, match=r"3,221,225,472 bytes of device memory: .* memory for 12,884,901,888 in all"):
        arena.allocate(3 * GIB, "device", 0)
    arena.free(places[1])
    assert arena.allocate(2 * GIB, "host", 0) == places[1]  # the smaller of two pieces
    for place in (places[2], places[0], places[1]):
        arena.free(place)
    assert (arena.size, arena.is_wide, arena.free_bytes()) == (4 * GIB, False, ROOM)
    again = arena.allocate(11 * GIB, "device", 0)
    assert again == first
    for at in (0, 3 * GIB - 8, 3 * GIB + 4096, 6 * GIB + 3 * 4096 - 8):
        assert bytes(arena.view(again + at, 8)) == bytes(8)
    arena.free(again)


@pytest.mark.usefixtures("large_computer")
def test_small_arrays_keep_away_from_multiples_of_4_gib() -> None:
    arena = Arena()
    filler = arena.allocate(4 * GIB - 65536 - (32 << 20), "reserved", 0)
    small = arena.allocate((32 << 20) - 65536 - 8192, "device", 0)  # what is left before the last 64 KiB
    assert small == filler + 4 * GIB - (32 << 20) - 65536 + 4096
    assert arena.size == 4 * GIB
    assert arena.allocate(16 << 10, "device", 0) == arena.base + 4 * GIB + 65536
    assert arena.allocate(63 << 20, "device", 0) == arena.base + 4 * GIB + 65536 + (16 << 10) + 4096
    arena = Arena()
    filler = arena.allocate(4 * GIB - 65536 - (32 << 20), "reserved", 0)
    large = arena.allocate(65 << 20, "device", 0)
    assert large == arena.base + 4 * GIB - (32 << 20) + 4096
    assert arena.is_wide
    arena.allocate(arena.largest_bytes(), "reserved", 0)
    arena.free(large)
    assert arena.largest_bytes() == 65 << 20
    arena.allocate(8 << 20, "device", 0)  # 57 MiB are left, of which 24 lie before the multiple
    for part in ((33 << 20) + 4096 - 65536, (24 << 20) - 65536 - 3 * 4096):
        assert arena.largest_bytes() == part
        arena.allocate(part, "device", 0)


@pytest.mark.usefixtures("large_computer")
def test_why_it_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    monkeypatch.setattr(computer, "unused", lambda promised: 6 * GIB + 5 - promised)
    assert arena.largest_bytes() == 6 * GIB - 4096
    with pytest.raises(MemoryError, match="of this computer's memory about 6,442,450,944 are not in use"):
        arena.allocate(7 * GIB, "device", 0)
    address = arena.allocate(arena.largest_bytes(), "device", 0)
    with pytest.raises(MemoryError, match="memory about 0 are not"):
        arena.allocate(arena.largest_bytes() + 256, "device", 0)
    reserved = arena.allocate(3 * GIB, "reserved", 0)  # needs addresses alone
    arena.free(address)
    arena.free(reserved)
    monkeypatch.setattr(computer, "unused", lambda promised: None)
    assert Arena().largest_bytes() == 12 * GIB - 2 * 65536 - 4096


@pytest.mark.usefixtures("large_computer")
def test_what_other_processes_do_does_not_change_what_is_told_to_be_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """It falls by what is allocated here, also where the computer's memory is what bounds it."""
    left = iter([9 * GIB + 700, 4 * GIB, 11 * GIB, 8 * GIB])
    monkeypatch.setattr(computer, "unused", lambda promised: next(left))
    arena = Arena()
    before = arena.largest_bytes()
    assert before == 9 * GIB - 4096
    address = arena.allocate(4 << 20, "device", 0)
    assert arena.largest_bytes() == before - (4 << 20)
    arena.free(address)
    assert arena.largest_bytes() == before


@pytest.mark.usefixtures("large_computer")
def test_what_fits_has_the_addresses_that_it_always_had(monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    seen = []
    for gigabytes in (5, 16):
        monkeypatch.setattr(computer, "memory", lambda gigabytes=gigabytes: gigabytes * GIB)
        arena, draw, mine, places = Arena(), random.Random(7), [], []
        for _ in range(300):
            if mine and draw.random() < 0.4:
                arena.free(mine.pop(draw.randrange(len(mine))))
            elif sum(arena.find(a).size for a in mine) < 2 * GIB:
                mine.append(arena.allocate(draw.choice((100, 5000, 1 << 20, 300 << 20)), "reserved", 0))
                places.append(mine[-1] - arena.base)
        seen.append(places)
    assert seen[0] == seen[1]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: addresses are reserved at the beginning elsewhere")
@pytest.mark.parametrize("more", [1, 5, 100])
def test_it_does_not_grow_into_the_last_2_gib_of_a_processs_addresses(more: int) -> None:
    program = """
import resource, sys
from gpulab.virtual_gpu.machine import computer
from gpulab.virtual_gpu.machine.arena import Arena
computer.memory, computer.unused = lambda: 16 << 30, lambda promised: None
arena, more = Arena(), int(sys.argv[1])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (more << 30) + (1 << 20), resource.RLIM_INFINITY))
most = arena.largest_bytes()
print((most >> 30) + 1)
try:
    arena.allocate(most + 256, "device", 0)
except MemoryError as error:
    print(error)
arena.allocate(most, "device", 0)
"""
    done = subprocess.run([sys.executable, "-c", program, str(more)], capture_output=True, text=True, check=False)
    size, said = done.stdout.splitlines()
    assert (done.returncode, done.stderr, int(size)) == (0, "", {1: 4, 5: 7, 100: 12}[more])
    assert ("no more addresses" in said) == (more < 100)


# Which bytes were never written


@pytest.mark.parametrize("piece", [1 << 24, 64, 7, 1])
def test_runs_that_nobody_wrote(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of fewer than 16 bytes do not count, unless all of the range is one; in whatever pieces it is looked at."""
    monkeypatch.setattr("gpulab.virtual_gpu.machine.arena.LOOKED_AT", piece)
    arena = Arena()
    address = arena.allocate(200, "device", 0)
    other = arena.allocate(200, "host", 0)
    run = lambda first, size: arena.unwritten_run(address + first, size)  # noqa: E731
    assert run(0, 200) == (address, 200)
    assert run(7, 20) == (address + 7, 20)
    assert run(0, 0) is None
    assert arena.unwritten_run(other, 200) is None
    for first, size in ((3, 10), (40, 1), (57, 63), (150, 0)):
        arena.written(address + first, size)
    written = {*range(3, 13), 40, *range(57, 120)}
    bits = arena.unwritten_bits(address)
    view = arena.view(bits, 200 // 8)
    assert [at for at in range(200) if view[at // 8] >> at % 8 & 1] == sorted(written)
    assert run(0, 57) == (address + 13, 27)
    assert run(41, 16) == (address + 41, 16)
    assert run(41, 30) == (address + 41, 16)
    assert run(42, 30) is None  # 15 bytes
    assert run(42, 15) == (address + 42, 15)  # but all of these
    assert run(57, 63) is None
    assert run(58, 142) == (address + 120, 80)
    assert run(120, 1) == (address + 120, 1)
    arena.written(address + 190, 100)  # cut at the end
    assert run(190, 10) is None
    arena.written(address + 300, 8)  # in no allocation
    arena.written(other, 8)
    assert arena.unwritten_bits(other) == 0
    arena.written(address, 199)
    assert run(199, 1) is None
    assert arena.unwritten_bits(address)
    arena.written(address, 200)
    assert arena.unwritten_bits(address) == 0
    assert run(0, 200) is None
    arena.free(address)
    arena.free(other)
    assert arena.unwritten == {}


# What the host must not touch

GUARDED = """
import ctypes, sys
from gpulab.virtual_gpu.machine import computer
from gpulab.virtual_gpu.machine.arena import Arena
computer.memory, computer.unused = lambda: 16 << 30, lambda promised: None
arena = Arena(guarded=True)
assert arena.is_guarded
large = [arena.allocate(3 << 30, kind, 0) for kind in ("device", "host", "device")]
assert arena.is_wide
for place in large:
    for at in (0, (3 << 30) - 1):
        assert bytes(arena.view(place + at, 1)) == bytes(1)
        arena.view(place + at, 1)[:] = b"y"
assert ctypes.string_at(large[1] + (3 << 30) - 1, 1) == b"y"
assert arena.home(large[2]) != large[2]
if sys.argv[1] != "far":
    for place in large:
        arena.free(place)
kept = {}
for kind in ("device", "global", "host", "managed", "signal", "kernarg", "internal"):
    for size in (100, 5000, 3 << 20):
        address = arena.allocate(size, kind, 0)
        view = arena.view(address, size)
        assert bytes(view) == bytes(size)
        view[:] = b"x" * size
        kept[kind, size] = address
for (kind, size), address in kept.items():
    assert sys.argv[1] == "far" or address >> 32 == arena.base >> 32
    open_ = kind not in ("device", "global")
    assert (arena.home(address + 9) == address + 9) == open_
    assert bytes(arena.view(address, size)) == b"x" * size
    if open_:
        assert ctypes.string_at(address, size) == b"x" * size
for address in kept.values():
    arena.free(address)
again = arena.allocate(5 << 20, "host", 0)
assert ctypes.string_at(again, 5 << 20) == bytes(5 << 20)
device = arena.allocate(5 << 20, "device", 0)
assert bytes(arena.view(device, 5 << 20)) == bytes(5 << 20)
places = {"far": large[2], "device": device, "freed": kept["host", 5000], "pinned": again}
place = places[sys.argv[1]] + 4096 * int(sys.argv[2])
print(hex(place), flush=True)
if sys.argv[3] == "write":
    ctypes.memset(place, 1, 1)
else:
    ctypes.string_at(place, 1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: addresses are chosen freely elsewhere")
@pytest.mark.parametrize(
    ("where", "page", "action", "ends"),
    [
        ("pinned", 0, "write", 0),
        ("pinned", 1279, "read", 0),
        ("pinned", 1280, "read", -11),  # the gap behind it
        ("device", 0, "read", -11),
        ("device", 1279, "write", -11),
        ("far", 700_000, "read", -11),
    ],
)
def test_the_host_cannot_touch_what_a_device_has_for_itself(where: str, page: int, action: str, ends: int) -> None:
    command = [sys.executable, "-c", GUARDED, where, str(page), action]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (ends, "")


def test_without_a_guard_addresses_are_homes(arena):
    assert not arena.is_guarded
    address = arena.allocate(100, "device", 0)
    assert (arena.home(address + 5), arena.home(5)) == (address + 5, 5)
    arena.free(address)


@pytest.mark.parametrize("holes", [(), (256,), (4096, 256), (65536, 4096, 256, 4096)])
def test_apart_distances_do_not_depend_on_gaps(holes):
    """A wild index is told of the array that is nearest: which one that is would depend on what was freed before."""
    arena = Arena()
    before = [(arena.allocate(size, "device", 0), arena.allocate(64, "device", 0)) for size in holes]
    for gone, _ in before:
        arena.free(gone)
    with arena.apart([]):
        own = [arena.allocate(size, "device", 0) for size in (200, 4000, 256, 60000)]
    assert [b - a for a, b in itertools.pairwise(own)] == [arena._room(size, "device") for size in (200, 4000, 256)]
    assert own[0] > max((kept for _, kept in before), default=0)
    assert own[0] % (16 << 20) == 0


def test_apart_is_what_is_allocated_in_the_block():
    arena = Arena()
    first = arena.allocate(4096, "device", 0)
    mine = arena.allocate(4096, "global", 0)
    other = arena.allocate(4096, "global", 0)
    inside = arena.allocate(4096, "internal", 0)
    gone = arena.allocate(4096, "device", 0)
    arena.free(gone)

    def seen():
        live, freed = arena.table()
        return set(live[:-4:4]), set(freed[:-4:4])

    assert seen() == ({first, mine, other, inside}, {gone})
    with arena.apart([mine]):
        new = arena.allocate(4096, "device", 0)
        assert seen() == ({mine, inside, new}, set())
        assert arena.find(first) is None
        assert arena.find(mine) is not None
        assert arena.nearest(first).relation != "inside"
        found = []
        thread = threading.Thread(target=lambda: found.append(seen()))  # another thread's kernels see all
        thread.start()
        thread.join()
        assert found[0][0] == {first, mine, other, inside, new}
        arena.free(new)
        assert seen() == ({mine, inside}, {new})
        arena.free(other)
        arena.free(inside)  # what is asked for now begins where `other` was
        assert arena.allocate(8192, "device", 0) == other
        assert arena.find(other) is not None
    assert seen()[0] == {first, mine, other}
