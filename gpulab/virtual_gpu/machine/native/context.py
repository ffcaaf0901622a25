"""One host thread's memory for launches: `Context`; `Contexts` are those of a device."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from gpulab.virtual_gpu.machine.arena import lazy
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import LaunchStruct, ThreadStruct
from gpulab.virtual_gpu.translate import jit, layout

_U64 = ctypes.c_uint64
NONE = 0xFFFFFFFF
_BLEND: Any = None


def _blend() -> int:
    global _BLEND
    if _BLEND is None:
        _BLEND = jit.blend_table()
    return int(_BLEND[1])


class Context:
    """One host thread's memory: its `Thread` structure, workgroup slots, counters and allocation cache.

    `address` is what gpulab_run takes; `thread` the structure there; `wave` its template of a wave's state.
    """

    def __init__(self, arena: int) -> None:
        self._raw = (ctypes.c_uint8 * (ctypes.sizeof(ThreadStruct) + 64))()
        self.address = -(-ctypes.addressof(self._raw) // 64) * 64
        self.thread = ThreadStruct.from_address(self.address)
        self.wave = self.thread.template_wave
        functions = build.functions()
        wave = self.wave
        wave.blend, wave.resolve, wave.stop = _blend(), functions.resolve, functions.stop
        wave.load, wave.store = functions.load, functions.store
        wave.search, wave.clock, wave.cross = functions.scalar, functions.clock, functions.cross
        wave.matrix, wave.round, wave.row = functions.matrix, functions.round, functions.row
        wave.shuffle, wave.image = functions.shuffle, functions.image
        wave.high = arena >> 32
        self._memory: mmap.mmap | None = None
        self._memory_bytes = 0
        self.counters = (_U64 * 256)()
        self.active = (ctypes.c_uint8 * 4096)()
        self._cache = (_U64 * 256)()
        self._addresses = (ctypes.c_uint8 * 8192)()
        self._residents = (_U64 * 128)()

    def fit(self, launch: LaunchStruct, addresses: int) -> None:
        """Have room for such a launch, and for so many bytes of a run's addresses; what it had room for still fits."""
        thread, wave = self.thread, self.wave
        if launch.room * launch.slot_bytes > self._memory_bytes:
            size = max(launch.room * launch.slot_bytes, 1 << 20)
            memory = lazy(size + 4096)
            self._memory, self._memory_bytes = memory, size
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            thread.memory = -(-start // 64) * 64
        if len(self._residents) < 2 * launch.room:
            self._residents = (_U64 * (2 * launch.room))()
        if len(self.counters) < launch.block_count:
            self.counters = (_U64 * launch.block_count)()
        if len(self.active) < launch.active_bytes:
            self.active = (ctypes.c_uint8 * launch.active_bytes)()
        if ctypes.sizeof(self._cache) < launch.cache_bytes:
            self._cache = (_U64 * (launch.cache_bytes // 8))()
        addresses += layout.BUFFER["rows"] + 256
        if len(self._addresses) < addresses:
            self._addresses = (ctypes.c_uint8 * addresses)()
        thread.order = ctypes.addressof(self._residents)
        wave.counters, wave.active = ctypes.addressof(self.counters), ctypes.addressof(self.active)
        wave.cache = ctypes.addressof(self._cache)
        wave.addresses = -(-ctypes.addressof(self._addresses) // 256) * 256


class Contexts:
    """The memory of a device's host threads, made when it is first needed."""

    def __init__(self, arena: int) -> None:
        self._arena = arena
        self._made: list[Context] = []
        self._amounts: list[mmap.mmap] = []  # plans have the addresses of older ones

    def first(self, count: int) -> tuple[Context, ...]:
        """Those of the first `count` threads."""
        while len(self._made) < count:
            self._made.append(Context(self._arena))
        return tuple(self._made[:count])

    def amounts(self, workgroups: int) -> int:
        """The address of room for what each of so many workgroups does."""
        if not self._amounts or len(self._amounts[-1]) < 8 * workgroups:
            self._amounts.append(lazy(max(16 * workgroups, 4096)))
        return ctypes.addressof(ctypes.c_char.from_buffer(self._amounts[-1]))
