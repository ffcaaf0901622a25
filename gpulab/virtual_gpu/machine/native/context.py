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
        wave.shuffle = functions.shuffle
        wave.arena, wave.high = arena, arena >> 32
        self._memory: mmap.mmap | None = None
        self._memory_bytes = 0
        self.counters: Any = None
        self.active: Any = None
        self.cache: Any = None
        self.addresses: Any = None
        self.residents: Any = None

    def fit(self, residents: int, slot_bytes: int, counters: int, active: int, slots: int, addresses: int) -> None:
        """Make room: workgroup memory, counters and bytes of lane counts (set to zero), cache entries, bytes of a run's
        addresses."""
        thread, wave = self.thread, self.wave
        if residents * slot_bytes > self._memory_bytes:
            size = max(residents * slot_bytes, 1 << 20)
            memory = lazy(size + 4096)
            self._memory, self._memory_bytes = memory, size
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            thread.memory = -(-start // 64) * 64
        thread.slot_bytes = slot_bytes
        if self.residents is None or len(self.residents) < 2 * residents:
            self.residents = (_U64 * max(2 * residents, 128))()
        thread.order = ctypes.addressof(self.residents)
        thread.number = thread.order + 8 * residents
        if self.counters is None or len(self.counters) < counters:
            self.counters = (_U64 * max(counters, 256))()
            wave.counters = ctypes.addressof(self.counters)
        else:
            ctypes.memset(self.counters, 0, 8 * counters)
        if active:
            if self.active is None or len(self.active) < active:
                self.active = (ctypes.c_uint8 * max(active, 4096))()
                wave.active = ctypes.addressof(self.active)
            else:
                ctypes.memset(self.active, 0, active)
        if self.cache is None or len(self.cache) < 2 * slots:
            self.cache = (_U64 * max(2 * slots, 256))()
            wave.cache = ctypes.addressof(self.cache)
        else:
            ctypes.memset(self.cache, 0, 16 * slots)
        addresses += layout.BUFFER["rows"] + 256
        if self.addresses is None or len(self.addresses) < addresses:
            self.addresses = (ctypes.c_uint8 * max(addresses, 8192))()
            wave.addresses = -(-ctypes.addressof(self.addresses) // 256) * 256
        thread.fault.kind = 0
        thread.executed = thread.since = thread.grace = 0
        thread.own = thread.own_end = 0
        thread.work = thread.awake = thread.quiet = 0
        thread.used = thread.at = thread.ended = 0  # an interrupted launch leaves workgroups behind
