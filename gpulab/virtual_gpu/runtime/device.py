"""One virtual device as HIP sees it: `Device`, with the state of its `Stream`s and its `PrintfBuffer`."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from gpulab.architectures import Architecture
from gpulab.virtual_gpu.runtime.hostcall import HostcallBuffer
from gpulab.virtual_gpu.runtime.moments import Moment
from gpulab.virtual_gpu.runtime.properties import device_properties

if TYPE_CHECKING:
    from gpulab.records import Fault
    from gpulab.virtual_gpu.machine.arena import Arena
    from gpulab.virtual_gpu.machine.device import VirtualDevice

NON_BLOCKING = 1
LIMIT_STACK = 0  # hipLimitStackSize
LIMIT_PRINTF = 1  # hipLimitPrintfFifoSize
LIMIT_HEAP = 2  # hipLimitMallocHeapSize

#: hipLimit_t -> default: stack, printf buffer, malloc heap; scratch limits (bytes).
DEFAULT_LIMITS = {LIMIT_STACK: 1024, LIMIT_PRINTF: 4 << 20, LIMIT_HEAP: 8 << 20, 0x1000: 0, 0x1001: 4 << 30, 0x1002: 0}

MOST_HEAP = (
    2 << 30
)  # half of what all devices share; more that is asked for is this much, as hipDeviceGetLimit then says
MOST_STACK = (128 << 10) - 16  # HIP reference, hipDeviceSetLimit


class Stream:
    """One stream: `last` is when its last work is done.

    Attributes:
        in_graph: not 0: it is a row of the graph launch with this number; its kernels cost less to launch (`graphs`).
        mask: of compute units, as hipExtStreamCreateWithCUMask was given it. policy: its hipSynchronizationPolicy.
    """

    __slots__ = ("blocking", "device", "flags", "handle", "in_graph", "last", "mask", "number", "policy", "priority")

    def __init__(self, handle: int, device: Device, flags: int, priority: int, number: int) -> None:
        self.handle, self.device, self.flags = handle, device, flags
        self.priority, self.number = priority, number
        self.blocking = not flags & NON_BLOCKING
        self.last = Moment()
        self.in_graph = 0
        self.mask: tuple[int, ...] = ()
        self.policy = 1  # hipSyncPolicyAuto

    @property
    def time(self) -> float:
        """`last` in microseconds."""
        return self.last.us


class Device:
    """One virtual device: its architecture, its part of the machine (made on first use) and its HIP state.

    `index` is its number in this process, `place` that among all devices, of which this process may see some.
    """

    def __init__(
        self,
        index: int,
        architecture: Architecture,
        arena: Arena,
        machine_type: type[VirtualDevice] | None,
        place: int | None = None,
    ) -> None:
        self.index = index
        self.place = index if place is None else place
        self.architecture = architecture
        self.properties = device_properties(architecture, self.place)
        self.properties.isLargeBar = int(not arena.is_guarded)  # whether the host may follow device pointers
        self.flags = 0
        self.limits = dict(DEFAULT_LIMITS)
        self.peers: set[int] = set()
        self.fault: Fault | None = None  # not yet surfaced
        self.printed: list[str] = []
        self.used_bytes = 0
        self.high_bytes = 0
        self.null_stream = Stream(0, self, flags=0, priority=0, number=0)
        self.thread_stream = Stream(2, self, flags=0, priority=0, number=2)
        self.streams: list[Stream] = [self.thread_stream]  # all but the null stream
        self.engines: dict[str, Moment] = {}  # copies over the host link, "in" and "out": when the last one is done
        self.printf_buffer = PrintfBuffer(self, arena)
        self.hostcall_buffer = HostcallBuffer(arena, index)
        self._arena, self._machine_type = arena, machine_type
        self._machine: VirtualDevice | None = None

    @property
    def machine(self) -> VirtualDevice:
        """What executes its kernels."""
        if self._machine is None:
            if self._machine_type is None:
                from gpulab.virtual_gpu.machine.device import VirtualDevice

                self._machine_type = VirtualDevice
            self._machine = self._machine_type(self.architecture, self._arena, self.index)
        return self._machine

    def forget(self) -> None:
        """hipDeviceReset, as far as it concerns the device's own state."""
        self.fault, self.flags, self.limits = None, 0, dict(DEFAULT_LIMITS)
        self.peers.clear()


class PrintfBuffer:
    """Where a device's kernels put what they print; its size is the device's limit hipLimitPrintfFifoSize."""

    def __init__(self, device: Device, arena: Arena) -> None:
        self._device, self._arena = device, arena
        self._address = self._size = 0

    def start(self) -> int:
        """Empty the buffer before a launch; its address."""
        from gpulab.virtual_gpu.machine import printf

        size = max(self._device.limits[LIMIT_PRINTF], 4096)
        if size != self._size:
            if self._address:
                self._arena.free(self._address)
            self._address = self._arena.allocate(size, "internal", self._device.index, "printf buffer")
            self._size = size
        head = printf.header(size)
        ctypes.memmove(self._address, head, len(head))
        return self._address

    def text(self, formats: tuple[str, ...]) -> str:
        """What was printed since `start`."""
        from gpulab.virtual_gpu.machine import printf

        used = min(ctypes.c_uint32.from_address(self._address).value + printf.HEADER_BYTES, self._size)
        printed = ctypes.string_at(self._address, used)
        text = "".join(printf.decode(printed, formats))
        if printf.is_full(printed):
            text += (
                f"\n[gpulab: {self._size:,} bytes are full (hipLimitPrintfFifoSize): what this launch printed then is "
                "lost.]\n"
            )
        return text
