"""A virtual GPU: `VirtualDevice` loads programs (loading.py) and runs launches.

A launch has three steps. `_prepare`: kernel arguments and initial registers (dispatch.py), what all host threads
share, a context for each of them (native/context.py). `_drive`: the loop over workgroups in C (native/workgroups.c)
calling the translated kernel. `_record`: counters, modelled time (finished.py) and, if the kernel was stopped, a Fault
(faults.py). Small launches run in the caller's thread; larger ones on all cores. One device runs one launch at a time.

Launches repeat exactly. Kernels whose results may depend on the order of workgroups (atomics that return a value, of
floats, exchanges) therefore run on one thread, workgroup after workgroup; and of several faults the one in the
workgroup with the lowest number is reported. A cooperative launch with a limit of instructions runs on one thread, too:
how many of them a wave executes while it waits for others would depend on how fast the threads are.

The instruction limit: a wave that has executed `limit` instructions (counted where loops turn, by the loop's length)
is stopped with a "timeout"; so is a host thread when no wave has ended for twice as many, and for 2**28 at least: under
a low limit many waves that take turns need more than that between them before the first ends. The default, 2**29, is a
few seconds of work for one wave.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gpulab import cores
from gpulab.architectures import residency
from gpulab.architectures.architecture import Architecture
from gpulab.errors import InternalError, UnsupportedInstruction
from gpulab.records import Counters, Fault, LastWriters, Later, Launch, ModelledTime, Trace
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.instruction import Program
from gpulab.virtual_gpu.machine import faults
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS, Arena
from gpulab.virtual_gpu.machine.finished import Finished, memory_ranges
from gpulab.virtual_gpu.machine.loading import Code, Dim3, Hidden, LoadedKernel, LoadedModule
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.context import NONE, Context
from gpulab.virtual_gpu.machine.native.structures import LaunchStruct
from gpulab.virtual_gpu.machine.observation import PROFILED, Caches
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.memory import row_bytes

if TYPE_CHECKING:
    import numpy as np

    from gpulab.virtual_gpu.machine.checking import Checker

DEFAULT_LIMIT = 1 << 29
SLICE = 1 << 18  # instructions before a wave lets others run
SMALL_LAUNCH = 64  # waves; below that, other threads would cost more than they bring
RESIDENTS = 16  # workgroups that one host thread keeps alive when they wait for each other
RESIDENT_BYTES = 256 << 20
_NO_FAULT = 0xFFFFFFFFFFFFFFFF

_executor: ThreadPoolExecutor | None = None


def _forget_threads() -> None:
    """A forked process has none of its parent's threads; it starts its own."""
    global _executor
    _executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _threads() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(cores.usable(), thread_name_prefix="gpulab")
    return _executor


class Host(Protocol):
    """Who answers a kernel's calls of the host: at `address` is their buffer, at `ready` the word that is not 0 when a
    wave waits. `answer` is called then, and now and then besides."""

    @property
    def address(self) -> int: ...

    @property
    def ready(self) -> int: ...

    def answer(self) -> None: ...


class Request(NamedTuple):
    """A launch as it was asked for: see `VirtualDevice.launch`."""

    kernel: LoadedKernel
    grid: Dim3
    block: Dim3
    dynamic_lds: int
    kernarg: bytes
    profile: bool
    checked: bool
    limit: int | None
    workers: int | None
    hidden: Hidden
    only: bool = False


class Shape(NamedTuple):
    """The waves of a workgroup: how many, what VGPR 0 (1, 2) of each lane holds at the start, and EXEC of each wave."""

    waves: int
    ids: array[int]
    masks: array[int]


class Prepared(NamedTuple):
    """A launch that can start.

    workgroups: of the grid. lds: bytes of a workgroup. live: the allocations (Arena.table). contexts: one for each host
    thread, the first of which runs the observed workgroups.
    """

    code: Code
    workgroups: int
    waves: int
    lds: int
    live: array[int]
    contexts: list[Context]


# What makes two launches alike, so that what is set up for one is there for the next: the kernel and its entry point,
# grid, block, dynamic LDS, limit of instructions, address of the record of a cooperative launch.
_Alike = tuple[LoadedKernel, int, Dim3, Dim3, int, int | None, int]


class VirtualDevice:
    """One virtual GPU of an architecture, working on an arena."""

    def __init__(self, architecture: Architecture, arena: Arena, index: int) -> None:
        self.architecture, self.arena, self.index = architecture, arena, index
        self._lock = threading.RLock()
        self._contexts: list[Context] = []
        self._shapes: dict[tuple[Dim3, int], Shape] = {}
        self._launch = LaunchStruct()
        self._same: _Alike | None = None
        self._table: tuple[array[int], array[int]] | None = None
        self._slot_bytes = 0
        self._blind: Any = (ctypes.c_uint64 * 256)()
        self._checker: Checker | None = None
        self._cooperation = 0
        self.workers = cores.usable()
        self.caches = Caches(architecture)
        #: what the profiler's formulas call the device
        self.constants = {
            "CU_NUM": architecture.compute_units,
            "SIMD_NUM": architecture.compute_units * architecture.simds_per_cu,
            "SE_NUM": architecture.shader_engines,
            "MAX_WAVE_SIZE": architecture.wave_size,
        }

    @functools.cached_property
    def _calls(self) -> tuple[Any, Any]:
        """gpulab_begin and gpulab_run."""
        functions = build.functions()
        begin = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(functions.begin)
        return begin, ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)(functions.run)

    def load(self, program: Program) -> LoadedModule:
        """Load a program: allocate its data, apply relocations, look at every instruction.

        Raises:
            UnsupportedInstruction: naming instruction, kernel and source line; or another wave size.
            MemoryError: no room for its data.
        """
        if program.arch != self.architecture.name:
            raise InternalError(f"a program for {program.arch} cannot be loaded on {self.architecture.name}")
        if program.wave_size != self.architecture.wave_size:
            raise UnsupportedInstruction(
                f"this program was made for waves of {program.wave_size} lanes; {program.arch} runs waves of "
                f"{self.architecture.wave_size} here.",
                why="HIP has one wave size per device: 64 lanes on CDNA, 32 on RDNA, though the ISA of RDNA has both.",
                hint="compile without -mwavefrontsize64 (in assembly: .amdhsa_wavefront_size32 1).",
            )
        return LoadedModule(self, program)

    def _at_a_time(self, kernel: LoadedKernel, block: Dim3, lds: int) -> int:
        """Workgroups of a kernel that the device holds at the same time, by HIP's formula."""
        d, a = kernel.descriptor, self.architecture
        threads = block[0] * block[1] * block[2]
        return residency.api_blocks(a, d.vgprs, 0, d.sgprs, lds, threads) * a.multiprocessors

    def last_writers(self, address: int, size: int, count: int) -> LastWriters:
        """Who was the last to change each of `count` elements of `size` bytes, in the launch that was checked last."""
        with self._lock:
            return self._checks().last_writers(address, size, count)

    def changed(self) -> list[tuple[int, np.ndarray]]:
        """The allocations that the launch that was checked last has changed: address, and a bool for each byte."""
        with self._lock:
            return list(self._checks().changed())

    def _checks(self) -> Checker:
        if self._checker is None:
            from gpulab.virtual_gpu.machine.checking import Checker

            self._checker = Checker(self.arena)
        return self._checker

    def _context(self, number: int) -> Context:
        while len(self._contexts) <= number:
            self._contexts.append(Context(self.arena.base))
        return self._contexts[number]

    def _shape(self, block: Dim3, dimensions: int) -> Shape:
        known = self._shapes.get((block, dimensions))
        if known is None:
            size = self.architecture.wave_size
            waves = dispatch.waves(block, size)
            ids = dispatch.work_item_ids(block, dimensions, size, not self.architecture.has("packed-tid"))
            masks = array("Q", (dispatch.active_lanes(block, w, size) for w in range(waves)))
            known = self._shapes[block, dimensions] = Shape(waves, ids, masks)
        return known

    def launch(
        self,
        kernel: LoadedKernel,
        grid: Dim3,
        block: Dim3,
        dynamic_lds: int,
        kernarg: bytes,
        *,
        collect: str = "default",
        limit: int | None = None,
        workers: int | None = None,
        printf_buffer: int = 0,
        host: Host | None = None,
        heap: int = 0,
        cooperative: bool = False,
        checked: bool = False,
        only_sample: bool = False,
        weak: int | None = None,
    ) -> Launch:
        """Run a kernel over a grid and wait for it. A fault is in `Launch.fault`.

        Args:
            grid: workgroups in x, y, z. block: threads in x, y, z.
            dynamic_lds: bytes of dynamic LDS.
            kernarg: the explicit kernel arguments as they lie in memory; hidden ones are filled in here.
            collect: "default" (instruction counters) or "profile" (also costs per source line).
            limit: instructions that one wave may execute; None for the default (see the module's docstring).
            workers: host threads; None for all cores.
            printf_buffer, heap: addresses for the hidden arguments of these names.
            host: who answers the kernel's calls of the host; then on one thread.
            checked: look for races, reads of what was never written and the like (see checking.py); on one thread.
            only_sample: run no workgroups but those of the sample from which the time is modelled, on one thread.
            cooperative: all workgroups live at the same time, and the kernel gets the record for the grid's barrier.
            weak: a seed: on weak memory (weak.py), without counters and time.
        """
        with self._lock:
            began = time.perf_counter()
            record = self._start_cooperation(grid, block) if cooperative else 0
            if weak is not None:
                hidden = Hidden(printf_buffer, 0, heap, record)
                return self._launch_weak(kernel, grid, block, dynamic_lds, kernarg, hidden, weak, limit)
            hidden = Hidden(printf_buffer, 0 if host is None else host.address, heap, record)
            self._launch.ready = 0 if host is None else host.ready
            request = Request(
                kernel,
                grid,
                block,
                dynamic_lds,
                kernarg,
                collect == "profile",
                checked,
                limit,
                workers,
                hidden,
                only_sample,
            )
            prepared = self._prepare(request)
            if prepared.code.quick or prepared.code.translation.quick:
                self._drive_quick(kernel, prepared, host)
            else:
                self._drive(prepared.contexts, None if host is None else host.answer)
            return self._record(request, prepared, began)

    def trace(
        self,
        kernel: LoadedKernel,
        grid: Dim3,
        block: Dim3,
        dynamic_lds: int,
        kernarg: bytes,
        which: tuple[int, int],
        *,
        printf_buffer: int = 0,
    ) -> Trace:
        """What a wave would do in such a launch: (workgroup, wave in it) `which` on the reference machine (tracing.py).
        Memory stays as it is."""
        from gpulab.virtual_gpu.machine.tracing import trace_workgroup

        with self._lock:
            filled = self._arguments(kernel, grid, block, dynamic_lds, kernarg, Hidden(printf_buffer))
            ranges = memory_ranges(kernel, self.arena.table(kernel.module.granule, self.index)[0], filled)
            return trace_workgroup(kernel, self.arena, grid, block, dynamic_lds, filled, which, ranges)

    def _launch_weak(
        self, kernel: LoadedKernel, grid: Dim3, block: Dim3, dynamic_lds: int, kernarg: bytes, hidden: Hidden,
        seed: int, limit: int | None,
    ) -> Launch:  # fmt: skip
        """A launch on weak memory."""
        from gpulab.virtual_gpu.machine import weak

        began = time.perf_counter()
        self.arena.unwritten.clear()  # what this kernel writes is not known
        filled = self._arguments(kernel, grid, block, dynamic_lds, kernarg, hidden)
        total = grid[0] * grid[1] * grid[2]
        lds = kernel.descriptor.lds_bytes + dynamic_lds
        fault = weak.run(
            kernel, self.arena, grid, block, dynamic_lds, filled, seed=seed, limit=limit,
            at_a_time=self._at_a_time(kernel, block, lds), together=bool(hidden.multigrid_sync),
        )  # fmt: skip
        return Launch(
            kernel=kernel.title,
            arch=self.architecture.name,
            device=self.index,
            grid=grid,
            block=block,
            lds_bytes=lds,
            waves=total * dispatch.waves(block, self.architecture.wave_size),
            counters=Counters({}),
            host_us=(time.perf_counter() - began) * 1e6,
            fault=fault,
            constants=self.constants,
            sources=kernel.module.program.sources,
        )

    def _start_cooperation(self, grid: Dim3, block: Dim3) -> int:
        """The address of the record of a cooperative launch, set up for this grid."""
        record = dispatch.cooperation_record(grid, block)
        if not self._cooperation:
            self._cooperation = self.arena.allocate(64, "internal", self.index, "cooperative launch")
        ctypes.memmove(self._cooperation, record, len(record))
        return self._cooperation

    def _arguments(
        self, kernel: LoadedKernel, grid: Dim3, block: Dim3, dynamic_lds: int, kernarg: bytes, hidden: Hidden
    ) -> bytes:
        """Put the kernel argument segment and the dispatch packet where the kernel finds them; gives the former."""
        filled = kernel.segment(kernarg, grid, block, dynamic_lds, hidden)
        ctypes.memmove(kernel.kernarg, filled, len(filled))
        if kernel.packet:
            packet = dispatch.dispatch_packet(
                kernel.descriptor, grid, block, kernarg_address=kernel.kernarg, dynamic_lds=dynamic_lds
            )
            ctypes.memmove(kernel.packet, packet, len(packet))
        return filled

    def _prepare(self, request: Request) -> Prepared:
        """Everything up to the first instruction."""
        kernel, grid, block, dynamic_lds, kernarg, profile, checked, _, workers, hidden, only = request
        code = kernel.code(profile, checked, self.arena.is_wide)
        shape = self._shape(block, kernel.layout.work_item_dimensions)
        lds = kernel.descriptor.lds_bytes + dynamic_lds
        total = grid[0] * grid[1] * grid[2]
        filled = self._arguments(kernel, grid, block, dynamic_lds, kernarg, hidden)

        shared = self._launch
        table = self.arena.table(1 if checked else kernel.module.granule, self.index)
        live, freed = table
        if self._table is None or live is not self._table[0] or freed is not self._table[1]:
            self._table = table
            shared.ranges, shared.range_count = live.buffer_info()[0], len(live) // RANGE_WORDS - 1
            shared.freed, shared.freed_count = freed.buffer_info()[0], len(freed) // RANGE_WORDS - 1
            shared.wide = self.arena.is_wide
        shared.faulted, shared.cancel, shared.gone = _NO_FAULT, 0, 0
        same = (kernel, code.entry, grid, block, dynamic_lds, request.limit, hidden.multigrid_sync)
        if same != self._same:
            self._same = same
            self._share(request, code, shape, lds, total)

        alone = code.ordered or (hidden.multigrid_sync and request.limit is not None)
        count = min(workers or (1 if alone else self.workers), total)
        if total * shape.waves < SMALL_LAUNCH or profile or checked or only:
            count = 1
        code.observer.record(shared, grid, shape.waves)
        observed = total if profile or checked else 0
        if profile:
            code.observer.prepare(shared, observed, *PROFILED, self.architecture.wave_size)
        shared.observed = observed
        shared.only = only
        shared.next = total if only else observed
        shared.batch = 1 if hidden.multigrid_sync else max(1, min(32, total // (16 * count)))
        shared.blind = 0 if profile or checked else self._no_allocations(code.translation.slots)
        if checked:
            at_a_time = self._at_a_time(kernel, block, lds)
            self._checks().prepare(shared, kernel, code, profile, at_a_time, block)
        else:
            shared.checker = 0
            if self.arena.unwritten:  # what this kernel writes is not known
                self.arena.unwritten.clear()
        contexts = self._ready(request, code, filled, count)
        contexts[0].thread.own_end = total if only else observed
        return Prepared(code, total, shape.waves, lds, live, contexts)

    def _share(self, request: Request, code: Code, shape: Shape, lds: int, total: int) -> None:
        """Fill in what does not change from one launch to the next like it."""
        kernel, grid, cooperation = request.kernel, request.grid, request.hidden.multigrid_sync
        shared, size, waves = self._launch, self.architecture.wave_size, shape.waves
        shared.entry, shared.total = code.entry, total
        shared.lane_ids, shared.exec = shape.ids.buffer_info()[0], shape.masks.buffer_info()[0]
        shared.zeroed, shared.zeroed_count = code.zeroed.buffer_info()[0], len(code.translation.zeroed)
        shared.limit = request.limit if request.limit is not None else DEFAULT_LIMIT
        shared.slice, shared.arena = SLICE, self.arena.base
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
        self._slot_bytes = -(-(slot_bytes + lds + 128) // 64) * 64
        # Checked: as many as the device holds at a time, for blocks may wait for each other.
        wanted = min(total, self._at_a_time(kernel, request.block, lds)) if request.checked else RESIDENTS
        room = max(1, min(wanted, RESIDENT_BYTES // self._slot_bytes))
        shared.residents = total if cooperation else room
        shared.grid_barrier = cooperation + dispatch.GRID_BARRIER_OFFSET if cooperation else 0

    def _ready(self, request: Request, code: Code, filled: bytes, count: int) -> list[Context]:
        """A context for each of `count` host threads, with the initial registers of all waves."""
        kernel = request.kernel
        values = kernel.scalars(filled)
        contexts = [self._context(number) for number in range(count)]
        ready, begin = (self._same, values), self._calls[0]
        for context in contexts:
            if context.ready is None or request.checked or context.ready != ready:
                self._set_up(context, request, code, values)
                context.ready = None if request.checked else ready
            begin(context.address)
        return contexts

    def _set_up(self, context: Context, request: Request, code: Code, values: list[int]) -> None:
        """Give a context what does not change from one launch to the next like it."""
        kernel, shared, functions, translation = request.kernel, self._launch, build.functions(), code.translation
        store, note = (functions.keep_store, functions.note) if request.checked else (functions.store, 0)
        addresses = max(1, translation.widest) * row_bytes(self.architecture.wave_size, request.checked)
        residents, active = shared.residents, len(translation.segments) * layout.LANE_ROW
        context.fit(residents, self._slot_bytes, len(translation.blocks), active, translation.slots, addresses)
        context.thread.launch = ctypes.addressof(shared)
        wave = context.wave
        wave.store, wave.note, wave.checker = store, note, shared.checker
        wave.symbols = code.symbols.buffer_info()[0]
        wave.scalars[: len(values)] = values
        wave.mode = kernel.mode

    def _drive_quick(self, kernel: LoadedKernel, prepared: Prepared, host: Host | None) -> None:
        """`_drive` with code of which something was compiled quickly: optimised on the way, if it takes long."""
        code, began = prepared.code, time.perf_counter()

        def pause() -> None:
            if host is not None:
                host.answer()
            if code.quick and kernel.worth(code, time.perf_counter() - began):
                kernel.spent -= kernel.optimise(code)
                self._launch.entry = code.entry  # read whenever a workgroup goes on

        self._drive(prepared.contexts, pause)
        kernel.spent += time.perf_counter() - began

    def _drive(self, contexts: list[Context], pause: Callable[[], None] | None = None) -> None:
        """Run all workgroups, on as many host threads as there are contexts; `pause` is called now and then.

        Between two calls of a thread's share Python raises what a Ctrl-C asks for: the kernel is stopped then, and the
        device stays usable.
        """
        run = self._calls[1]

        def drive(address: int) -> None:
            while run(address):
                if pause is not None:
                    pause()

        parts = [_threads().submit(drive, context.address) for context in contexts[1:]]
        try:
            drive(contexts[0].address)
            for part in parts:
                part.result()
        except BaseException:
            self._launch.cancel = 1
            wait(parts)
            raise

    def _record(self, request: Request, prepared: Prepared, began: float) -> Launch:
        """The record of a launch that has run, since `began` (time.perf_counter)."""
        kernel, profile = request.kernel, request.profile
        code, total, waves, lds, live, contexts = prepared
        first = contexts[0]
        blocks = len(code.translation.blocks)
        executed = first.counters[:blocks]
        ran = first.thread.executed
        for context in contexts[1:]:
            executed = [a + b for a, b in zip(executed, context.counters[:blocks], strict=True)]
            ran += context.thread.executed
        active = b""
        if profile:  # which has one thread
            active = ctypes.string_at(first.active, len(code.translation.segments) * layout.LANE_ROW)
        finished = Finished(
            self.architecture, kernel, code, request.grid, request.block, lds, executed, ran,
            code.observer.keep(profile), live, request.kernarg, active, request.only,
        )  # fmt: skip
        fault = self._fault(request, code, contexts)
        modelled: Later[ModelledTime] = Later(finished.time)
        launch = Launch(
            kernel=kernel.title,
            arch=self.architecture.name,
            device=self.index,
            grid=request.grid,
            block=request.block,
            lds_bytes=lds,
            waves=total * waves,
            counters=Counters(Later(finished.counters)),
            timing=modelled,
            host_us=(time.perf_counter() - began) * 1e6,
            fault=fault,
            constants=self.constants,
            sources=kernel.module.program.sources,
        )
        return self._profiled(launch, finished, modelled) if profile else launch

    def _profiled(self, launch: Launch, finished: Finished, modelled: Later[ModelledTime]) -> Launch:
        """The record with what a profile has besides."""
        found = Later(lambda: finished.profile(modelled))
        return replace(
            launch,
            counters=Counters(Later(lambda: {**found.get().counters, **finished.counters()})),
            lines=Later(lambda: found.get().lines),
            instructions=Later(lambda: found.get().instructions),
            accesses=Later(lambda: found.get().accesses),
            sampled=finished.code.observer.sampled(finished.workgroups),
            placed=Later(lambda: finished.placement(modelled.get())),
        )

    def _fault(self, request: Request, code: Code, contexts: list[Context]) -> Fault | None:
        """Why the kernel was stopped, if it was: of several faults the one in the workgroup with the lowest number."""
        cooperation, dynamic = request.hidden.multigrid_sync, request.dynamic_lds
        if request.checked:
            every = self._checks().faults(request.kernel, code, request.grid, request.block, cooperation, dynamic)
            return replace(every[0], further=tuple(every[1:])) if every else None
        if self._launch.faulted == _NO_FAULT:
            return None
        found = [context.thread.fault for context in contexts if context.thread.fault.kind]
        raw = min(found, key=lambda fault: int(fault.number))
        return faults.fault(request.kernel, code, raw, request.block, cooperation, dynamic)

    def _no_allocations(self, slots: int) -> int:
        """The address of an empty table of so many allocations."""
        if ctypes.sizeof(self._blind) < layout.ALLOCATION_BYTES * slots:
            self._blind = (ctypes.c_uint64 * (layout.ALLOCATION_BYTES * slots // 8))()
        return ctypes.addressof(self._blind)
