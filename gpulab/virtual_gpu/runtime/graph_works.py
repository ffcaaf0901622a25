"""What the nodes of HIP's graphs do: `Work`, one class for each kind of node (graphs.py has the graphs).

A work has everything that it needs copied when its node is made (HIP documentation, "HIP graphs"). Memory of a node
that allocates has its address when the node is made. It is held until the graph and what was instantiated of it are
gone; `GraphMemory` says whether it is allocated, as far as the program may know.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import Stream
from gpulab.virtual_gpu.runtime.memory import Block, Memory
from gpulab.virtual_gpu.runtime.modules import Function, Modules, Triple
from gpulab.virtual_gpu.runtime.streams import Streams
from gpulab.virtual_gpu.runtime.structures import Memcpy3D

# hipGraphNodeType
KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT_EVENT, EVENT_RECORD = range(8)
MEM_ALLOC, MEM_FREE, BATCH_MEM_OP = 10, 11, 14
NAMES = {
    KERNEL: "kernel", MEMCPY: "memcpy", MEMSET: "memset", HOST: "host function", GRAPH: "child graph", EMPTY: "empty",
    WAIT_EVENT: "event wait", EVENT_RECORD: "event record", MEM_ALLOC: "allocation", MEM_FREE: "free",
    BATCH_MEM_OP: "memory operations",
}  # fmt: skip

# hipGraphExecUpdateResult
UPDATED, TOPOLOGY_CHANGED, TYPE_CHANGED, PARAMETERS_CHANGED, NOT_UPDATABLE = 0, 2, 3, 5, 6
FUNCTION_CHANGED = 7  # hipGraphExecUpdateErrorUnsupportedFunctionChange

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def call_host(function: int, data: int) -> None:
    """Call a hipHostFn_t."""
    _HOST_FUNCTION(function)(data)


class Place(Protocol):
    """Where works are done: the runtime's parts. `Graphs` is one."""

    memory: Memory
    streams: Streams
    modules: Modules

    def count_memory(self) -> None:
        """Note how much memory of graphs is allocated now."""


@dataclass(frozen=True)
class Work:
    """What a node does. It never changes: to give a node other parameters is to give it another work."""

    kind: ClassVar[int] = EMPTY

    def check(self, place: Place) -> None:
        """Whether it can be done, as far as that is known before the launch.

        Raises:
            Failure: HIP's code for parameters that make no sense.
        """

    def run(self, place: Place, stream: Stream) -> None:
        """Do it, as the next thing in a stream."""

    def update(self, new: Work) -> int:
        """Whether an instantiated node may have another work (hipGraphExecUpdateResult)."""
        return UPDATED if new.kind == self.kind else TYPE_CHANGED

    def words(self) -> list[str]:
        """Its parameters, a line each, for hipGraphDebugDotPrint."""
        return []


@dataclass(frozen=True)
class EmptyWork(Work):
    """Nothing; what depends on it waits for what it depends on."""


@dataclass(frozen=True)
class KernelWork(Work):
    """A launch. `symbol` is the kernel as the program named it; `kernarg` are its packed arguments."""

    symbol: int
    function: Function
    grid: Triple
    block: Triple
    lds: int
    kernarg: bytes
    cooperative: bool = False
    priority: int = 0
    kind: ClassVar[int] = KERNEL

    def check(self, place: Place) -> None:
        place.modules.check_sizes(self.function, self.grid, self.block, self.lds)
        if self.cooperative:
            place.modules.check_cooperation(self.function, self.grid, self.block, self.lds)

    def run(self, place: Place, stream: Stream) -> None:
        if not place.modules.is_loaded(self.function.module):
            raise Failure(codes.INVALID_HANDLE, f"the module of {self.function.kernel.title} was unloaded")
        place.modules.launch(
            self.function, self.grid, self.block, self.lds, stream, self.kernarg, cooperative=self.cooperative
        )

    def update(self, new: Work) -> int:
        if isinstance(new, KernelWork) and new.function.device is not self.function.device:
            return FUNCTION_CHANGED
        return super().update(new)

    def words(self) -> list[str]:
        return [
            self.function.kernel.title, f"grid {self.grid}", f"block {self.block}", f"{self.lds} bytes of dynamic LDS"
        ]  # fmt: skip


@dataclass(frozen=True)
class CopyWork(Work):
    """A copy; `bytes_of_parameters` are those of its hipMemcpy3DParms.

    `rows` are those of the same copy between addresses, if an array takes part.
    """

    bytes_of_parameters: bytes
    rows: bytes = b""
    kind: ClassVar[int] = MEMCPY

    @classmethod
    def of(cls, parameters: Memcpy3D) -> CopyWork:
        return cls(bytes(parameters))

    @classmethod
    def of_bytes(cls, target: int, source: int, size: int, kind: int) -> CopyWork:
        """A copy of `size` bytes in a row."""
        return cls.of_rows(target, size, 1, source, size, 1, (size, 1, 1), kind)

    @classmethod
    def of_rows(
        cls,
        target: int,
        target_pitch: int,
        target_rows: int,
        source: int,
        source_pitch: int,
        source_rows: int,
        extent: tuple[int, int, int],
        kind: int,
    ) -> CopyWork:
        """A copy of `extent` (bytes, rows, slices); pitches in bytes, rows of a slice."""
        p = Memcpy3D()
        p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize = source, source_pitch, extent[0], source_rows
        p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.xsize, p.dstPtr.ysize = target, target_pitch, extent[0], target_rows
        p.extent.width, p.extent.height, p.extent.depth = extent
        p.kind = kind
        return cls.of(p)

    @property
    def parameters(self) -> Memcpy3D:
        return Memcpy3D.from_buffer_copy(self.bytes_of_parameters)

    def _places(self) -> tuple[Memcpy3D, int, int, int, int]:
        """(parameters, target, bytes of its slices, source, bytes of its slices)."""
        p = Memcpy3D.from_buffer_copy(self.rows or self.bytes_of_parameters)
        if not p.srcPtr.ptr or not p.dstPtr.ptr or not p.extent.width or not p.extent.height or not p.extent.depth:
            raise Failure(codes.INVALID_VALUE)
        rows = p.extent.height * p.extent.depth
        if rows > 1 and (p.srcPos.x + p.extent.width > p.srcPtr.pitch or p.dstPos.x + p.extent.width > p.dstPtr.pitch):
            raise Failure(codes.INVALID_PITCH)
        source_slice = p.srcPtr.pitch * (p.srcPtr.ysize or p.extent.height)
        target_slice = p.dstPtr.pitch * (p.dstPtr.ysize or p.extent.height)
        source = p.srcPtr.ptr + p.srcPos.z * source_slice + p.srcPos.y * p.srcPtr.pitch + p.srcPos.x
        target = p.dstPtr.ptr + p.dstPos.z * target_slice + p.dstPos.y * p.dstPtr.pitch + p.dstPos.x
        return p, target, target_slice, source, source_slice

    def check(self, place: Place) -> None:
        p, target, target_slice, source, source_slice = self._places()
        width, height, depth = p.extent.width, p.extent.height, p.extent.depth
        place.memory.check_copy(
            target,
            source,
            (depth - 1) * target_slice + (height - 1) * p.dstPtr.pitch + width,
            (depth - 1) * source_slice + (height - 1) * p.srcPtr.pitch + width,
            p.kind,
        )

    def run(self, place: Place, stream: Stream) -> None:
        p, target, target_slice, source, source_slice = self._places()
        place.memory.copy_rows(
            target, p.dstPtr.pitch, target_slice, source, p.srcPtr.pitch, source_slice,
            p.extent.width, p.extent.height, p.extent.depth, p.kind, stream,
        )  # fmt: skip

    def update(self, new: Work) -> int:
        if isinstance(new, CopyWork) and new.parameters.kind != self.parameters.kind:
            return PARAMETERS_CHANGED
        return super().update(new)

    def words(self) -> list[str]:
        p = self.parameters
        return [
            f"from 0x{p.srcPtr.ptr or 0:x} to 0x{p.dstPtr.ptr or 0:x}, kind {p.kind}",
            f"{p.extent.width} bytes, {p.extent.height} rows, {p.extent.depth} slices",
        ]


@dataclass(frozen=True)
class FillWork(Work):
    """A memset: `width` elements of `element` bytes in each of `height` rows of `depth` slices."""

    address: int
    element: int
    value: int
    width: int
    height: int = 1
    pitch: int = 0
    depth: int = 1
    slice_bytes: int = 0
    kind: ClassVar[int] = MEMSET

    def check(self, place: Place) -> None:
        if not self.address or self.element not in (1, 2, 4) or not self.width or not self.height or not self.depth:
            raise Failure(codes.INVALID_VALUE)
        row = self.width * self.element
        if self.height > 1 and self.pitch < row:
            raise Failure(codes.INVALID_VALUE)
        place.memory.device_range(
            self.address, (self.depth - 1) * self.slice_bytes + (self.height - 1) * self.pitch + row
        )

    def run(self, place: Place, stream: Stream) -> None:
        pattern = (self.value & (1 << 8 * self.element) - 1).to_bytes(self.element, "little")
        place.memory.fill_rows(
            self.address, self.pitch, self.slice_bytes, pattern, self.width, self.height, self.depth, stream
        )

    def words(self) -> list[str]:
        return [
            f"at 0x{self.address:x}: {self.width} x {self.height} x {self.depth} elements of {self.element} bytes",
            f"value {self.value}, pitch {self.pitch}",
        ]


@dataclass(frozen=True)
class HostWork(Work):
    """A call of a host function; `callback` instead of `function` is one with other arguments."""

    function: int
    data: int
    callback: Callable[[], None] | None = None
    kind: ClassVar[int] = HOST

    def check(self, place: Place) -> None:
        if not self.function:
            raise Failure(codes.INVALID_VALUE)

    def run(self, place: Place, stream: Stream) -> None:
        if self.callback is not None:
            self.callback()
        else:
            call_host(self.function, self.data)

    def words(self) -> list[str]:
        return [f"0x{self.function:x}(0x{self.data:x})"]


@dataclass(frozen=True)
class EventWork(Work):
    """An event that is recorded; `event` is its handle."""

    event: int
    kind: ClassVar[int] = EVENT_RECORD

    def check(self, place: Place) -> None:
        if not self.event:
            raise Failure(codes.INVALID_VALUE)
        place.streams.find_event(self.event)

    def run(self, place: Place, stream: Stream) -> None:
        place.streams.record(place.streams.find_event(self.event), stream)

    def words(self) -> list[str]:
        return [f"event 0x{self.event:x}"]


@dataclass(frozen=True)
class WaitWork(EventWork):
    """An event that is waited for."""

    kind: ClassVar[int] = WAIT_EVENT

    def run(self, place: Place, stream: Stream) -> None:
        place.streams.wait_event(stream, place.streams.find_event(self.event))


class GraphMemory:
    """What a node allocates. `live`: it is allocated for the program; `owners`: graphs and executables that have it."""

    def __init__(self, memory: Memory, block: Block) -> None:
        self._memory, self.block = memory, block
        self.live = self.has_free_node = False
        self.owners = 0
        self.block.holder = self

    def allocate(self) -> None:
        self.live = True

    def free(self) -> None:
        """A free node, hipFree or hipFreeAsync.

        Raises:
            Failure: hipErrorInvalidValue: it is not allocated now.
        """
        if not self.live:
            raise Failure(codes.INVALID_VALUE, "this memory of a graph is not allocated now")
        self.live = False

    def disown(self) -> None:
        """A graph or an executable less has it; the last one leaves what is allocated to the program."""
        self.owners -= 1
        if self.owners <= 0:
            self.block.holder = None
            if not self.live and self._memory.blocks.get(self.block.address) is self.block:
                self._memory.free(self.block.address, (self.block.kind,))


@dataclass(frozen=True)
class AllocateWork(Work):
    """An allocation at an address that is known; `parameters` are the bytes of its hipMemAllocNodeParams."""

    memory: GraphMemory
    parameters: bytes
    kind: ClassVar[int] = MEM_ALLOC

    def run(self, place: Place, stream: Stream) -> None:
        if self.memory.live:
            raise Failure(
                codes.INVALID_VALUE,
                "memory that the last launch of this graph allocated was not freed: free it, or instantiate with "
                "hipGraphInstantiateFlagAutoFreeOnLaunch",
            )
        self.memory.allocate()
        place.count_memory()

    def update(self, new: Work) -> int:
        return NOT_UPDATABLE if isinstance(new, AllocateWork) else TYPE_CHANGED

    def words(self) -> list[str]:
        return [f"{self.memory.block.size} bytes at 0x{self.memory.block.address:x}"]


@dataclass(frozen=True)
class FreeWork(Work):
    """Memory of an allocation node is free again."""

    memory: GraphMemory
    kind: ClassVar[int] = MEM_FREE

    def run(self, place: Place, stream: Stream) -> None:
        self.memory.free()

    def update(self, new: Work) -> int:
        return NOT_UPDATABLE if isinstance(new, FreeWork) else TYPE_CHANGED

    def words(self) -> list[str]:
        return [f"0x{self.memory.block.address:x}"]


@dataclass(frozen=True)
class MemoryOperationsWork(Work):
    """Values that are written, or waited for: the bytes of hipBatchMemOpNodeParams' array, and what performs them."""

    context: int
    operations: bytes
    flags: int
    perform: Callable[[bytes, Stream], None] = field(compare=False)
    kind: ClassVar[int] = BATCH_MEM_OP

    def run(self, place: Place, stream: Stream) -> None:
        self.perform(self.operations, stream)
