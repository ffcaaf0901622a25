"""The structures of support.c as ctypes, and one host thread's context: `LaunchStruct`, `ThreadStruct`, `Context`."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from gpulab.virtual_gpu.machine import support
from gpulab.virtual_gpu.machine.arena import lazy
from gpulab.virtual_gpu.translate import jit, layout

_U32, _U64 = ctypes.c_uint32, ctypes.c_uint64
NONE = 0xFFFFFFFF


class WaveStruct(ctypes.Structure):
    """A wave's state (translate/layout.py)."""

    _fields_ = layout.ctypes_fields()


class LaunchStruct(ctypes.Structure):
    """What all threads of a launch share (`Launch` in support.c)."""

    _fields_ = [
        *((name, _U64) for name in (
            "entry", "next", "batch", "total", "ranges", "range_count", "freed", "freed_count", "lane_ids", "exec",
            "zeroed", "zeroed_count", "limit", "slice", "arena", "faulted", "cancel", "observer", "observed",
            "accesses", "access_count", "observation", "blind", "grid_barrier", "gone", "checker",
        )),
        ("grid", _U32 * 3),
        *((name, _U32) for name in ("waves", "wave_size", "vgprs", "lds_bytes", "scratch_bytes")),
        ("id_register", _U32 * 3),
        *((name, _U32) for name in ("id_vgprs", "first_pc", "residents")),
    ]  # fmt: skip


class FaultStruct(ctypes.Structure):
    """`Fault` in support.c."""

    _fields_ = [
        *((name, _U32) for name in ("kind", "instruction", "wave", "lane")),
        ("group", _U32 * 3),
        *((name, _U32) for name in ("bytes", "access", "padding")),
        ("address", _U64),
        ("number", _U64),
    ]


class _ThreadTail(ctypes.Structure):
    _fields_ = [
        ("fault", FaultStruct),
        *((name, _U64) for name in ("executed", "since", "grace")),
        *((name, _U64) for name in (
            "order", "number", "used", "at", "ended", "own", "own_end", "work", "awake", "quiet",
        )),
    ]  # fmt: skip


_WAVE_BYTES = layout.WAVE_BYTES
_BLEND: Any = None


def _blend() -> int:
    global _BLEND
    if _BLEND is None:
        _BLEND = jit.blend_table()
    return int(_BLEND[1])


class Context:
    """One host thread's memory: its `Thread` structure, workgroup slots, counters and allocation cache.

    `thread` is the address to hand to gpulab_run; `wave` the template of a wave's state; `tail` the fault and totals.
    """

    def __init__(self, arena: int) -> None:
        size = 64 + _WAVE_BYTES + ctypes.sizeof(_ThreadTail) + 64
        self._raw = (ctypes.c_uint8 * (size + 64))()
        start = -(-ctypes.addressof(self._raw) // 64) * 64
        self.thread = start
        self.head = (_U64 * 3).from_address(start)  # launch, memory, slot_bytes
        self.wave = WaveStruct.from_address(start + 64)
        self.tail = _ThreadTail.from_address(start + 64 + _WAVE_BYTES)
        functions = support.functions()
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
        if residents * slot_bytes > self._memory_bytes:
            size = max(residents * slot_bytes, 1 << 20)
            memory = lazy(size + 4096)
            self._memory, self._memory_bytes = memory, size
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            self.head[1] = -(-start // 64) * 64
        self.head[2] = slot_bytes
        if self.residents is None or len(self.residents) < 2 * residents:
            self.residents = (_U64 * max(2 * residents, 128))()
        self.tail.order = ctypes.addressof(self.residents)
        self.tail.number = self.tail.order + 8 * residents
        if self.counters is None or len(self.counters) < counters:
            self.counters = (_U64 * max(counters, 256))()
            self.wave.counters = ctypes.addressof(self.counters)
        else:
            ctypes.memset(self.counters, 0, 8 * counters)
        if active:
            if self.active is None or len(self.active) < active:
                self.active = (ctypes.c_uint8 * max(active, 4096))()
                self.wave.active = ctypes.addressof(self.active)
            else:
                ctypes.memset(self.active, 0, active)
        if self.cache is None or len(self.cache) < 2 * slots:
            self.cache = (_U64 * max(2 * slots, 256))()
            self.wave.cache = ctypes.addressof(self.cache)
        else:
            ctypes.memset(self.cache, 0, 16 * slots)
        addresses += layout.BUFFER["rows"] + 256
        if self.addresses is None or len(self.addresses) < addresses:
            self.addresses = (ctypes.c_uint8 * max(addresses, 8192))()
            self.wave.addresses = -(-ctypes.addressof(self.addresses) // 256) * 256
        self.tail.fault.kind = 0
        self.tail.executed = 0
        self.tail.since = self.tail.grace = 0
        self.tail.own = self.tail.own_end = 0
        self.tail.work = self.tail.awake = self.tail.quiet = 0
        self.tail.used = self.tail.at = self.tail.ended = 0  # an interrupted launch leaves workgroups behind
