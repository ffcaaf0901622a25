"""A virtual GPU: `VirtualDevice` loads programs (loading.py) and runs launches.

What launches alike have in common is set up once: a `Plan` (launching.py) with the structure that all host threads
share, and a context for each of them (native/context.py). A launch hands over its arguments and runs the loop over
workgroups in C (native/workgroups.c), which calls the translated kernel. What it leaves behind is a `Finished`
(finished.py): counters, modelled time and record are made of it when somebody asks. If the kernel was stopped, it has
a Fault (faults.py). Small launches run in the caller's thread, in one call; larger ones on all cores. One device runs
one launch at a time.

Launches repeat exactly. Kernels whose results may depend on the order of workgroups (atomics that return a value, of
floats, exchanges) therefore run on one thread, workgroup after workgroup; and of several faults the one in the
workgroup with the lowest number is reported. A cooperative launch with a limit of instructions runs on one thread, too:
how many of them a wave executes while it waits for others would depend on how fast the threads are.

Of a launch a host thread keeps `RESIDENTS` workgroups alive if they do not end within a slice. Where none of them goes
on, they wait for others: then it keeps as many as the device holds, in short slices (native/workgroups.c, look_around).

The instruction limit: a wave that has executed `limit` instructions (counted where loops turn, by the loop's length)
is stopped with a "timeout"; so is a host thread when no wave has ended for twice as many, and for 2**28 at least: under
a low limit many waves that take turns need more than that between them before the first ends. The default, 2**29, is a
few seconds of work for one wave. Workgroups that wait for one another, and of which none goes on any more, are stopped
after 2**28 instructions.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gpulab import cores
from gpulab.architectures.architecture import Architecture
from gpulab.errors import InternalError, UnsupportedInstruction
from gpulab.records import Counters, Fault, LastWriters, Launch, Trace
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.instruction import Program
from gpulab.virtual_gpu.machine import faults
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.finished import Complete, Finished, memory_ranges
from gpulab.virtual_gpu.machine.launching import Plan, at_a_time, most_alive
from gpulab.virtual_gpu.machine.loading import Dim3, Hidden, LoadedKernel, LoadedModule, Request
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.context import Contexts
from gpulab.virtual_gpu.machine.observation import PROFILED, Caches

if TYPE_CHECKING:
    import numpy as np

    from gpulab.virtual_gpu.machine.checking import Checker

MOST_PLANS = 64  # that a kernel keeps
NOTHING_HIDDEN = Hidden()
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


class _Native(NamedTuple):
    """The functions of native/workgroups.c."""

    launch: Any
    begin: Any
    run: Any
    merge: Any
    collect: Any


class VirtualDevice:
    """One virtual GPU of an architecture, working on an arena."""

    def __init__(self, architecture: Architecture, arena: Arena, index: int) -> None:
        self.architecture, self.arena, self.index = architecture, arena, index
        self._lock = threading.RLock()
        self._contexts = Contexts(arena.base)
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
    def _native(self) -> _Native:
        found, word = build.functions(), ctypes.c_uint64
        return _Native(
            ctypes.CFUNCTYPE(ctypes.c_int64, word, word, ctypes.c_char_p, word)(found.launch),
            ctypes.CFUNCTYPE(None, word, word)(found.begin),
            ctypes.CFUNCTYPE(ctypes.c_int, word)(found.run),
            ctypes.CFUNCTYPE(None, word, word)(found.merge),
            ctypes.CFUNCTYPE(ctypes.c_int64, word)(found.collect),
        )

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

    def launch(
        self, kernel: LoadedKernel, grid: Dim3, block: Dim3, dynamic_lds: int, kernarg: bytes, **how: Any
    ) -> Launch:
        """The record of a launch, which is asked for as in `run`."""
        return self.run(kernel, grid, block, dynamic_lds, kernarg, **how).record()

    def most_alive(self, kernel: LoadedKernel, block: Dim3, dynamic_lds: int) -> int:
        """Workgroups of a launch that are alive at the same time at the most, if it is not cooperative."""
        return most_alive(self.architecture, kernel, block, kernel.descriptor.lds_bytes + dynamic_lds)

    def run(
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
        cooperative: bool = False,
        checked: bool = False,
        only_sample: bool = False,
        weak: int | None = None,
    ) -> Finished | Complete:
        """Run a kernel over a grid and wait for it. A fault is in `fault` of what is returned.

        Args:
            grid: workgroups in x, y, z. block: threads in x, y, z.
            dynamic_lds: bytes of dynamic LDS.
            kernarg: the explicit kernel arguments as they lie in memory; hidden ones are filled in here.
            collect: "default" (instruction counters) or "profile" (also costs per source line).
            limit: instructions that one wave may execute; None for the default (see the module's docstring).
            workers: host threads; None for all cores.
            printf_buffer: its address, for the hidden argument of this name.
            host: who answers the kernel's calls of the host; then on one thread.
            checked: look for races, reads of what was never written and the like (see checking.py); on one thread.
            only_sample: run no workgroups but those of the sample from which the time is modelled, on one thread.
            cooperative: all workgroups live at the same time, and the kernel gets the record for the grid's barrier.
            weak: a seed: on weak memory (weak.py), without counters and time.
        """
        with self._lock:
            began = time.perf_counter()
            hidden = NOTHING_HIDDEN
            if printf_buffer or host is not None or cooperative:
                record = self._start_cooperation(grid) if cooperative else 0
                hidden = Hidden(printf_buffer, 0 if host is None else host.address, record)
            request = Request(
                grid, block, dynamic_lds, limit, collect == "profile", checked, workers, hidden, only_sample
            )
            if weak is not None:
                return self._run_weak(kernel, request, kernarg, weak)
            plan: Plan | None = kernel.plans.get(request)
            if plan is None or not plan.settled or plan.generation != self.arena.generation:
                plan = self._plan(kernel, request, plan)
            return self._run(plan, kernarg, host, began)

    def _run(self, plan: Plan, kernarg: bytes, host: Host | None, began: float) -> Finished:
        """A launch by a plan, since `began` (time.perf_counter)."""
        arena, kernel, request = self.arena, plan.kernel, plan.request
        if plan.generation != arena.generation:
            plan.look_at(arena)
        if not plan.simple:
            self._prepare(plan, host)
        if arena.unwritten and not request.checked:  # what this kernel writes is not known
            arena.unwritten.clear()
        launch, sample = plan.launch, plan.known_sample(kernarg)
        started = began if plan.settled else time.perf_counter()
        size = self._native.launch(plan.address, plan.first, kernarg, len(kernarg))
        if size < 0:
            size = self._drive(plan, host, started)
        if not plan.settled:
            kernel.spent += time.perf_counter() - started
        counted = plan.seen.counted.size
        fault = None if launch.faulted == _NO_FAULT and not request.checked else self._fault(plan)
        if not sample:
            sample = plan.sample = ctypes.string_at(launch.seen + counted, size - counted)
            plan.sampled = kernarg if fault is None and not request.only and self._saw_all(request) else None
        finished = Finished(plan, kernarg, ctypes.string_at(launch.seen, counted), sample, fault)
        if launch.uneven and fault is None:
            finished.amounts = ctypes.string_at(launch.amounts, 8 * plan.total)
        if request.profile:
            finished.kept = plan.code.observer.keep()
            finished.active = ctypes.string_at(plan.contexts[0].active, launch.active_bytes)  # it has one thread
        finished.host_us = (time.perf_counter() - began) * 1e6
        return finished

    def _saw_all(self, request: Request) -> bool:
        """Whether the observer of a launch was far from its limit: then it does not matter in which order it, and who
        records the sample, come to know patterns of addresses."""
        return not request.profile or 2 * self.caches.state.left > PROFILED[0]

    def _run_weak(self, kernel: LoadedKernel, request: Request, kernarg: bytes, seed: int) -> Complete:
        """A launch on weak memory."""
        from gpulab.virtual_gpu.machine import weak

        with self._lock:
            began = time.perf_counter()
            grid, block, together = request.grid, request.block, bool(request.hidden.multigrid_sync)
            self.arena.unwritten.clear()  # what this kernel writes is not known
            filled = self._arguments(kernel, request, kernarg)
            total = grid[0] * grid[1] * grid[2]
            lds = kernel.descriptor.lds_bytes + request.dynamic_lds
            fault = weak.run(
                kernel, self.arena, grid, block, request.dynamic_lds, filled, seed=seed, limit=request.limit,
                at_a_time=at_a_time(self.architecture, kernel, block, lds), together=together,
            )  # fmt: skip
            return Complete(
                Launch(
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
            )

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
            request = Request(grid, block, dynamic_lds, hidden=Hidden(printf_buffer))
            filled = self._arguments(kernel, request, kernarg)
            ranges = memory_ranges(kernel, self.arena.table(kernel.module.granule, self.index)[0], filled)
            return trace_workgroup(kernel, self.arena, grid, block, dynamic_lds, filled, which, ranges)

    def _start_cooperation(self, grid: Dim3) -> int:
        """The address of the record of a cooperative launch, set up for this grid."""
        record = dispatch.cooperation_record(grid)
        if not self._cooperation:
            self._cooperation = self.arena.allocate(64, "internal", self.index, "cooperative launch")
        ctypes.memmove(self._cooperation, record, len(record))
        return self._cooperation

    @staticmethod
    def _arguments(kernel: LoadedKernel, request: Request, kernarg: bytes) -> bytes:
        """Put the kernel argument segment and the dispatch packet where the kernel finds them; gives the former."""
        explicit, empty = kernel.segment(request)
        given = kernarg[:explicit]
        filled = given + empty[len(given) :]
        ctypes.memmove(kernel.kernarg, filled, len(filled))
        if kernel.packet:
            packet = kernel.packet_words(request)
            ctypes.memmove(kernel.packet, packet, len(packet))
        return filled

    def _plan(self, kernel: LoadedKernel, request: Request, known: Plan | None) -> Plan:
        """The plan for a request; the one that is known, if the kernel's code is still the same."""
        code = kernel.code(request.profile, request.checked, self.arena.is_wide)
        if known is None or known.code is not code:
            if len(kernel.plans) >= MOST_PLANS:
                kernel.plans.clear()
            known = kernel.plans[request] = Plan(self, self._contexts, self.workers, kernel, request, code)
        known.take(code)
        return known

    def _prepare(self, plan: Plan, host: Host | None) -> None:
        """What a launch needs that is observed or checked, or answered by the host."""
        request, launch, code = plan.request, plan.launch, plan.code
        launch.ready = 0 if host is None else host.ready
        if not (request.profile or request.checked):
            return
        observer = code.observer
        launch.observer, launch.observed = build.functions().record, plan.total
        self.caches.state.novelty = self.caches.state.samples = 0
        if request.profile:
            observer.prepare(launch, plan.total, *PROFILED, self.architecture.wave_size)
        if request.checked:
            held = at_a_time(self.architecture, plan.kernel, request.block, plan.lds)
            self._checks().prepare(launch, plan.kernel, code, held, request.block)

    def _drive(self, plan: Plan, host: Host | None, began: float) -> int:
        """Run all workgroups of a launch, on as many host threads as there are contexts; how much was collected then.

        Between two calls of a thread's share Python raises what a Ctrl-C asks for: the kernel is stopped then, and the
        device stays usable. The host's calls are answered there, and code that was compiled quickly is optimised, if
        it takes long.
        """
        native, kernel, code, launch = self._native, plan.kernel, plan.code, plan.launch
        first, *others = (context.address for context in plan.contexts)

        def drive(address: int) -> None:
            while native.run(address):
                if host is not None:
                    host.answer()
                if code.quick and kernel.worth(code, time.perf_counter() - began):
                    kernel.spent -= kernel.optimise(code)
                    plan.take(code)

        for address in others:
            native.begin(address, plan.address)
        parts = [_threads().submit(drive, address) for address in others]
        try:
            drive(first)
            for part in parts:
                part.result()
        except BaseException:
            launch.cancel = 1
            wait(parts)
            raise
        for address in others:
            native.merge(first, address)
        return int(native.collect(first))

    def _fault(self, plan: Plan) -> Fault | None:
        """Why the kernel was stopped, if it was: of several faults the one in the workgroup with the lowest number."""
        request, kernel, code = plan.request, plan.kernel, plan.code
        cooperation, dynamic = request.hidden.multigrid_sync, request.dynamic_lds
        if request.checked:
            every = self._checks().faults(kernel, code, request.grid, request.block, cooperation, dynamic)
            return replace(every[0], further=tuple(every[1:])) if every else None
        found = [context.thread.fault for context in plan.contexts if context.thread.fault.kind]
        raw = min(found, key=lambda fault: int(fault.number))
        found_one = faults.fault(kernel, code, raw, request.block, cooperation, dynamic)
        if found_one.kind == "timeout" and raw.bytes > 1:  # so many blocks take turns
            held = at_a_time(self.architecture, kernel, request.block, plan.lds)
            found_one = replace(found_one, detail=faults.waiting(plan.total, held))
        return found_one
