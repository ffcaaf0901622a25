"""Programs on a device: `LoadedModule` has its data in memory, `LoadedKernel` is translated at its first launch.

`Code` is what that gives. `Home` says what a program needs of its device.

Most kernels run for a few milliseconds in all, and optimising them would take longer. So a kernel's code is compiled
quickly at first (`Code.quick`), in a fifth of the time, and optimised when it has run for about as long as that
takes: between two launches, or within one, where waves go on in the new code from where they stopped. Of a large kernel
that is what its loops need (`Translation.ir`); the rest (`Translation.quick`) follows later, by a second translation.
"""

from __future__ import annotations

import ctypes
import threading
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from gpulab.architectures.architecture import Architecture
from gpulab.records import Later, ModelledTime
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.machine import counters, timing
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.observation import Caches, Observer
from gpulab.virtual_gpu.translate import jit, layout
from gpulab.virtual_gpu.translate.decode import Decoder, returns_value
from gpulab.virtual_gpu.translate.function import translate
from gpulab.virtual_gpu.translate.pieces import Translation
from gpulab.virtual_gpu.translate.structure import Structure

Dim3 = tuple[int, int, int]

# For each instruction of a kernel, in its launches, after which it is optimised: about what that takes. With 0 it is
# optimised before it runs.
QUICK_SECONDS = 0.0003

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


class Beside(Protocol):
    """Another process that translates kernels of the same program."""

    def wanted(self, kernel: str) -> None:
        """This process is about to translate a kernel."""
        ...


class Hidden(NamedTuple):
    """What stands in the hidden arguments of a launch: addresses, 0 for none."""

    printf_buffer: int = 0
    hostcall_buffer: int = 0
    heap: int = 0
    multigrid_sync: int = 0


class TimeKey(NamedTuple):
    """What launches of a kernel have in common if they take the same modelled time."""

    executed: tuple[int, ...]
    grid: Dim3
    block: Dim3
    lds_bytes: int
    size: Dim3
    log: bytes
    used: bytes
    banked: bytes
    footprint: int


@dataclass(slots=True)
class Code:
    """A translated kernel: its entry point and what its counters mean.

    quick: nothing of it is optimised yet. first_blocks: see `Launch` in schema.py.
    """

    translation: Translation
    entry: int
    quick: bool
    costs: counters.Costs
    zeroed: array[int]
    first_blocks: int
    symbols: array[int]
    ordered: bool
    observer: Observer
    contributions: counters.Contributions | None  # of a profile
    block_costs: Later[timing.BlockCosts]
    times: dict[TimeKey, ModelledTime]


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
        self.kernarg = device.arena.allocate(
            max(-(-descriptor.kernarg_size // 64) * 64, 64), "kernarg", device.index, self.name, writable=False
        )
        self.packet = 0
        if "dispatch_ptr" in self.layout.user or "queue_ptr" in self.layout.user:
            self.packet = device.arena.allocate(64, "internal", device.index, "dispatch packet", writable=False)
        self._code: dict[tuple[bool, bool, bool], Code] = {}
        self.spent = 0.0  # seconds in launches of code of which something was compiled quickly
        self._lock = threading.Lock()
        self._segments: dict[tuple[Dim3, Dim3, int, Hidden], tuple[int, bytes]] = {}
        self._scalars: list[int] | None = None

    def segment(self, kernarg: bytes, grid: Dim3, block: Dim3, dynamic_lds: int, hidden: Hidden) -> bytes:
        """The kernel argument segment: `dispatch.fill_kernarg`, whose hidden part is kept for the next launch."""
        key = (grid, block, dynamic_lds, hidden)
        known = self._segments.get(key)
        if known is None:
            if len(self._segments) > 64:
                self._segments.clear()
            empty = dispatch.fill_kernarg(self.descriptor, b"", grid, block, dynamic_lds, **hidden._asdict())
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

    def code(self, profile: bool = False, checked: bool = False, wide: bool = False) -> Code:
        """The kernel as host code; translated and compiled at the first call. `wide`: see `translate`."""
        code = self._code.get((profile, checked, wide))
        if code is None or (code.translation.quick and not code.quick and self.worth(code)):
            with self._lock:
                whole = code is not None or not QUICK_SECONDS or any(self.worth(c) for c in self._code.values())
                code = self._translate(profile, checked, not whole, wide)
                self._code[profile, checked, wide] = code
        elif code.quick and self.worth(code):
            self.optimise(code)
        return code

    def worth(self, code: Code, seconds: float = 0.0) -> bool:
        """Whether the kernel ran for so long, with these seconds of a launch, that it is time to optimise its code."""
        return self.spent + seconds > QUICK_SECONDS * len(code.translation.decoded)

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
                code.entry = self._link(code.translation, quick=False)
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
        objects = [jit.compile_object(translation.ir, quick=quick)]
        if translation.quick:
            objects.append(jit.compile_object(translation.quick, quick=True))
        return objects

    def _link(self, translation: Translation, quick: bool) -> int:
        """The address of a translated kernel's function."""
        (entry,) = jit.load(self._objects(translation, quick), translation.name)
        return entry

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
        for decoded in translation.decoded.values():
            highest = max(highest, (decoded.vector_reads | decoded.vector_writes | decoded.cross_reads).bit_length())
        self.vgprs = max(self.vgprs, highest)
        at_first = quick and not jit.is_kept(translation.ir)
        entry = self._link(translation, at_first)
        costs = counters.Costs(module.device.architecture.name, translation.blocks, translation.decoded)
        return Code(
            translation,
            entry,
            at_first,
            costs,
            array("I", translation.zeroed or [0]),
            _first_blocks(translation.scalars),
            array("I", symbols or [0]),
            depends_on_order(translation),
            Observer(translation.accesses, module.device.caches),
            counters.Contributions(module.device.architecture, translation.decoded) if profile else None,
            Later(
                lambda: timing.BlockCosts(
                    module.device.architecture, program.labels, translation.blocks, translation.decoded
                )
            ),
            {},
        )


_HEAP = "__gpulab_heap"  # gpulab/heap.h: the state of malloc in kernels: address, bytes, bytes used so far ...
_HEAP_BYTES, _HEAP_UNIT, _HEAP_MOST = 8 << 20, 32, 2 << 30
_HEAP_USED = ctypes.c_uint32


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
        # Of malloc in kernels, where the host set it: address (0: the module's own array), bytes.
        self._heap: tuple[int, int] | None = None
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
        self._place_heap()

    def set_heap(self, limit: int) -> None:
        """Let malloc in kernels give out `limit` bytes at most. Nothing happens if no kernel uses it, or one did.

        Raises:
            MemoryError: there is no room for it.
        """
        if _HEAP not in self.symbols:
            return
        arena, limit = self.device.arena, limit // _HEAP_UNIT * _HEAP_UNIT
        if _HEAP_USED.from_address(arena.home(self.symbols[_HEAP][0]) + 12).value:
            return
        address = 0
        if limit > _HEAP_BYTES:  # else the array that the module has itself serves
            if limit > _HEAP_MOST:
                raise MemoryError(f"{limit} bytes for malloc in kernels; {_HEAP_MOST} are the most here")
            address = arena.allocate(limit, "global", self.device.index, "heap of malloc")
        self._free_heap()
        self._heap = address, limit
        self._place_heap()

    def _place_heap(self) -> None:
        if self._heap is not None:
            address, limit = self._heap
            raw = address.to_bytes(8, "little") + max(limit, 1).to_bytes(4, "little")  # 0 stands for the usual size
            ctypes.memmove(self.device.arena.home(self.symbols[_HEAP][0]), raw, len(raw))

    def _free_heap(self) -> None:
        if self._heap is not None and self._heap[0]:
            self.device.arena.free(self._heap[0])
        self._heap = None

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
