"""One host thread's memory for launches: `Context`."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from gpulab.virtual_gpu.machine.arena import lazy
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.structures import ThreadStruct
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
        self._sizes: tuple[int, ...] = ()
        self.ready: object = None  # the launch that it was set up for last
        self.counters = (_U64 * 256)()
        self.active = (ctypes.c_uint8 * 4096)()
        self._cache = (_U64 * 256)()
        self._addresses = (ctypes.c_uint8 * 8192)()
        self._residents = (_U64 * 128)()

    def fit(self, residents: int, slot_bytes: int, counters: int, active: int, slots: int, addresses: int) -> None:
        """Make room: workgroup memory, counters, bytes of lane counts, cache entries, bytes of a run's addresses."""
        sizes = residents, slot_bytes, counters, active, slots, addresses
        if sizes != self._sizes:
            self._grow(*sizes)
            self._sizes = sizes

    def _grow(self, residents: int, slot_bytes: int, counters: int, active: int, slots: int, addresses: int) -> None:
        thread, wave = self.thread, self.wave
        if residents * slot_bytes > self._memory_bytes:
            size = max(residents * slot_bytes, 1 << 20)
            memory = lazy(size + 4096)
            self._memory, self._memory_bytes = memory, size
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            thread.memory = -(-start // 64) * 64
        thread.slot_bytes = slot_bytes
        if len(self._residents) < 2 * residents:
            self._residents = (_U64 * (2 * residents))()
        if len(self.counters) < counters:
            self.counters = (_U64 * counters)()
        if len(self.active) < active:
            self.active = (ctypes.c_uint8 * active)()
        if ctypes.sizeof(self._cache) < layout.ALLOCATION_BYTES * slots:
            self._cache = (_U64 * (layout.ALLOCATION_BYTES * slots // 8))()
        addresses += layout.BUFFER["rows"] + 256
        if len(self._addresses) < addresses:
            self._addresses = (ctypes.c_uint8 * addresses)()
        thread.block_count, thread.active_bytes = counters, active
        thread.cache_bytes = layout.ALLOCATION_BYTES * slots
        thread.order = ctypes.addressof(self._residents)
        thread.number = thread.order + 8 * residents
        wave.counters, wave.active = ctypes.addressof(self.counters), ctypes.addressof(self.active)
        wave.cache = ctypes.addressof(self._cache)
        wave.addresses = -(-ctypes.addressof(self._addresses) // 256) * 256
