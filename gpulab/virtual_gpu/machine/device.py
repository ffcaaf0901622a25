"""A virtual GPU: `VirtualDevice` loads programs (`LoadedModule`, `LoadedKernel`) and runs launches.

A launch goes like this: kernel arguments and initial registers (dispatch.py), a context per host thread (native.py),
the loop over workgroups in C (support.c) calling the translated kernel, then counters, modelled time and, if the kernel
was stopped, a Fault. Small launches run in the caller's thread; larger ones on all cores. One device runs one launch
at a time.

Launches repeat exactly. Kernels whose results may depend on the order of workgroups (atomics that return a value, of
floats, exchanges) therefore run on one thread, workgroup after workgroup; and of several faults the one in the
workgroup with the lowest number is reported.

The instruction limit: a wave that has executed `limit` instructions (counted where loops turn, by the loop's length)
is stopped with a "timeout"; so is a host thread when no wave has ended for twice as many, and for 2**28 at least: under
a low limit many waves that take turns need more than that between them before the first ends. The default, 2**29, is a
few seconds of work for one wave.
"""

from __future__ import annotations

import bisect
import ctypes
import os
import threading
import time
from array import array
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gpulab.architectures import residency
from gpulab.architectures.architecture import Architecture
from gpulab.errors import InternalError, UnsupportedInstruction
from gpulab.records import (
    Access,
    AccessCost,
    Counters,
    Fault,
    InstructionCost,
    Later,
    Launch,
    LineCost,
    MemoryRange,
    ModelledTime,
    Trace,
)  # fmt: skip
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Literal, Program, Register
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.machine import counters, timing
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.branches import governing
from gpulab.virtual_gpu.machine.costs import access_costs, instruction_costs, lane_counts, line_costs, scaled
from gpulab.virtual_gpu.machine.native import build
from gpulab.virtual_gpu.machine.native.context import NONE, Context
from gpulab.virtual_gpu.machine.native.structures import FaultStruct, LaunchStruct
from gpulab.virtual_gpu.machine.observation import PROFILED, SAMPLE, SAMPLED, Caches, Kept, Observer
from gpulab.virtual_gpu.translate import jit, layout
from gpulab.virtual_gpu.translate.decode import Decoded, Decoder, returns_value
from gpulab.virtual_gpu.translate.function import Structure, Translation, translate
from gpulab.virtual_gpu.translate.memory import row_bytes

if TYPE_CHECKING:
    from gpulab.virtual_gpu.machine.checking import Checker

Dim3 = tuple[int, int, int]

DEFAULT_LIMIT = 1 << 29
SLICE = 1 << 18  # instructions before a wave lets others run
SMALL_LAUNCH = 64  # waves; below that, other threads would cost more than they bring
RESIDENTS = 16  # workgroups that one host thread keeps alive when they wait for each other
RESIDENT_BYTES = 256 << 20

# For each instruction of a large kernel, in its launches, after which the whole of it is optimised: what that takes.
QUICK_SECONDS = 0.0002

PAGE = 4096
MOST_TIMES = 64  # modelled times that a kernel keeps

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


@dataclass(slots=True)
class Code:
    """A translated kernel: its entry point and what its counters mean."""

    translation: Translation
    entry: int
    costs: counters.Costs
    zeroed: array[int]
    symbols: array[int]
    ordered: bool
    observer: Observer
    weights: counters.Weights | None
    path: Later[timing.Weights]
    times: dict[tuple[Any, ...], ModelledTime]


class Profile(NamedTuple):
    """What is computed of a profiled launch when somebody asks for it: costs, and raw counters by name."""

    lines: tuple[LineCost, ...]
    instructions: tuple[InstructionCost, ...]
    accesses: tuple[AccessCost, ...]
    counters: Mapping[str, int]


def depends_on_order(translation: Translation) -> bool:
    """Whether results may depend on the order of workgroups: atomics that return, of floats, exchanges."""
    for decoded in translation.decoded.values():
        row = decoded.row
        if not isinstance(row, Memory) or row.action != "atomic" or row.space == "lds":
            continue
        if returns_value(decoded.instruction, row) or not row.commutes:
            return True
    return False


_STACK = Register("s", 32)
"""The top of the stack of functions (LLVM, calling convention)."""


def stack_overflow(program: Program, kernel: KernelDescriptor, decoded: Decoded, room: int) -> str:
    """What to say of an access beyond scratch if it is one to a function's own frame; "" if it is not.

    Frames are addressed by s32 and s33 alone (LLVM, "User Guide for AMDGPU Backend", calling convention), so that a
    frame beyond the end means calls without an end; an index that is too large stands in a vector register.
    """
    operands, row = decoded.instruction.operands, decoded.row
    frame = any(isinstance(o.value, Register) and o.value.file == "s" and o.value.index in (32, 33) for o in operands)
    address = operands[1 if isinstance(row, Memory) and row.space == "scratch" and row.action == "load" else 0].value
    if not kernel.uses_dynamic_stack or not frame or (isinstance(address, Register) and address.file == "v"):
        return ""
    for name, (first, past) in program.functions.items():
        if not first <= decoded.index < past or name in program.kernels:
            continue
        for instruction in program.instructions[first:past]:
            step = instruction.operands[-1].value if instruction.operands else None
            grown = [operand.value for operand in instruction.operands[:2]] == [_STACK, _STACK]
            if instruction.mnemonic == "s_add_i32" and grown and isinstance(step, Literal):
                size = int(step.value)
                return (
                    f"{name}: each call keeps {size:,} bytes, so that its {room:,} bytes are full after about "
                    f"{room // max(size, 1):,} calls"
                )
        return f"{name}: the stack has {room:,} bytes"
    return f"the stack has {room:,} bytes"


class LoadedKernel:
    """A kernel of a loaded module. Translated at its first launch."""

    def __init__(self, module: LoadedModule, descriptor: KernelDescriptor) -> None:
        self.module, self.descriptor = module, descriptor
        self.name = descriptor.name
        self.title = descriptor.source_name or descriptor.name
        device = module.device
        self.layout = dispatch.initial_registers(descriptor, device.architecture.name)
        self.mode = dispatch.mode_register(descriptor, device.architecture.name)
        self.scratch_bytes = dispatch.scratch_bytes(descriptor)
        self.vgprs = 256 + descriptor.agprs if descriptor.agprs else max(descriptor.vgprs, 1)
        # Whole 64 bytes: Clang widens scalar loads of arguments up to the end of an aligned block.
        self.kernarg = device.arena.allocate(
            max(-(-descriptor.kernarg_size // 64) * 64, 64), "kernarg", device.index, self.name, writable=False
        )
        self.packet = 0
        if "dispatch_ptr" in self.layout.user or "queue_ptr" in self.layout.user:
            self.packet = device.arena.allocate(64, "internal", device.index, "dispatch packet", writable=False)
        self._code: dict[tuple[bool, bool], Code] = {}
        self.spent = 0.0  # seconds in launches of code that was compiled quickly
        self._lock = threading.Lock()
        self._segments: dict[tuple[Any, ...], tuple[int, bytes]] = {}
        self._scalars: list[int] | None = None

    def segment(self, kernarg: bytes, grid: Dim3, block: Dim3, dynamic_lds: int, hidden: dict[str, int]) -> bytes:
        """The kernel argument segment: `dispatch.fill_kernarg`, whose hidden part is kept for the next launch."""
        key = (grid, block, dynamic_lds, *hidden.values())
        known = self._segments.get(key)
        if known is None:
            if len(self._segments) > 64:
                self._segments.clear()
            empty = dispatch.fill_kernarg(self.descriptor, b"", grid, block, dynamic_lds, **hidden)
            arguments = self.descriptor.arguments
            explicit = min((a.offset for a in arguments if a.kind.startswith("hidden_")), default=len(empty))
            known = self._segments[key] = min(explicit, len(empty)), empty
        explicit, empty = known
        given = kernarg[:explicit]
        return given + empty[len(given) :]

    def scalars(self, filled: bytes) -> list[int]:
        """What the first SGPRs hold at the start: the same for all launches, unless arguments are among it."""
        if self._scalars is not None:
            return self._scalars
        values = dispatch.scalar_values(
            self.layout,
            kernarg_address=self.kernarg,
            kernarg=filled,
            dispatch_ptr=self.packet,
            queue_ptr=self.packet,
            scratch_bytes=self.scratch_bytes,
        )
        if not self.layout.kernarg_preload[1]:
            self._scalars = values
        return values

    def addresses(self) -> dict[str, int]:
        """The addresses of the module's symbols as this kernel sees them: dynamic LDS begins where its own LDS ends."""
        addresses = dict(self.module.addresses)
        for name, data in self.module.program.data.items():
            if data.is_lds:
                addresses[name] = -(-self.descriptor.lds_bytes // max(data.align, 1)) * max(data.align, 1)
        return addresses

    def code(self, profile: bool = False, checked: bool = False) -> Code:
        """The kernel as host code; translated and compiled at the first call."""
        code = self._code.get((profile, checked))
        if code is None or (code.translation.quick and self._worth(code)):
            with self._lock:
                quick = code is None and not any(self._worth(other) for other in self._code.values())
                code = self._translate(profile, checked, quick)
                self._code[profile, checked] = code
        return code

    def _worth(self, code: Code) -> bool:
        """Whether the kernel ran for so long that it is time to optimise what was compiled quickly."""
        return self.spent > QUICK_SECONDS * len(code.translation.decoded)

    def _translate(self, profile: bool, checked: bool, quick: bool) -> Code:
        module = self.module
        program = module.program
        translation = translate(
            program, self.descriptor, module.decoder, self.mode, profile, check_alignment=program.guarantees.alignment,
            checked=checked, quick=quick,
        )  # fmt: skip
        addresses = self.addresses()
        symbols = [dispatch.relocated(symbol, index, program, addresses) for symbol, index in translation.symbols]
        highest = 0
        for decoded in translation.decoded.values():
            highest = max(highest, (decoded.vector_reads | decoded.vector_writes | decoded.cross_reads).bit_length())
        self.vgprs = max(self.vgprs, highest)
        objects = [jit.compile_object(translation.ir)]
        if translation.quick:
            objects.append(jit.compile_object(translation.quick, quick=True))
        (entry,) = jit.load(objects, translation.name)
        costs = counters.Costs(module.device.architecture.name, translation.blocks, translation.decoded)
        return Code(
            translation,
            entry,
            costs,
            array("I", translation.zeroed or [0]),
            array("I", symbols or [0]),
            depends_on_order(translation),
            Observer(translation.accesses, module.device.caches),
            counters.Weights(module.device.architecture, translation.decoded) if profile else None,
            Later(
                lambda: timing.Weights(
                    module.device.architecture, program.labels, translation.blocks, translation.decoded
                )
            ),
            {},
        )


class LoadedModule:
    """A program on a device. `symbols` maps data objects to (address, size)."""

    def __init__(self, device: VirtualDevice, program: Program) -> None:
        self.device, self.program = device, program
        self.decoder = Decoder(program, isa.table(program.arch))
        # Every kernel is looked through first, so that nothing is allocated for a program that is refused.
        for descriptor in program.kernels.values():
            Structure(program, descriptor, self.decoder, dispatch.mode_register(descriptor, program.arch))
        # Without the promise of exact bounds a program gets those that hardware has, whole pages.
        self.granule = 1 if program.guarantees.exact_bounds else PAGE
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
        # A __managed__ variable is a pointer under its own name, which whoever loads the module sets, to name.managed.
        for name, address in self.addresses.items():
            variable = name.removesuffix(".managed")
            if variable != name and variable in self.symbols:
                ctypes.memmove(self.addresses[variable], address.to_bytes(8, "little"), 8)
                self.symbols[variable] = self.symbols.pop(name)
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
        self._contexts: list[Context] = []
        self._blocks: dict[tuple[Dim3, int], tuple[int, array[int], array[int]]] = {}
        self._launch = LaunchStruct()
        self._same: tuple[Any, ...] = ()
        self._slot_bytes = 0
        self._blind: Any = (ctypes.c_uint64 * 256)()
        self._run: Any = None
        self._checker: Checker | None = None
        self._cooperation = 0
        self.workers = os.cpu_count() or 1
        self.caches = Caches(architecture)
        #: what the profiler's formulas call the device
        self.constants = {
            "CU_NUM": architecture.compute_units,
            "SIMD_NUM": architecture.compute_units * architecture.simds_per_cu,
            "SE_NUM": architecture.shader_engines,
            "MAX_WAVE_SIZE": architecture.wave_size,
        }

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

    def last_writers(self, address: int, size: int, count: int) -> list[Access | None]:
        """Who was the last to change each of `count` elements of `size` bytes, in the launch that was checked last."""
        with self._lock:
            return self._checks().last_writers(address, size, count)

    def _checks(self) -> Checker:
        if self._checker is None:
            from gpulab.virtual_gpu.machine.checking import Checker

            self._checker = Checker(self.arena)
        return self._checker

    def _context(self, number: int) -> Context:
        while len(self._contexts) <= number:
            self._contexts.append(Context(self.arena.base))
        return self._contexts[number]

    def _block(self, block: Dim3, dimensions: int) -> tuple[int, array[int], array[int]]:
        """(waves, work-item ids by wave and lane, EXEC by wave) of a block shape."""
        known = self._blocks.get((block, dimensions))
        if known is None:
            size = self.architecture.wave_size
            waves = dispatch.waves(block, size)
            ids = dispatch.work_item_ids(block, dimensions, size, not self.architecture.has("packed-tid"))
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
        cooperative: bool = False,
        checked: bool = False,
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
            checked: look for races, reads of what was never written and the like (see checking.py); on one thread.
            cooperative: all workgroups live at the same time, and the kernel gets the record for the grid's barrier.

        Returns:
            records.Launch; with `trace`, (records.Launch, records.Trace). A fault is in `Launch.fault`.
        """
        with self._lock:
            hidden = {"printf_buffer": printf_buffer, "hostcall_buffer": hostcall_buffer, "heap": heap}
            if cooperative:
                hidden["multigrid_sync"] = self._start_cooperation(grid, block)
            return self._run_launch(
                kernel, grid, block, dynamic_lds, kernarg, collect, limit, trace, workers, hidden, checked
            )

    def _start_cooperation(self, grid: Dim3, block: Dim3) -> int:
        """The address of the record of a cooperative launch, set up for this grid."""
        record = dispatch.cooperation_record(grid, block)
        if not self._cooperation:
            self._cooperation = self.arena.allocate(64, "internal", self.index, "cooperative launch")
        ctypes.memmove(self._cooperation, record, len(record))
        return self._cooperation

    def _run_launch(
        self, kernel: LoadedKernel, grid: Dim3, block: Dim3, dynamic_lds: int, kernarg: bytes, collect: str,
        limit: int | None, trace: tuple[int, int] | None, workers: int | None, hidden: dict[str, int],
        checked: bool,
    ) -> Launch | tuple[Launch, Trace]:  # fmt: skip
        began = time.perf_counter()
        profile = collect == "profile"
        code = kernel.code(profile, checked)
        descriptor = kernel.descriptor
        waves, ids, masks = self._block(block, kernel.layout.work_item_dimensions)
        lds = descriptor.lds_bytes + dynamic_lds
        total = grid[0] * grid[1] * grid[2]

        filled = kernel.segment(kernarg, grid, block, dynamic_lds, hidden)
        ctypes.memmove(kernel.kernarg, filled, len(filled))
        if kernel.packet:
            packet = dispatch.dispatch_packet(
                descriptor, grid, block, kernarg_address=kernel.kernarg, dynamic_lds=dynamic_lds
            )
            ctypes.memmove(kernel.packet, packet, len(packet))
        recorded = None
        if trace is not None:
            from gpulab.virtual_gpu.machine.tracing import trace_workgroup

            ranges = self._ranges(kernel, self.arena.table(kernel.module.granule)[0], filled)
            recorded = trace_workgroup(kernel, self.arena, grid, block, dynamic_lds, filled, trace, ranges)
        values = kernel.scalars(filled)

        shared = self._launch
        live, freed = self.arena.table(1 if checked else kernel.module.granule)
        shared.faulted, shared.cancel = 0xFFFFFFFFFFFFFFFF, 0
        shared.ranges, shared.range_count = live.buffer_info()[0], len(live) // 3 - 1
        shared.freed, shared.freed_count = freed.buffer_info()[0], len(freed) // 3 - 1
        cooperation = hidden.get("multigrid_sync", 0)
        shared.gone = 0
        size = self.architecture.wave_size
        same = (kernel, code.entry, grid, block, dynamic_lds, limit, cooperation)
        if same != self._same:  # what does not change from one launch to the next like it
            self._same = same
            shared.entry, shared.total = code.entry, total
            shared.lane_ids, shared.exec = ids.buffer_info()[0], masks.buffer_info()[0]
            shared.zeroed, shared.zeroed_count = code.zeroed.buffer_info()[0], len(code.translation.zeroed)
            shared.limit = limit if limit is not None else DEFAULT_LIMIT
            shared.slice, shared.arena = SLICE, self.arena.base
            shared.grid[:] = grid
            shared.waves, shared.wave_size, shared.vgprs = waves, size, kernel.vgprs
            shared.lds_bytes, shared.scratch_bytes = lds, kernel.scratch_bytes
            for axis, register in enumerate(kernel.layout.workgroup_id):
                shared.id_register[axis] = NONE if register is None else register
            unpacked = kernel.layout.work_item_dimensions if kernel.layout.unpacked_ids else 1
            shared.id_vgprs = min(unpacked, kernel.vgprs)
            shared.first_pc = descriptor.entry
            slot_bytes = waves * (layout.WAVE_BYTES + kernel.vgprs * size * 4 + size * kernel.scratch_bytes)
            self._slot_bytes = -(-(slot_bytes + lds + 128) // 64) * 64
            # Checked: as many as the device holds at a time, for blocks may wait for each other.
            wanted = min(total, self._at_a_time(kernel, block, lds)) if checked else RESIDENTS
            room = max(1, min(wanted, RESIDENT_BYTES // self._slot_bytes))
            shared.residents = total if cooperation else room
            shared.grid_barrier = cooperation + dispatch.GRID_BARRIER_OFFSET if cooperation else 0
        slot_bytes, residents = self._slot_bytes, shared.residents

        count = min(workers or (1 if code.ordered else self.workers), total)
        if total * waves < SMALL_LAUNCH or profile or checked:
            count = 1
        observed = total if profile or checked else min(SAMPLE, max(1, total // 8))
        code.observer.prepare(shared, observed, *(PROFILED if profile else SAMPLED), size if profile else 0)
        store, note = build.functions().store, 0
        if checked:
            at_a_time = self._at_a_time(kernel, block, lds)
            self._checks().prepare(shared, kernel, code, profile, at_a_time, block)
            store, note = build.functions().keep_store, build.functions().note
        else:
            shared.checker = 0
            if self.arena.unwritten:  # what this kernel writes is not known
                self.arena.unwritten.clear()
        shared.next = observed
        shared.batch = 1 if cooperation else max(1, min(32, total // (16 * count)))
        blocks, segments, slots = len(code.translation.blocks), len(code.translation.segments), code.translation.slots
        addresses = max(1, code.translation.widest) * row_bytes(size, checked)
        shared.blind = 0 if profile or checked else self._no_allocations(slots)
        used = []
        for number in range(count):
            context = self._context(number)
            context.fit(residents, slot_bytes, blocks, segments * layout.LANE_ROW, slots, addresses)
            context.thread.launch = ctypes.addressof(shared)
            context.wave.store, context.wave.note, context.wave.checker = store, note, shared.checker
            context.wave.symbols = code.symbols.buffer_info()[0]
            context.wave.scalars[: len(values)] = values
            context.wave.mode = kernel.mode
            used.append(context)
        used[0].thread.own_end = observed
        if self._run is None:
            self._run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)(build.functions().run)
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

        if code.translation.quick:
            kernel.spent += time.perf_counter() - began
        executed = used[0].counters[:blocks]
        ran = used[0].thread.executed
        for context in used[1:]:
            executed = [a + b for a, b in zip(executed, context.counters[:blocks], strict=True)]
            ran += context.thread.executed
        values_: Later[Mapping[str, int]] = Later(lambda: code.costs.counters(executed, ran))
        kept = code.observer.keep()
        modelled = Later(lambda: self._time(kernel, code, executed, total, block, lds, kept, live, kernarg))
        lines: tuple[LineCost, ...] | Later[tuple[LineCost, ...]] = ()
        instructions: tuple[InstructionCost, ...] | Later[tuple[InstructionCost, ...]] = ()
        accesses: tuple[AccessCost, ...] | Later[tuple[AccessCost, ...]] = ()
        sampled = placed = None
        if profile:
            counted = values_
            active = ctypes.string_at(used[0].active, segments * layout.LANE_ROW)  # a profile has one thread
            found = Later(
                lambda: self._profile(kernel, code, executed, active, total, block, lds, kept, live, kernarg, modelled)
            )
            values_ = Later(lambda: {**found.get().counters, **counted.get()})
            lines, instructions = Later(lambda: found.get().lines), Later(lambda: found.get().instructions)
            accesses = Later(lambda: found.get().accesses)
            sampled = code.observer.sampled(total)
            placed = Later(
                lambda: self._pending(kernel, code, (), total, block, lds, kept, 0).placement(modelled.get())
            )
        if checked:
            self._checks().settle(used[0].thread.fault)
        faults = [context.thread.fault for context in used if context.thread.fault.kind]
        fault = None
        if faults:
            fault = self._fault(kernel, code, min(faults, key=lambda found: int(found.number)), block, cooperation)
            if fault.kind == "checked":
                fault = self._checks().fault(fault, kernel, code, grid, block)
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
            instructions=instructions,
            accesses=accesses,
            sampled=sampled,
            timing=modelled,
            placed=placed,
            host_us=(time.perf_counter() - began) * 1e6,
            fault=fault,
            constants=self.constants,
            sources=kernel.module.program.sources,
        )
        return launch if recorded is None else (launch, recorded)

    def _no_allocations(self, slots: int) -> int:
        """The address of an empty table of so many allocations."""
        if len(self._blind) < 2 * slots:
            self._blind = (ctypes.c_uint64 * (2 * slots))()
        return ctypes.addressof(self._blind)

    def _profile(
        self, kernel: LoadedKernel, code: Code, executed: Sequence[int], active: bytes, workgroups: int,
        block: Dim3, lds: int, kept: Kept, live: array[int], kernarg: bytes, modelled: Later[ModelledTime],
    ) -> Profile:  # fmt: skip
        """The costs and raw counters of a profiled launch, from what it left behind."""
        tr, a = code.translation, self.architecture
        assert code.weights is not None
        used = timing.footprint(live, kernarg)
        pending = self._pending(kernel, code, executed, workgroups, block, lds, kept, used)
        work = pending.work()
        costs = instruction_costs(
            tr.segments, tr.blocks, tr.decoded, executed, lane_counts(active, a.wave_size), code.weights,
            governing(tr.blocks, tr.decoded, kernel.module.program.labels), code.path.get().stalls(executed, work),
        )  # fmt: skip
        seen = kept.totals()
        totals = scaled(kept.accesses, seen, costs)
        samples = kept.samples(a.wave_size, self._ranges(kernel, live, kernarg))
        last = a.last_level_cache.bytes if a.last_level_cache is not None else 0
        accesses = access_costs(
            kept.accesses, totals, costs, a.vector_cache.line_bytes, tr.decoded, samples, (last, used), bool(kept.cut)
        )
        quantities = counters.Quantities()
        code.weights.add(quantities, costs)
        counters.add_memory(quantities, kept.accesses, totals, seen, kept.flows(), tr.decoded)
        counters.add_launch(quantities, a, workgroups, block)
        counters.add_time(quantities, a, work, modelled.get())
        return Profile(
            line_costs(costs, accesses),
            tuple(costs.values()),
            tuple(accesses.values()),
            counters.raw(a.name, quantities, timed=True),
        )

    def _ranges(self, kernel: LoadedKernel, live: array[int], kernarg: bytes) -> list[MemoryRange]:
        """The allocations that a launch could reach, named after the arguments that point into them."""
        names = {address: name.removesuffix(".managed") for name, address in kernel.module.addresses.items()}
        for argument in kernel.descriptor.arguments:
            raw = kernarg[argument.offset : argument.offset + 8]
            if argument.kind != "global_buffer" or len(raw) < 8:
                continue
            pointer = int.from_bytes(raw, "little")
            place = bisect.bisect_right(range(0, len(live) - 3, 3), pointer, key=live.__getitem__) - 1
            if place >= 0 and pointer - live[3 * place] < live[3 * place + 1]:
                names.setdefault(live[3 * place], argument.name.removesuffix(".coerce"))
        return [
            MemoryRange(names.get(live[at]) or "device memory", live[at], live[at + 1])
            for at in range(0, len(live) - 3, 3)
        ]

    def _time(
        self, kernel: LoadedKernel, code: Code, executed: Sequence[int], workgroups: int, block: Dim3, lds: int,
        kept: Kept, live: array[int], kernarg: bytes,
    ) -> ModelledTime:  # fmt: skip
        """The modelled time of a launch; equal launches have it from the first of them."""
        used = timing.footprint(live, kernarg)
        key = tuple(executed), workgroups, block, lds, kept.raw_totals, kept.raw_flows, used
        known = code.times.get(key)
        if known is None:
            if len(code.times) >= MOST_TIMES:
                code.times.clear()
            pending = self._pending(kernel, code, executed, workgroups, block, lds, kept, used)
            known = code.times[key] = pending.time()
        return known

    def _pending(
        self, kernel: LoadedKernel, code: Code, executed: Sequence[int], workgroups: int, block: Dim3, lds: int,
        kept: Kept, used: int,
    ) -> timing.Pending:  # fmt: skip
        return timing.Pending(
            self.architecture, code.path.get, executed, workgroups, block[0] * block[1] * block[2], kernel.descriptor,
            lds, lambda: timing.Seen(kept.accesses, kept.totals(), kept.flows()), used or None,
        )  # fmt: skip

    def _drive(self, context: Context) -> None:
        """Run one host thread's share. Between two calls Python raises what a Ctrl-C asks for."""
        while self._run(context.address):
            pass

    def _fault(self, kernel: LoadedKernel, code: Code, raw: FaultStruct, block: Dim3, cooperation: int) -> Fault:
        """records.Fault from what the support code wrote down."""
        decoded = code.translation.decoded.get(raw.instruction)
        kind = layout.FAULTS[raw.kind]
        lane = None if raw.lane == NONE else int(raw.lane)
        thread = None
        if lane is not None:
            flat = raw.wave * self.architecture.wave_size + lane
            x, y, z = flat % block[0], flat // block[0] % block[1], flat // (block[0] * block[1])
            thread = (x, y, z)
        access = next((n for n, v in layout.ACCESSES.items() if v == raw.access), "")
        has_address = bool(access)
        detail = ""
        uses_grid = any(a.kind == "hidden_multigrid_sync_arg" for a in kernel.descriptor.arguments)
        if kind == "null" and uses_grid and not cooperation and raw.address < dispatch.COOPERATION_BYTES:
            # The kernel asks what it finds there of a cooperative launch (cooperation_record).
            detail = "the group of this_grid() is not valid here: the launch was not cooperative"
            if raw.access == layout.ACCESSES["atomic"] and raw.address == dispatch.GRID_BARRIER_OFFSET:
                kind = "not cooperative"
        elif kind == "null" and cooperation and raw.address == 0 and raw.access == layout.ACCESSES["atomic"]:
            detail = "the group of this_multi_grid() is not valid here: the launch was on one device"
        elif kind == "grid barrier":
            words = ctypes.c_uint32.from_address(cooperation + dispatch.GRID_BARRIER_OFFSET)
            total = ctypes.c_uint32.from_address(cooperation + dispatch.GRID_BARRIER_OFFSET + 8).value
            arrived = words.value & 0xFFFF
            detail = f"{arrived} of the grid's {total} blocks wait there; the rest have ended"
        elif kind == "scratch out of bounds" and decoded is not None:
            overflow = stack_overflow(kernel.module.program, kernel.descriptor, decoded, kernel.scratch_bytes)
            if overflow:
                kind, detail = "stack overflow", overflow
        nearest = None
        if has_address and not kind.startswith(("lds", "scratch", "stack")):
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
            detail=detail,
        )
