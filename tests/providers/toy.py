"""A third provider, written from docs/add-a-provider.md: a device with waves of 32, a clock and error codes of its own.

Its memory is in bytearrays and its kernels are Python functions; it has no AMD code and no instruments.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence

from gpulab.counter_names import Counter
from gpulab.errors import CounterNotFound, DeviceMemoryError, KernelFault, LaunchLimitError, ProviderError
from gpulab.providers.provider import Activities, DeviceInfo, LibraryInfo, Limits, Provider, Sink, Triple
from gpulab.records import Activity, Counters, Launch

TITLE = "the toy GPU"
ARCH = "toy1"
MEMORY = 1 << 20
BASE = 0x5_0000_0000


def present() -> tuple[bool, str]:
    return True, "in tests"


def open_provider() -> Provider:
    return Toy()


class _Stopped(Exception):
    """A kernel went past its memory."""


class Memory:
    """Device memory: allocations by address."""

    def __init__(self) -> None:
        self.blocks: dict[int, bytearray] = {}
        self._next = BASE

    def allocate(self, size: int) -> int:
        if not size:
            return 0
        if sum(map(len, self.blocks.values())) + size > MEMORY:
            raise DeviceMemoryError(f"TOY_FULL: {size:,} bytes do not fit.", hint="free arrays, or use smaller ones.")
        address, self._next = self._next, self._next + (size + 4095) // 4096 * 4096 + 4096
        self.blocks[address] = bytearray(size)
        return address

    def span(self, address: int, size: int) -> memoryview:
        """So many bytes at an address, which must lie in one allocation."""
        starts = sorted(self.blocks)
        place = bisect.bisect_right(starts, address) - 1
        start = starts[place] if place >= 0 else 0
        if place < 0 or address + size > start + len(self.blocks[start]):
            raise _Stopped(f"{size} bytes at 0x{address:x} are in no allocation")
        return memoryview(self.blocks[start])[address - start : address - start + size]


Kernel = Callable[[Memory, int, bytes], None]
"""What one thread does: (memory, its number in the grid, the arguments)."""


def _saxpy(memory: Memory, thread: int, kernarg: bytes) -> None:
    n, a, x, y = struct.unpack_from("<ifQQ", kernarg)
    if thread < n:
        (value,) = struct.unpack("<f", memory.span(x + 4 * thread, 4))
        target = memory.span(y + 4 * thread, 4)
        target[:] = struct.pack("<f", a * value + struct.unpack("<f", target)[0])


def _unguarded(memory: Memory, thread: int, kernarg: bytes) -> None:
    memory.span(struct.unpack_from("<Q", kernarg)[0] + 4 * thread, 4)[:] = bytes(4)


KERNELS: Mapping[str, Kernel] = {"saxpy": _saxpy, "unguarded": _unguarded}
CODE = b"toy: saxpy unguarded"


class Toy:
    name = "toy"
    formats = frozenset({"toy"})
    counters: tuple[Counter, ...] = (Counter("toy_threads", "toy", (ARCH,), "threads that ran"),)
    lacks: Mapping[str, str] = {
        "variables": "its code has none",
        "cooperative": "its workgroups run one after the other",
        "trace": "a Python function has no instructions to show",
        "checked": "nobody watches what its kernels read",
        "weak": "its threads run one after the other, and each sees what was stored before",
        "writers": "nobody watches what its kernels write",
        "occupancy": "it has no registers that could limit it",
        "limit": "a Python function runs to its end",
        "costs": "it counts threads, not source lines",
    }

    def __init__(self) -> None:
        self.memory = Memory()
        self._pinned: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self._modules: dict[int, tuple[str, ...]] = {}
        self._functions: dict[int, str] = {}
        self._handle = 100
        self._clock: dict[int, float] = {0: 0.0}  # milliseconds at which each stream is done
        self._events: dict[int, float] = {}
        self._fault: str = ""
        self._sinks: list[tuple[Sink, list[Activity]]] = []

    @property
    def instruments(self) -> None:
        return None

    def _new(self) -> int:
        self._handle += 1
        return self._handle

    def _failed(self, call: str, name: str, code: int) -> ProviderError:
        return ProviderError(f"{call} failed: {name} ({code}).", name=name, code=code)

    # Devices

    def devices(self) -> tuple[DeviceInfo, ...]:
        limits = Limits(256, (256, 1, 1), (1 << 16, 1, 1), 1024, 512)
        return (DeviceInfo(0, "Toy 1000", ARCH, 32, 4, False, MEMORY, limits, self.name),)

    def current(self) -> int:
        return 0

    def select(self, index: int) -> None:
        if index:
            raise self._failed("select", "TOY_NO_DEVICE", 7)

    def synchronize(self) -> None:
        fault, self._fault = self._fault, ""
        if fault:
            raise KernelFault(f"A kernel was stopped: {fault}.")

    def library(self) -> LibraryInfo:
        return LibraryInfo(__file__, "toy 1", "Python")

    def environment(self, index: int) -> Mapping[str, str]:
        return {}

    # Memory

    def malloc(self, size: int) -> int:
        return self.memory.allocate(size)

    def free(self, address: int) -> None:
        if address and self.memory.blocks.pop(address, None) is None:
            raise DeviceMemoryError(f"free: 0x{address:x} is not the start of an allocation.")

    def malloc_host(self, size: int) -> int:
        held = ctypes.create_string_buffer(size)
        self._pinned[ctypes.addressof(held)] = held
        return ctypes.addressof(held)

    def free_host(self, address: int) -> None:
        del self._pinned[address]

    def _span(self, call: str, address: int, size: int) -> memoryview:
        try:
            return self.memory.span(address, size)
        except _Stopped:
            raise self._failed(call, "TOY_BAD_ADDRESS", 9) from None

    def memset(self, address: int, value: int, size: int, stream: int = 0) -> None:
        self._span("memset", address, size)[:] = bytes([value]) * size

    def copy_to_device(self, address: int, host: int, size: int, stream: int = 0) -> None:
        self._span("copy", address, size)[:] = ctypes.string_at(host, size)

    def copy_to_host(self, host: int, address: int, size: int, stream: int = 0) -> None:
        self.synchronize()
        ctypes.memmove(host, bytes(self._span("copy", address, size)), size)

    def copy_device(self, target: int, source: int, size: int, stream: int = 0) -> None:
        self._span("copy", target, size)[:] = bytes(self._span("copy", source, size))

    def memory_info(self) -> tuple[int, int]:
        return MEMORY - sum(map(len, self.memory.blocks.values())), MEMORY

    # Code

    def load(self, code: bytes) -> int:
        kind, _, names = code.decode().partition(": ")
        if kind != "toy":
            raise self._failed("load", "TOY_BAD_CODE", 3)
        module = self._new()
        self._modules[module] = tuple(names.split())
        return module

    def unload(self, module: int) -> None:
        del self._modules[module]

    def function(self, module: int, symbol: str) -> int:
        if symbol not in self._modules[module]:
            raise self._failed("function", "TOY_NOT_FOUND", 4)
        function = self._new()
        self._functions[function] = symbol
        return function

    def variable(self, module: int, symbol: str) -> tuple[int, int]:
        raise self._failed("variable", "TOY_NOT_FOUND", 4)

    def occupancy(self, function: int, block_threads: int, lds: int = 0) -> int:
        return 512 // block_threads

    # Launches

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes) -> None:
        if not 1 <= block[0] <= 256 or lds > 1024:
            raise LaunchLimitError(f"TOY_TOO_LARGE: a block of {block[0]} threads with {lds} bytes of LDS.")
        symbol, threads = self._functions[function], grid[0] * block[0]
        try:
            for thread in range(threads):
                KERNELS[symbol](self.memory, thread, kernarg)
        except _Stopped as stopped:
            self._fault = self._fault or f"{symbol}: {stopped}"
        start = self._clock[stream]
        self._clock[stream] = end = start + threads / 1000  # a microsecond for each thread
        for sink, activities in self._sinks:
            launch = Launch(
                symbol, ARCH, 0, grid, block, lds, -(-block[0] // 32) * grid[0],
                Counters({"toy_threads": threads}), measured_us=1000 * (end - start), time_is_modelled=False,
            )  # fmt: skip
            place = sink.add(launch)
            activities.append(
                Activity("kernel", symbol, 0, stream, 1000 * start, 1000 * end, launch=place, is_modelled=False)
            )

    def launch_cooperative(
        self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes, offsets: Sequence[int]
    ) -> None:
        raise self._failed("launch_cooperative", "TOY_NEVER", 5)

    @contextlib.contextmanager
    def record(self, sink: Sink, profile: bool, counters: Sequence[str] | None) -> Iterator[Activities]:
        activities: list[Activity] = []
        entry = sink, activities
        self._sinks.append(entry)
        try:
            yield lambda: tuple(activities)
        finally:
            self._sinks.remove(entry)

    def check_counters(self, names: Sequence[str], arch: str) -> None:
        for name in names:
            if name != "toy_threads":
                raise CounterNotFound(f"the toy cannot give {name}.", hint="it counts toy_threads.")

    # Streams and events

    def stream_create(self) -> int:
        stream = self._new()
        self._clock[stream] = 0.0
        return stream

    def stream_destroy(self, stream: int) -> None:
        del self._clock[stream]

    def stream_synchronize(self, stream: int) -> None:
        self.synchronize()

    def stream_wait_event(self, stream: int, event: int) -> None:
        self._clock[stream] = max(self._clock[stream], self._events[event])

    def event_create(self) -> int:
        return self._new()

    def event_destroy(self, event: int) -> None:
        self._events.pop(event, None)

    def event_record(self, event: int, stream: int = 0) -> None:
        self._events[event] = self._clock[stream]

    def event_synchronize(self, event: int) -> None:
        pass

    def event_elapsed_ms(self, start: int, stop: int) -> float:
        if start not in self._events or stop not in self._events:
            raise self._failed("event_elapsed_ms", "TOY_NOT_RECORDED", 6)
        return self._events[stop] - self._events[start]
