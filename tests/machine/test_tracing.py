"""The memory that traces see: checks as in every launch, and copies of the pages that the traced workgroup writes."""

from __future__ import annotations

import random

import pytest

from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.tracing import ArenaMemory, Overlay
from gpulab.virtual_gpu.reference.memory import BadAccess


@pytest.fixture
def arena():
    return Arena()


def test_an_overlay_is_memory_and_leaves_the_device_alone(arena):
    """Against a plain array of bytes: any reads and writes, over pages of 256 bytes and at their ends."""
    size = 1024
    address = arena.allocate(size, "device", 0)
    given = bytes(i * 7 & 0xFF for i in range(size))
    arena.view(address, size)[:] = given
    overlay, model, r = Overlay(arena), bytearray(given), random.Random(3)
    spans = [(0, 1024), (255, 1), (256, 1), (255, 2), (0, 256), (256, 256), (1023, 1), (200, 700)]
    spans += [(at := r.randrange(size), r.randint(1, min(600, size - at))) for _ in range(60)]
    for first, count in spans:
        assert overlay.read(address + first, count) == model[first : first + count]
        data = r.randbytes(count)
        overlay.write(address + first, data)
        model[first : first + count] = data
        assert overlay.read(address, size) == model
    assert bytes(arena.view(address, size)) == given


def kind_of(call, *arguments):
    with pytest.raises(BadAccess) as caught:
        call(*arguments)
    return caught.value.kind


def test_bad_accesses(arena):
    address = arena.allocate(100, "device", 0)
    fixed = arena.allocate(100, "global", 0, "table", writable=False)
    gone = arena.allocate(100, "device", 0)
    arena.free(gone)
    for memory in (Overlay(arena), ArenaMemory(arena)):
        assert memory.read(address + 99, 1) == b"\0"
        memory.write(address + 96, b"abcd")
        assert memory.read(address + 96, 4) == b"abcd"
        for place, size, kind in (
            (address + 100, 1, "out of bounds"), (address + 97, 4, "out of bounds"), (gone + 50, 4, "freed"),
            (4095, 1, "null"), (0, 1, "null"), (4096, 1, "out of bounds"),
        ):  # fmt: skip
            assert kind_of(memory.read, place, size) == kind_of(memory.write, place, bytes(size)) == kind
        assert memory.read(fixed, 4) == bytes(4)
        assert kind_of(memory.write, fixed, b"a") == "read-only"
        assert bytes(arena.view(fixed, 1)) == b"\0"
    with pytest.raises(BadAccess) as caught:
        ArenaMemory(arena).read(address + 97, 4)
    assert (caught.value.address, caught.value.size, caught.value.nearest.address) == (address + 97, 4, address)
