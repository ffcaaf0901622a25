"""Programs on a device: `LoadedModule` has its data in memory, `LoadedKernel` is translated at its first launch.

`Code` is what that gives. `Home` says what a program needs of its device, `Request` how a launch is asked for.

Most kernels run for a few milliseconds in all, and optimising them would take longer. So a kernel's code is compiled
quickly at first (`Code.quick`), in a fifth of the time, and optimised when it has run for long (`LoadedKernel.worth`):
between two launches, or within one, where waves go on in the new code from where they stopped. Of a large kernel that
is what its loops need (`Translation.ir`); the rest (`Translation.quick`) follows later, by a second translation.
"""

from __future__ import annotations

import ctypes
import threading
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from gpulab.architectures.architecture import Architecture
from gpulab.records import Later, ModelledTime
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.machine import balance, counters, loops, timing
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.observation import Caches, Observer
from gpulab.virtual_gpu.machine.waiting import Waits
from gpulab.virtual_gpu.translate import jit, layout
from gpulab.virtual_gpu.translate.decode import Decoder, returns_value
from gpulab.virtual_gpu.translate.function import translate
from gpulab.virtual_gpu.translate.pieces import STRAIGHT, Translation
from gpulab.virtual_gpu.translate.structure import Structure

Dim3 = tuple[int, int, int]

# For each instruction of a small kernel, in its launches, after which it is optimised (`LoadedKernel.worth`). With 0 it
# is optimised before it runs.
QUICK_SECONDS = 0.0003
LARGE = 256  # instructions of a kernel for each of which it is twice as long

PAGE = 4096


class Home(Protocol):
    """What a loaded program needs of its device."""

    @property
    def architecture(self) -> Architecture: ...

    @property
    def arena(self) -> Arena: ...

    @property
    def index(self) -> int: ...

    @property
    def caches(self) -> Caches: ...

    @property
    def constants(self) -> Mapping[str, int]: ...


class Beside(Protocol):
    """Another process that translates kernels of the same program."""

    def wanted(self, kernel: str) -> None:
        """This process is about to translate a kernel."""
        ...


class Hidden(NamedTuple):
    """What stands in the hidden arguments of a launch: addresses, 0 for none."""

    printf_buffer: int = 0
    hostcall_buffer: int = 0
    multigrid_sync: int = 0


class Request(NamedTuple):
    """How a launch was asked for, but for its kernel and the arguments: see `VirtualDevice.run`."""

    grid: Dim3
    block: Dim3
    dynamic_lds: int = 0
    limit: int | None = None
    profile: bool = False
    checked: bool = False
    workers: int | None = None
    hidden: Hidden = Hidden()
    only: bool = False


TimeKey = tuple[Dim3, Dim3, int, bool, bytes, bytes, int, bytes]
"""What launches of a kernel have in common if they take the same modelled time: grid, block, LDS of a workgroup,
whether the sample alone was run, what was counted and what was recorded (Finished.counts, sample), bytes of allocations
in use, what each workgroup did."""


@dataclass(slots=True)
class Code:
    """A translated kernel: its entry point and what its counters mean.

    checked: it tells what a checker wants to know, if there is one.
    straight: the entry point for waves that go straight through (translate/straight.py); 0: there is none, or not yet.
    quick: nothing of it is optimised yet. first_blocks, weights, blind: see `Launch` in schema.py.
    """

    translation: Translation
    checked: bool
    entry: int
    straight: int
    quick: bool
    costs: counters.Costs
    zeroed: array[int]
    first_blocks: int
    symbols: array[int]
    ordered: bool
    weights: array[int]
    observer: Observer
    contributions: counters.Contributions | None  # of a profile
    block_costs: Later[timing.BlockCosts]
    blind: Any
    times: dict[TimeKey, ModelledTime]

    @property
    def settled(self) -> bool:
        """Whether all of it is optimised."""
        return not self.quick and not self.translation.quick


def depends_on_order(translation: Translation) -> bool:
    """Whether results may depend on the order of workgroups: atomics that return, of floats, exchanges."""
    for decoded in translation.decoded.values():
        row = decoded.row
        if not isinstance(row, Memory) or row.action != "atomic" or row.space == "lds":
            continue
        if returns_value(decoded.instruction, row) or not row.commutes:
            return True
    return False


def _first_blocks(scalars: int) -> int:
    """The blocks of 64 bytes of a wave's state that hold these scalar registers, EXEC, and what its run starts with."""
    found = 1 << layout.offset("budget") // 64
    for number in (layout.EXEC, *range(layout.SCALARS)):
        if number == layout.EXEC or scalars >> number & 1:
            found |= 1 << (layout.offset("scalars") + 4 * number) // 64
    return found


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
        self.kernarg_bytes = max(-(-descriptor.kernarg_size // 64) * 64, 64)
        self.kernarg = device.arena.allocate(self.kernarg_bytes, "kernarg", device.index, self.name, writable=False)
        self.packet = 0
        if "dispatch_ptr" in self.layout.user or "queue_ptr" in self.layout.user:
            self.packet = device.arena.allocate(64, "internal", device.index, "dispatch packet", writable=False)
        self._code: dict[tuple[bool, bool, bool], Code] = {}
        self.spent = 0.0  # seconds in launches of code of which something was compiled quickly
        self._lock = threading.Lock()
        #: what is set up for launches that are asked for in the same way (`launching.Plan`)
        self.plans: dict[Request, Any] = {}

    def set_descriptor(self, descriptor: KernelDescriptor) -> None:
        """Another one, which differs in the size of the stack alone."""
        self.descriptor, self.scratch_bytes = descriptor, dispatch.scratch_bytes(descriptor)
        self.plans.clear()

    def segment(self, request: Request) -> tuple[int, bytes]:
        """The kernel argument segment (`dispatch.fill_kernarg`): how many bytes of it a launch's explicit arguments may
        have, and the whole without them."""
        empty = dispatch.fill_kernarg(
            self.descriptor, b"", request.grid, request.block, request.dynamic_lds, **request.hidden._asdict()
        )
        hidden = (a.offset for a in self.descriptor.arguments if a.kind.startswith("hidden_"))
        return min(min(hidden, default=len(empty)), len(empty)), empty

    def packet_words(self, request: Request) -> bytes:
        """The dispatch packet of a launch."""
        return dispatch.dispatch_packet(
            self.descriptor, request.grid, request.block, kernarg_address=self.kernarg, dynamic_lds=request.dynamic_lds
        )

    def scalars(self) -> list[int]:
        """What the first SGPRs hold at the start, but for preloaded arguments."""
        return dispatch.scalar_values(
            self.layout,
            kernarg_address=self.kernarg,
            dispatch_ptr=self.packet,
            queue_ptr=self.packet,
            scratch_bytes=self.scratch_bytes,
        )

    def addresses(self) -> dict[str, int]:
        """The addresses of the module's symbols as this kernel sees them: dynamic LDS begins where its own LDS ends."""
        addresses = dict(self.module.addresses)
        for name, data in self.module.program.data.items():
            if data.is_lds:
                addresses[name] = -(-self.descriptor.lds_bytes // max(data.align, 1)) * max(data.align, 1)
        return addresses

    def code(self, profile: bool = False, checked: bool = False, wide: bool = False) -> Code:
        """The kernel as host code; translated and compiled at the first call. `wide`: see `translate`.

        A launch that nobody checks takes code that was made for checked ones, which does the same, until it has run
        for so long that other code pays.
        """
        code = self._code.get((profile, checked, wide))
        if code is None and not checked:
            told = self._code.get((profile, True, wide))
            if told is not None and told.quick and not self.worth(told):
                return told
        if code is None or (code.translation.quick and not code.quick and self.worth(code)):
            with self._lock:
                whole = code is not None or not QUICK_SECONDS or any(self.worth(c) for c in self._code.values())
                code = self._translate(profile, checked, not whole, wide)
                self._code[profile, checked, wide] = code
        elif code.quick and self.worth(code):
            self.optimise(code)
        return code

    def worth(self, code: Code, seconds: float = 0.0) -> bool:
        """Whether the kernel ran for so long, with these seconds of a launch, that it is time to optimise its code.

        That takes about 0.5 ms for each of 50 instructions, and 1 ms for each of 1,500. Small kernels, which are
        launched again and again, get it early; a large one must first have run for about twice as long, since what
        optimised code saves is half of the time.
        """
        count = len(code.translation.decoded)
        return self.spent + seconds > QUICK_SECONDS * count * (1 + count / LARGE)

    def optimise(self, code: Code) -> float:
        """Compile once more, with optimisation, what was compiled quickly, and link it; the seconds that this took.

        It is the same function with the same places to go on from: a wave that has stopped may go on in it.
        Where another thread is at it, nothing happens.
        """
        began = time.perf_counter()
        if not self._lock.acquire(blocking=False):
            return 0.0
        try:
            if code.quick:
                code.entry, code.straight = self._link(code.translation, quick=False)
                code.quick = False
                self.spent = 0.0
        finally:
            self._lock.release()
        return time.perf_counter() - began

    def compile(self) -> None:
        """Translate and compile it as its first launch would, and keep the code on disk alone."""
        translation = self._translation(False, False, quick=True, wide=False)
        self._objects(translation, not jit.is_kept(translation.ir))

    def _objects(self, translation: Translation, quick: bool) -> list[bytes]:
        straight = [(translation.straight, False)] if translation.straight and not quick else []
        return jit.compile_objects([(translation.ir, quick), *((part, True) for part in translation.quick), *straight])

    def _link(self, translation: Translation, quick: bool) -> tuple[int, int]:
        """The addresses of a translated kernel's function, and of that for waves that go straight through, or 0."""
        more = [STRAIGHT] if translation.straight and not quick else []
        entry, *straight = jit.load(self._objects(translation, quick), translation.name, *more)
        return entry, straight[0] if straight else 0

    def _translation(self, profile: bool, checked: bool, quick: bool, wide: bool) -> Translation:
        program = self.module.program
        return translate(
            program, self.descriptor, self.module.decoder, self.mode, profile,
            check_alignment=program.guarantees.alignment, checked=checked, quick=quick, wide=wide,
        )  # fmt: skip

    def _translate(self, profile: bool, checked: bool, quick: bool, wide: bool) -> Code:
        module = self.module
        program = module.program
        if module.beside is not None and quick and not (profile or checked or wide):
            module.beside.wanted(self.name)
        translation = self._translation(profile, checked, quick, wide)
        addresses = self.addresses()
        symbols = [dispatch.relocated(symbol, index, program, addresses) for symbol, index in translation.symbols]
        highest = 0
        for each in translation.decoded.values():
            highest = max(highest, (each.vector_reads | each.vector_writes | each.cross_reads).bit_length())
        self.vgprs = max(self.vgprs, highest)
        at_first = quick and not jit.is_kept(translation.ir)
        entry, straight = self._link(translation, at_first)
        blocks, decoded = translation.blocks, translation.decoded
        costs = counters.Costs(module.device.architecture.name, blocks, decoded)
        after = loops.ways(blocks, decoded, program.labels)
        found = loops.natural(after)
        waits = Waits.of(blocks, decoded, after, found)
        return Code(
            translation,
            checked,
            entry,
            straight,
            at_first,
            costs,
            array("I", translation.zeroed or [0]),
            _first_blocks(translation.scalars),
            array("I", symbols or [0]),
            depends_on_order(translation),
            balance.weights(blocks, decoded, waits, found),
            Observer(translation.accesses, module.device.caches, waits.instructions(blocks)),
            counters.Contributions(module.device.architecture, translation.decoded) if profile else None,
            Later(lambda: timing.BlockCosts(module.device.architecture, blocks, decoded, found, waits)),
            (ctypes.c_uint8 * max(layout.ALLOCATION_BYTES * translation.slots, 8))(),
            {},
        )


_HEAP = "__gpulab_heap"  # gpulab/heap.h: the state of malloc in kernels
_HEAP_BYTES, _HEAP_UNIT, _HEAP_PARTS = 8 << 20, 32, 8


class _HeapPart(ctypes.Structure):
    _fields_ = (("memory", ctypes.c_uint64), ("bytes", ctypes.c_uint32), ("used", ctypes.c_uint32))


class _HeapState(ctypes.Structure):
    _fields_ = (("present", _HeapPart), ("free", ctypes.c_uint64 * 32), ("older", _HeapPart * _HEAP_PARTS))


class LoadedModule:
    """A program on a device. `symbols` maps data objects to (address, size)."""

    def __init__(self, device: Home, program: Program) -> None:
        self.device, self.program = device, program
        self.beside: Beside | None = None
        self.decoder = Decoder(program, isa.table(program.arch))
        # Every kernel is looked through first, so that nothing is allocated for a program that is refused.
        for descriptor in program.kernels.values():
            Structure(program, descriptor, self.decoder, dispatch.mode_register(descriptor, program.arch))
        # Without the promise of exact bounds a program gets those that hardware has, whole pages.
        self.granule = 1 if program.guarantees.exact_bounds else PAGE
        self.addresses: dict[str, int] = {}
        self.symbols: dict[str, tuple[int, int]] = {}
        # Of malloc in kernels: the limit, where the host set one, and the parts beside the module's own array.
        self._heap_limit: int | None = None
        self._heap_parts: list[int] = []
        arena = device.arena
        for name, data in program.data.items():
            if data.is_lds:
                continue
            address = arena.allocate(
                data.size, "global", device.index, name.removesuffix("@got"), writable=data.writable, align=data.align
            )
            self.addresses[name] = address
            self.symbols[name] = address, data.size
        self.fill()
        for name in self.addresses:
            variable = name.removesuffix(".managed")
            if variable != name and variable in self.symbols:
                self.symbols[variable] = self.symbols.pop(name)
        self.kernels: Mapping[str, LoadedKernel] = {
            name: LoadedKernel(self, descriptor) for name, descriptor in program.kernels.items()
        }

    def memory(self) -> list[int]:
        """The addresses of its variables, and of what its kernels' malloc gives out."""
        return [*self.addresses.values(), *self._heap_parts]

    def fill(self) -> None:
        """Give all variables the values that they have after loading."""
        arena = self.device.arena
        for name, address in self.addresses.items():
            data = self.program.data[name]
            given = data.contents[: data.size]
            home = arena.home(address)
            ctypes.memmove(home, given, len(given))
            ctypes.memset(home + len(given), 0, data.size - len(given))
        for name in self.addresses:
            for relocation in self.program.data[name].relocations:
                value = dispatch.symbol_address(relocation.symbol, self.program, self.addresses) + relocation.addend
                raw = (value & ((1 << 8 * relocation.size) - 1)).to_bytes(relocation.size, "little")
                ctypes.memmove(arena.home(self.addresses[name]) + relocation.offset, raw, relocation.size)
        # A __managed__ variable is a pointer under its own name, which whoever loads the module sets, to name.managed.
        for name, address in self.addresses.items():
            variable = name.removesuffix(".managed")
            if variable != name and variable in self.addresses:
                ctypes.memmove(arena.home(self.addresses[variable]), address.to_bytes(8, "little"), 8)
        self._free_heap()
        if self._heap_limit is not None:
            self.set_heap(self._heap_limit)

    def set_heap(self, limit: int) -> None:
        """Let malloc in kernels give out `limit` bytes at most. Nothing happens if no kernel uses it.

        What kernels have taken already stays. If that is more than the limit, they get no more than they give back.

        Raises:
            MemoryError: there is no room for it.
        """
        if _HEAP not in self.symbols:
            return
        state = _HeapState.from_address(self.device.arena.home(self.symbols[_HEAP][0]))
        present = state.present
        older = [part.bytes for part in state.older if part.bytes]
        room = max(limit - sum(older) - present.used, 0) // _HEAP_UNIT * _HEAP_UNIT
        usual = _HEAP_BYTES if not present.memory else present.bytes
        if room + present.used <= usual:  # the part that is there serves
            present.bytes = max(present.used + room, 1)  # 0 stands for the usual size
        else:
            address = self.device.arena.allocate(room, "global", self.device.index, "heap of malloc")
            if present.used:
                if len(older) == _HEAP_PARTS:
                    self.device.arena.free(address)
                    raise MemoryError(f"the heap of malloc in kernels has grown {_HEAP_PARTS} times, which is the most")
                state.older[len(older)] = _HeapPart(present.memory, present.used, present.used)
            elif present.memory:
                self._heap_parts.remove(present.memory)
                self.device.arena.free(present.memory)
            state.present = _HeapPart(address, room, 0)
            self._heap_parts.append(address)
        self._heap_limit = limit

    def set_stack(self, limit: int) -> None:
        """Give kernels of unknown stack size (recursion, indirect calls) so many bytes a thread, or the usual ones."""
        kernels = {
            name: replace(kernel, stack_bytes=limit) if kernel.uses_dynamic_stack else kernel
            for name, kernel in self.program.kernels.items()
        }
        self.program = replace(self.program, kernels=kernels)
        for name, loaded in self.kernels.items():
            loaded.set_descriptor(kernels[name])

    def _free_heap(self) -> None:
        for address in self._heap_parts:
            self.device.arena.free(address)
        self._heap_parts = []

    def unload(self) -> None:
        """Give the module's memory back. Its kernels must not be launched afterwards."""
        arena = self.device.arena
        for address in self.addresses.values():
            arena.free(address)
        for kernel in self.kernels.values():
            arena.free(kernel.kernarg)
            if kernel.packet:
                arena.free(kernel.packet)
        self._free_heap()
        self.addresses, self.symbols, self.kernels = {}, {}, {}
