"""A host thread's memory and shadow memory: where they are, room for a launch, and what is made anew."""

from __future__ import annotations

import ctypes
import mmap

import pytest

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.machine import checking
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.context import Context, Contexts
from gpulab.virtual_gpu.machine.native.structures import LaunchStruct
from gpulab.virtual_gpu.translate import layout


def within(place: int, size: int, room: object) -> bool:
    start = ctypes.addressof(room)  # type: ignore[arg-type]
    return start <= place and place + size <= start + ctypes.sizeof(room)  # type: ignore[arg-type]


def test_where_a_wave_finds_the_support_code() -> None:
    made, functions = Context(0x7F_8000_0000_0000), build.functions()
    assert made.address % 64 == 0
    assert within(made.address, ctypes.sizeof(made.thread), made._raw)
    wave = made.wave
    assert ctypes.addressof(wave) == made.address + type(made.thread).template_wave.offset
    names = ("resolve", "stop", "load", "store", "clock", "cross", "matrix", "round", "row", "shuffle", "image")
    assert [getattr(wave, name) for name in names] == [getattr(functions, name) for name in names]
    assert (wave.search, wave.high) == (functions.scalar, 0x7F8000)
    assert wave.blend


@pytest.mark.parametrize(
    ("room", "slot", "blocks", "active", "cache", "addresses"),
    [
        (1, 64, 1, 1, 8, 1), (64, 1 << 14, 256, 4096, 2048, 256), (65, (1 << 14) + 64, 257, 4097, 2056, 9000),
        (700, 5056, 5000, 70000, 8 * 5000, 1 << 16),
    ],
)  # fmt: skip
def test_a_launch_has_room(room: int, slot: int, blocks: int, active: int, cache: int, addresses: int) -> None:
    made = Context(1 << 40)
    launch = LaunchStruct(room=room, slot_bytes=slot, block_count=blocks, active_bytes=active, cache_bytes=cache)
    kept = []
    for _ in range(2):
        made.fit(launch, addresses)
        memory = ctypes.c_uint8.from_buffer(made._memory)  # type: ignore[arg-type]
        first = ctypes.addressof(memory)
        del memory
        thread, wave = made.thread, made.wave
        assert thread.memory % 64 == 0
        assert first <= thread.memory
        assert thread.memory + room * slot <= first + len(made._memory)  # type: ignore[arg-type]
        assert within(thread.order, 16 * room, made._residents)  # places of slots, and numbers of workgroups
        assert within(wave.counters, 8 * blocks, made.counters)
        assert within(wave.active, active, made.active)
        assert within(wave.cache, cache, made._cache)
        assert wave.addresses % 256 == 0
        assert within(wave.addresses, layout.BUFFER["rows"] + addresses, made._addresses)
        kept.append([made._memory, made._residents, made.counters, made.active, made._cache, made._addresses])
    assert all(one is other for one, other in zip(*kept, strict=True))  # what had room once has it again
    launch.room, launch.block_count, launch.active_bytes, launch.cache_bytes = room * 2000, 90000, 90000, 800000
    made.fit(launch, 1 << 20)
    assert made._memory_bytes == max(room * 2000 * slot, 1 << 20)
    larger = [made._residents, made.counters, made.active, made._cache, made._addresses]
    assert not any(one is other for one, other in zip(kept[0][1:], larger, strict=True))


def test_threads_keep_their_memory() -> None:
    found = Contexts(1 << 40)
    two = found.first(2)
    assert len(two) == 2
    assert two[0] is not two[1]
    assert found.first(1) == two[:1]
    assert found.first(3)[:2] == two
    small = found.amounts(256)
    assert found.amounts(512) == found.amounts(1) == small  # 4096 bytes are the least
    large = found.amounts(513)
    assert large != small
    assert found.amounts(1026) == large  # twice what was asked for
    assert found.amounts(1027) not in (small, large)
    assert [len(each) for each in found._amounts] == [4096, 16 * 513, 16 * 1027]


def test_shadow_memory_grows_by_pages_and_reads_as_zero() -> None:
    room = checking._Room()
    assert (room.address, room.size) == (0, 0)
    assert room.fit(1) is True
    assert room.size == 65536
    first = room.address
    ctypes.memset(first, 1, 65536)
    assert room.fit(65536) is False
    assert room.address == first
    assert room.fit(65537) is True
    assert room.size == 65536 + mmap.PAGESIZE
    assert ctypes.string_at(room.address, room.size) == bytes(room.size)
    assert room.fit(1) is False
    for _ in range(2):
        room.release()
        assert (room.address, room.size, room._map) == (0, 0, None)


def test_which_lane_a_shadow_cell_belongs_to() -> None:
    table, rows, row = checking._lane_table().tolist(), schema.constant("LANE_ROWS"), schema.constant("LANE_ROW")
    assert len(table) == rows * row
    assert table[:row] == table[row : 2 * row] == list(range(row))
    assert table[4 * row : 4 * row + 9] == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert table[-1] == (row - 1) // (rows - 1)
