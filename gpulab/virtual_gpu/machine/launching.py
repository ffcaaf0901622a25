"""What launches have in common: `Plan` is what is set up for all that were asked for in the same way (`Request`).

A kernel keeps its plans (`LoadedKernel.plans`). With one, a launch is a single call into native/workgroups.c: the
`Launch` structure is filled in already, and the host threads' memory (native/context.py) has room for it.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from typing import Any, NamedTuple

from gpulab.architectures import residency
from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.machine import balance, timing
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS, Arena
from gpulab.virtual_gpu.machine.loading import Code, Dim3, Home, LoadedKernel, Request
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.context import NONE, Contexts
from gpulab.virtual_gpu.machine.native.structures import LaunchStruct
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.lane_access import row_bytes

DEFAULT_LIMIT = 1 << 29
SLICE = 1 << 18  # instructions before a wave lets others run
SMALL_LAUNCH = 64  # waves; below that, other threads would cost more than they bring
RESIDENTS = 16  # workgroups that one host thread keeps alive when they wait for each other
RESIDENT_BYTES = 256 << 20


class Shape(NamedTuple):
    """The waves of a workgroup: how many, what VGPR 0 (1, 2) of each lane holds at the start, and EXEC of each wave."""

    waves: int
    ids: array[int]
    masks: array[int]

    @classmethod
    def of(cls, architecture: Architecture, block: Dim3, dimensions: int) -> Shape:
        """The waves of a block; so many dimensions of threadIdx are wanted."""
        size = architecture.wave_size
        waves = dispatch.waves(block, size)
        ids = dispatch.work_item_ids(block, dimensions, size, not architecture.has("packed-tid"))
        return cls(waves, ids, array("Q", (dispatch.active_lanes(block, w, size) for w in range(waves))))


def at_a_time(architecture: Architecture, kernel: LoadedKernel, block: Dim3, lds: int) -> int:
    """Workgroups of a kernel that a device holds at the same time, by HIP's formula.

    Args:
        lds: bytes of a workgroup, static and dynamic.
    """
    d, threads = kernel.descriptor, block[0] * block[1] * block[2]
    each = residency.api_blocks(architecture, d.vgprs, 0, d.sgprs, lds, threads, cu_mode=d.cu_mode)
    return each * architecture.multiprocessors


def most_alive(architecture: Architecture, kernel: LoadedKernel, block: Dim3, lds: int) -> int:
    """Workgroups that a host thread keeps alive at the most: `Plan.launch.room` is no larger."""
    return max(RESIDENTS, at_a_time(architecture, kernel, block, lds))


class Layout(NamedTuple):
    """What gpulab_collect writes: waves and blocks, then the sample: what was seen of LDS, and from which byte on words
    of logs, logs.

    size: of the sample's box.
    """

    size: Dim3
    counted: struct.Struct
    used: int
    log: int


class Plan:
    """Launches of a kernel for one request: `launch` is filled in for them, but for what the arena and the code change.

    Attributes:
        address: of `launch`. first: of the first thread. contexts: of all threads; the first runs what is observed.
        lds: bytes of a workgroup. total: workgroups. waves: of all of them. seen: what launches leave behind.
        settled: the code stays as it is. simple: nothing is to be prepared for each launch.
        live: the allocations (Arena.table). generation: of the arena, as they are there.
        sample: of the last launch that was observed (`Plan.seen` says how it lies in memory), which had the arguments
        `sampled`; None: not to be taken for another one.
    """

    __slots__ = (
        "_fits_straight", "_footprint", "_freed", "_granule", "_held", "_may_know", "address", "code", "contexts",
        "device", "first", "generation", "kernel", "launch", "lds", "live", "recording", "request", "sample", "sampled",
        "seen", "settled", "simple", "total", "waves",
    )  # fmt: skip

    def __init__(
        self, device: Home, contexts: Contexts, workers: int, kernel: LoadedKernel, request: Request, code: Code
    ) -> None:  # fmt: skip
        self.device, self.kernel, self.request, self.code = device, kernel, request, code
        architecture, block, hidden = device.architecture, request.block, request.hidden
        grid, profile, checked, only = request.grid, request.profile, request.checked, request.only
        shape = Shape.of(architecture, block, kernel.layout.work_item_dimensions)
        self.lds = lds = kernel.descriptor.lds_bytes + request.dynamic_lds
        self.total = total = grid[0] * grid[1] * grid[2]
        self.waves = total * shape.waves
        self._granule = 1 if checked else kernel.module.granule
        self.generation = -1
        self.live: array[int] = array("Q")
        self.sample = b""
        self.sampled: bytes | None = None
        self._footprint: tuple[array[int], bytes, int] = self.live, b"", 0
        plain = not (checked or hidden.multigrid_sync or hidden.hostcall_buffer)
        self.simple = plain and not profile
        # Of flat addresses those who record the sample and the observer know different patterns.
        spaces = {access.space for access in code.translation.accesses}
        self._may_know = plain and not (profile and "flat" in spaces)
        alone = code.ordered or (hidden.multigrid_sync and request.limit is not None)
        count = min(request.workers or (1 if alone else workers), total)
        if self.waves < SMALL_LAUNCH or profile or checked or only:
            count = 1

        self.launch = shared = LaunchStruct()
        self.address = ctypes.addressof(shared)
        size, waves, translation = architecture.wave_size, shape.waves, code.translation
        shared.total, shared.threads, shared.only = total, count, only
        # All lanes of all waves are there, and x goes up by one in each unit.
        unit, threads = translation.unit, block[0] * block[1] * block[2]
        self._fits_straight = bool(unit) and block[0] % unit == 0 and threads % size == 0 and not only
        self.take(code)
        shared.observed = total if profile or checked else 0
        shared.apart = total if only else shared.observed
        shared.batch = 1 if hidden.multigrid_sync else max(1, min(32, total // (16 * count)))
        shared.lane_ids, shared.exec = shape.ids.buffer_info()[0], shape.masks.buffer_info()[0]
        shared.zeroed, shared.zeroed_count = code.zeroed.buffer_info()[0], len(translation.zeroed)
        shared.limit = request.limit if request.limit is not None else DEFAULT_LIMIT
        shared.slice, shared.arena = SLICE, device.arena.base
        shared.grid[:] = grid
        shared.waves, shared.wave_size, shared.vgprs = waves, size, kernel.vgprs
        shared.lds_bytes, shared.scratch_bytes = lds, kernel.scratch_bytes
        for axis, register in enumerate(kernel.layout.workgroup_id):
            shared.id_register[axis] = NONE if register is None else register
        unpacked = kernel.layout.work_item_dimensions if kernel.layout.unpacked_ids else 1
        shared.id_vgprs = min(unpacked, kernel.vgprs)
        shared.first_pc = kernel.descriptor.entry
        shared.first_blocks = code.first_blocks
        slot_bytes = waves * (layout.WAVE_BYTES + kernel.vgprs * size * 4 + size * kernel.scratch_bytes)
        # Behind LDS: to a multiple of 64, and what a wave's other lanes would load (translate/masked.py).
        shared.slot_bytes = -(-(slot_bytes + lds + 64 + 4 * size) // 64) * 64
        # Blocks may wait for each other if the device holds them at a time. Checked: so many are alive from the start.
        held = min(total, at_a_time(architecture, kernel, block, lds))
        most = max(1, RESIDENT_BYTES // shared.slot_bytes)
        few = min(held if checked else RESIDENTS, most)
        shared.residents = total if hidden.multigrid_sync else few
        shared.fits = held == total
        each = held if shared.fits or code.ordered else held // workers
        shared.room = shared.residents if checked or hidden.multigrid_sync else max(few, min(each, most))
        shared.grid_barrier = hidden.multigrid_sync + dispatch.GRID_BARRIER_OFFSET if hidden.multigrid_sync else 0
        shared.blind = 0 if profile or code.checked else ctypes.addressof(code.blind)

        functions = build.functions()
        shared.store, shared.note = functions.keep_store if checked else functions.store, functions.note
        shared.symbols, shared.mode = code.symbols.buffer_info()[0], kernel.mode
        scalars = array("I", kernel.scalars())
        shared.scalars, shared.scalar_count = scalars.buffer_info()[0], len(scalars)
        first, preloaded, dword = kernel.layout.kernarg_preload
        shared.preload[:] = first, min(preloaded, max(kernel.kernarg_bytes // 4 - dword, 0)), dword
        shared.block_count = len(translation.blocks)
        shared.active_bytes = len(translation.segments) * layout.LANE_ROW
        shared.cache_bytes = layout.ALLOCATION_BYTES * translation.slots
        shared.arguments, shared.packet = kernel.kernarg, kernel.packet
        shared.explicit, segment = kernel.segment(request)
        packet = kernel.packet_words(request)
        words = [ctypes.create_string_buffer(raw, len(raw)) for raw in (segment, packet)]
        shared.segment, shared.packet_words = (ctypes.addressof(one) for one in words)
        shared.segment_bytes = len(segment)
        counted = bool(code.weights) and not only and 1 < total <= balance.MOST_GROUPS
        shared.amounts = contexts.amounts(total) if counted else 0
        shared.weights, shared.weight_count = code.weights.buffer_info()[0], len(code.weights) // 2
        self.recording = device.caches.sample(grid, waves)
        x, y, z = self.recording.size
        code.observer.record(shared, self.recording)
        shared.seen = device.caches.seen(shared.block_count, shared.access_count)
        ends = 24 * shared.access_count, 24 * shared.access_count + 4 * waves * x * y * z
        self.seen = Layout((x, y, z), struct.Struct(f"={1 + shared.block_count}Q"), *ends)
        self._held: Any = (shape, scalars, words)
        self.contexts = contexts.first(count)
        addresses = max(1, translation.widest) * row_bytes(size, code.checked)
        for context in self.contexts:
            context.fit(shared, addresses)
        self.first = self.contexts[0].address

    def take(self, code: Code) -> None:
        """The code's entry points, which optimising it changes. They are read whenever a workgroup goes on."""
        self.launch.entry, self.launch.straight = code.entry, code.straight if self._fits_straight else 0
        # Code for checked launches asks a checker; other observers are told of single accesses there.
        self.launch.tells = self.request.checked if code.checked else self.request.profile
        self.settled = code.settled

    def look_at(self, arena: Arena) -> None:
        """Let the kernel see the allocations that there are."""
        shared = self.launch
        self.generation = arena.generation
        self.live, self._freed = live, freed = arena.table(self._granule, self.device.index)
        shared.ranges, shared.range_count = live.buffer_info()[0], len(live) // RANGE_WORDS - 1
        shared.freed, shared.freed_count = freed.buffer_info()[0], len(freed) // RANGE_WORDS - 1
        shared.wide = arena.is_wide
        self.sampled = None

    def known_sample(self, kernarg: bytes) -> bytes:
        """What the sample of a launch with these arguments will be, if that is known: what it was of the one before,
        where memory's contents make no difference. Sets the launch up to be observed, or not to be."""
        if not self._may_know:
            return b""
        known = self.sampled == kernarg and self.code.translation.steady.get()
        if self.request.profile:  # it is observed in any case
            self.recording.size[:] = (0, 0, 0) if known else self.seen.size
        else:
            self.launch.observer = 0 if known else build.functions().record
        return self.sample if known else b""

    def footprint(self, live: array[int], kernarg: bytes) -> int:
        """`timing.footprint`; of launches one after the other it is often the same."""
        known = self._footprint
        if known[0] is not live or known[1] != kernarg:
            known = self._footprint = live, kernarg, timing.footprint(live, kernarg)
        return known[2]
