"""A virtual GPU: `VirtualDevice` loads programs (`LoadedModule`, `LoadedKernel`) and runs launches.

A launch goes like this: kernel arguments and initial registers (dispatch.py), a context per host thread (native.py),
the loop over workgroups in C (support.c) calling the translated kernel, then counters, modelled time and, if the kernel
was stopped, a Fault. Small launches run in the caller's thread; larger ones on all cores. One device runs one launch
at a time.

Launches repeat exactly. Kernels whose results may depend on the order of workgroups (atomics that return a value, of
floats, exchanges) therefore run on one thread, workgroup after workgroup; and of several faults the one in the
workgroup with the lowest number is reported.

The instruction limit: a wave that has executed `limit` instructions (counted where loops turn, by the loop's length)
is stopped with a "timeout"; so is a host thread when no wave has ended for twice as many. The default, 2**29, is a few
seconds of work for one wave.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from array import array
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from gpulab.errors import InternalError, UnsupportedInstruction
from gpulab.records import Counters, Fault, Launch, LineCost, Trace
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.architectures.architecture import Architecture
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.machine import dispatch, native, support, timing
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.counters import Costs, line_costs
from gpulab.virtual_gpu.translate import jit, layout
from gpulab.virtual_gpu.translate.decode import Decoder, returns_value
from gpulab.virtual_gpu.translate.function import Structure, Translation, translate

Dim3 = tuple[int, int, int]

DEFAULT_LIMIT = 1 << 29
SLICE = 1 << 18  # instructions before a wave lets others run
SMALL_LAUNCH = 64  # waves; below that, other threads would cost more than they bring
RESIDENTS = 16  # workgroups that one host thread keeps alive when they wait for each other
RESIDENT_BYTES = 256 << 20

PAGE = 4096

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
        _executor = ThreadPoolExecutor(max(1, os.cpu_count() or 1), thread_name_prefix="gpulab")
    return _executor


def _is_assembly(program: Program) -> bool:
    """Whether a program was written in assembly: its source lines are those of the assembly text."""
    files = {i.where.file for i in program.instructions if i.where is not None}
    return not files or all(name.endswith((".s", ".S", ".asm")) for name in files)


@dataclass(slots=True)
class Code:
    """A translated kernel: its entry point and what its counters mean."""

    translation: Translation
    entry: int
    costs: Costs
    zeroed: array[int]
    symbols: array[int]
    ordered: bool


_COMMUTING = ("add", "sub", "and", "or", "xor", "smin", "smax", "umin", "umax", "min", "max")


def depends_on_order(translation: Translation) -> bool:
    """Whether results may depend on the order of workgroups: atomics that return, of floats, exchanges."""
    for decoded in translation.decoded.values():
        row = decoded.row
        if not isinstance(row, Memory) or row.action != "atomic" or row.space == "lds":
            continue
        integers = row.combine is not None and not any(p.type.is_float for p in row.combine.parameters)
        words = row.mnemonic.split("_")
        if returns_value(decoded.instruction, row) or not integers or not any(w in _COMMUTING for w in words):
            return True
    return False


class LoadedKernel:
    """A kernel of a loaded module. Translated at its first launch."""

    def __init__(self, module: LoadedModule, descriptor: KernelDescriptor) -> None:
        self.module, self.descriptor = module, descriptor
        self.name = descriptor.name
        self.title = descriptor.source_name or descriptor.name
        device = module.device
        self.layout = dispatch.initial_registers(descriptor)
        self.mode = dispatch.mode_register(descriptor)
        self.scratch_bytes = dispatch.scratch_bytes(descriptor)
        self.vgprs = 256 + descriptor.agprs if descriptor.agprs else max(descriptor.vgprs, 1)
        # Whole 64 bytes: Clang widens scalar loads of arguments up to the end of an aligned block.
        self.kernarg = device.arena.allocate(
            max(-(-descriptor.kernarg_size // 64) * 64, 64), "kernarg", device.index, self.name, writable=False
        )
        self.packet = 0
        if "dispatch_ptr" in self.layout.user or "queue_ptr" in self.layout.user:
            self.packet = device.arena.allocate(64, "internal", device.index, "dispatch packet", writable=False)
        self._code: dict[bool, Code] = {}
        self._lock = threading.Lock()

    def addresses(self) -> dict[str, int]:
        """The addresses of the module's symbols as this kernel sees them: dynamic LDS begins where its own LDS ends."""
        addresses = dict(self.module.addresses)
        for name, data in self.module.program.data.items():
            if data.is_lds:
                addresses[name] = -(-self.descriptor.lds_bytes // max(data.align, 1)) * max(data.align, 1)
        return addresses

    def code(self, profile: bool = False) -> Code:
        """The kernel as host code; translated and compiled at the first call."""
        code = self._code.get(profile)
        if code is None:
            with self._lock:
                code = self._code.get(profile) or self._translate(profile)
                self._code[profile] = code
        return code

    def _translate(self, profile: bool) -> Code:
        module = self.module
        program = module.program
        translation = translate(
            program, self.descriptor, module.decoder, self.mode, profile, check_alignment=module.granule == 1
        )
        addresses = self.addresses()
        symbols = [dispatch.relocated(symbol, index, program, addresses) for symbol, index in translation.symbols]
        highest = 0
        for decoded in translation.decoded.values():
            highest = max(highest, (decoded.vector_reads | decoded.vector_writes | decoded.cross_reads).bit_length())
        self.vgprs = max(self.vgprs, highest)
        (entry,) = jit.load(jit.compile_object(translation.ir), translation.name)
        costs = Costs(module.device.architecture.family, translation.blocks, translation.decoded)
        return Code(
            translation,
            entry,
            costs,
            array("I", translation.zeroed or [0]),
            array("I", symbols or [0]),
            depends_on_order(translation),
        )


class LoadedModule:
    """A program on a device. `symbols` maps data objects to (address, size)."""

    def __init__(self, device: VirtualDevice, program: Program) -> None:
        self.device, self.program = device, program
        self.decoder = Decoder(program, isa.table(program.arch), isa.high_half)
        # Every kernel is looked through first, so that nothing is allocated for a program that is refused.
        for descriptor in program.kernels.values():
            Structure(program, descriptor, self.decoder, dispatch.mode_register(descriptor))
        # Programs written in assembly get the bounds that hardware has, whole pages: their offsets are their own
        # business. For compiled programs bounds are exact.
        self.granule = PAGE if _is_assembly(program) else 1
        self.addresses: dict[str, int] = {}
        self.symbols: dict[str, tuple[int, int]] = {}
        arena = device.arena
        for name, data in program.data.items():
            if data.is_lds:
                continue
            address = arena.allocate(
                data.size, "global", device.index, name.removesuffix("@got"), writable=data.writable, align=data.align
            )
            self.addresses[name] = address
            self.symbols[name] = address, data.size
            if data.contents:
                ctypes.memmove(address, data.contents, min(len(data.contents), data.size))
        for name, data in program.data.items():
            for relocation in data.relocations:
                value = dispatch.symbol_address(relocation.symbol, program, self.addresses) + relocation.addend
                raw = (value & ((1 << 8 * relocation.size) - 1)).to_bytes(relocation.size, "little")
                ctypes.memmove(self.addresses[name] + relocation.offset, raw, relocation.size)
        self.kernels: Mapping[str, LoadedKernel] = {
            name: LoadedKernel(self, descriptor) for name, descriptor in program.kernels.items()
        }

    def unload(self) -> None:
        """Give the module's memory back. Its kernels must not be launched afterwards."""
        arena = self.device.arena
        for address in self.addresses.values():
            arena.free(address)
        for kernel in self.kernels.values():
            arena.free(kernel.kernarg)
            if kernel.packet:
                arena.free(kernel.packet)
        self.addresses, self.symbols, self.kernels = {}, {}, {}


class VirtualDevice:
    """One virtual GPU of an architecture, working on an arena."""

    def __init__(self, architecture: Architecture, arena: Arena, index: int) -> None:
        self.architecture, self.arena, self.index = architecture, arena, index
        self._lock = threading.RLock()
        self._contexts: list[native.Context] = []
        self._blocks: dict[tuple[Dim3, int], tuple[int, array[int], array[int]]] = {}
        self._launch = native.LaunchStruct()
        self._run: Any = None
        self.workers = os.cpu_count() or 1

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

    def _context(self, number: int) -> native.Context:
        while len(self._contexts) <= number:
            self._contexts.append(native.Context(self.arena.base))
        return self._contexts[number]

    def _block(self, block: Dim3, dimensions: int) -> tuple[int, array[int], array[int]]:
        """(waves, work-item ids by wave and lane, EXEC by wave) of a block shape."""
        known = self._blocks.get((block, dimensions))
        if known is None:
            size = self.architecture.wave_size
            waves = dispatch.waves(block, size)
            ids = dispatch.work_item_ids(block, dimensions, size)
            masks = array("Q", (dispatch.active_lanes(block, w, size) for w in range(waves)))
            known = self._blocks[block, dimensions] = waves, ids, masks
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
        trace: tuple[int, int] | None = None,
        workers: int | None = None,
        printf_buffer: int = 0,
        hostcall_buffer: int = 0,
        heap: int = 0,
    ) -> Any:
        """Run a kernel over a grid and wait for it.

        Args:
            grid: workgroups in x, y, z. block: threads in x, y, z.
            dynamic_lds: bytes of dynamic LDS.
            kernarg: the explicit kernel arguments as they lie in memory; hidden ones are filled in here.
            collect: "default" (instruction counters) or "profile" (also costs per source line).
            limit: instructions that one wave may execute; None for the default (see the module's docstring).
            trace: (workgroup, wave) to record on the reference machine before the launch (see tracing.py).
            workers: host threads; None for all cores.
            printf_buffer, hostcall_buffer, heap: addresses for the hidden arguments of these names.

        Returns:
            records.Launch; with `trace`, (records.Launch, records.Trace). A fault is in `Launch.fault`.
        """
        with self._lock:
            hidden = {"printf_buffer": printf_buffer, "hostcall_buffer": hostcall_buffer, "heap": heap}
            return self._run_launch(kernel, grid, block, dynamic_lds, kernarg, collect, limit, trace, workers, hidden)

    def _run_launch(
        self, kernel: LoadedKernel, grid: Dim3, block: Dim3, dynamic_lds: int, kernarg: bytes, collect: str,
        limit: int | None, trace: tuple[int, int] | None, workers: int | None, hidden: dict[str, int],
    ) -> Launch | tuple[Launch, Trace]:  # fmt: skip
        began = time.perf_counter()
        profile = collect == "profile"
        code = kernel.code(profile)
        descriptor = kernel.descriptor
        waves, ids, masks = self._block(block, kernel.layout.work_item_dimensions)
        lds = descriptor.lds_bytes + dynamic_lds
        total = grid[0] * grid[1] * grid[2]

        filled = dispatch.fill_kernarg(descriptor, kernarg, grid, block, dynamic_lds, **hidden)
        ctypes.memmove(kernel.kernarg, filled, len(filled))
        if kernel.packet:
            packet = dispatch.dispatch_packet(
                descriptor, grid, block, kernarg_address=kernel.kernarg, dynamic_lds=dynamic_lds
            )
            ctypes.memmove(kernel.packet, packet, len(packet))
        recorded = None
        if trace is not None:
            from gpulab.virtual_gpu.machine.tracing import trace_workgroup

            recorded = trace_workgroup(kernel, self.arena, grid, block, dynamic_lds, filled, trace)
        values = dispatch.scalar_values(
            kernel.layout,
            kernarg_address=kernel.kernarg,
            kernarg=filled,
            dispatch_ptr=kernel.packet,
            queue_ptr=kernel.packet,
            scratch_bytes=kernel.scratch_bytes,
        )

        shared = self._launch
        live, freed = self.arena.table(kernel.module.granule)
        shared.entry, shared.next, shared.total = code.entry, 0, total
        shared.faulted, shared.cancel = 0xFFFFFFFFFFFFFFFF, 0
        shared.ranges, shared.range_count = live.buffer_info()[0], len(live) // 3 - 1
        shared.freed, shared.freed_count = freed.buffer_info()[0], len(freed) // 3 - 1
        shared.lane_ids, shared.exec = ids.buffer_info()[0], masks.buffer_info()[0]
        shared.zeroed, shared.zeroed_count = code.zeroed.buffer_info()[0], len(code.translation.zeroed)
        shared.limit = limit if limit is not None else DEFAULT_LIMIT
        shared.slice, shared.arena = SLICE, self.arena.base
        shared.grid[:] = grid
        size = self.architecture.wave_size
        shared.waves, shared.wave_size, shared.vgprs = waves, size, kernel.vgprs
        shared.lds_bytes, shared.scratch_bytes = lds, kernel.scratch_bytes
        for axis, register in enumerate(kernel.layout.workgroup_id):
            shared.id_register[axis] = native.NONE if register is None else register
        shared.first_pc = descriptor.entry
        slot_bytes = waves * (layout.WAVE_BYTES + kernel.vgprs * size * 4 + size * kernel.scratch_bytes)
        slot_bytes = -(-(slot_bytes + lds + 128) // 64) * 64
        shared.residents = max(1, min(RESIDENTS, RESIDENT_BYTES // slot_bytes))

        count = min(workers or (1 if code.ordered else self.workers), total)
        if total * waves < SMALL_LAUNCH:
            count = 1
        blocks, segments, slots = len(code.translation.blocks), len(code.translation.segments), code.translation.slots
        used = []
        for number in range(count):
            context = self._context(number)
            context.fit(shared.residents * slot_bytes, slot_bytes, blocks, segments, slots)
            context.head[0] = ctypes.addressof(shared)
            context.wave.symbols = code.symbols.buffer_info()[0]
            context.wave.scalars[: len(values)] = values
            used.append(context)
        if self._run is None:
            self._run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)(support.functions().run)
        if count == 1:
            self._drive(used[0])
        else:
            parts = [_threads().submit(self._drive, c) for c in used]
            try:
                for part in parts:
                    part.result()
            except BaseException:  # Ctrl-C: the kernel is stopped, the device stays usable
                shared.cancel = 1
                wait(parts)
                raise

        executed = used[0].counters[:blocks]
        ran = used[0].tail.executed
        for context in used[1:]:
            executed = [a + b for a, b in zip(executed, context.counters[:blocks], strict=True)]
            ran += context.tail.executed
        values_ = code.costs.counters(executed, ran)
        lines: tuple[LineCost, ...] = ()
        if profile:
            active = [sum(c.active[n] for c in used) for n in range(segments)]
            translation = code.translation
            lines = line_costs(translation.segments, translation.blocks, translation.decoded, executed, active)
        faults = [context.tail.fault for context in used if context.tail.fault.kind]
        fault = None
        if faults:
            fault = self._fault(kernel, code, min(faults, key=lambda found: int(found.number)), block)
        instructions = code.costs.instructions(executed)
        launch = Launch(
            kernel=kernel.title,
            arch=self.architecture.name,
            device=self.index,
            grid=grid,
            block=block,
            lds_bytes=lds,
            waves=total * waves,
            counters=Counters(values_),
            lines=lines,
            time_us=timing.model(self.architecture, values_, instructions, total),
            host_us=(time.perf_counter() - began) * 1e6,
            fault=fault,
        )
        return launch if recorded is None else (launch, recorded)

    def _drive(self, context: native.Context) -> None:
        """Run one host thread's share. Between two calls Python raises what a Ctrl-C asks for."""
        while self._run(context.thread):
            pass

    def _fault(self, kernel: LoadedKernel, code: Code, raw: native.FaultStruct, block: Dim3) -> Fault:
        """records.Fault from what the support code wrote down."""
        decoded = code.translation.decoded.get(raw.instruction)
        kind = layout.FAULTS[raw.kind]
        lane = None if raw.lane == native.NONE else int(raw.lane)
        thread = None
        if lane is not None:
            flat = raw.wave * self.architecture.wave_size + lane
            x, y, z = flat % block[0], flat // block[0] % block[1], flat // (block[0] * block[1])
            thread = (x, y, z)
        access = next((n for n, v in layout.ACCESSES.items() if v == raw.access), "")
        has_address = bool(access)
        nearest = None
        if has_address and not kind.startswith(("lds", "scratch")):
            nearest = self.arena.nearest(raw.address)
        return Fault(
            kind=kind,
            kernel=kernel.title,
            where=decoded.instruction.where if decoded else None,
            instruction=decoded.instruction.text.strip() if decoded else "",
            workgroup=(raw.group[0], raw.group[1], raw.group[2]),
            wave=int(raw.wave),
            lane=lane,
            thread=thread,
            address=int(raw.address) if has_address else None,
            bytes=int(raw.bytes),
            access=access,
            nearest=nearest,
        )
