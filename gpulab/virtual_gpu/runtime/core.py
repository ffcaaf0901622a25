"""`Runtime`: the devices of this process and what all HIP calls share: the current device, pending faults, records.

Environment: GPULAB_DEVICES lists architectures ("gfx942,gfx1100" if unset), one device each;
GPULAB_INSTRUCTION_LIMIT is the default limit of wave instructions per wave (0: none).
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from gpulab import architectures
from gpulab.architectures import Architecture
from gpulab.errors import GpulabError
from gpulab.records import Fault, Launch
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.linked import Linked
from gpulab.virtual_gpu.runtime.memory import Memory
from gpulab.virtual_gpu.runtime.modules import Modules
from gpulab.virtual_gpu.runtime.properties import device_properties
from gpulab.virtual_gpu.runtime.rtc import Programs
from gpulab.virtual_gpu.runtime.streams import Moment, Stream, Streams

DEFAULT_DEVICES = "gfx942,gfx1100"
NO_LIMIT = 1 << 61  # more wave instructions than anyone can wait for

Listener = Callable[[Launch], None]

LIMIT_PRINTF = 1  # hipLimitPrintfFifoSize

#: hipLimit_t -> default: stack, printf buffer, malloc heap; scratch limits (bytes).
DEFAULT_LIMITS = {0: 1024, 1: 4 << 20, 2: 8 << 20, 0x1000: 0, 0x1001: 4 << 30, 0x1002: 0}


class Device:
    """One virtual device: its architecture, its part of the machine (made on first use) and its HIP state."""

    def __init__(self, index: int, architecture: Architecture, arena: Any, machine_type: Any) -> None:
        self.index = index
        self.architecture = architecture
        self.properties = device_properties(architecture, index)
        self.flags = 0
        self.limits = dict(DEFAULT_LIMITS)
        self.peers: set[int] = set()
        self.fault: Fault | None = None  # not yet surfaced
        self.printed: list[str] = []
        self.used_bytes = 0
        self.high_bytes = 0
        self.cache_configuration = 0
        self.null_stream = Stream(0, self, flags=0, priority=0, number=0)
        self.thread_stream = Stream(2, self, flags=0, priority=0, number=2)
        self.streams: list[Stream] = [self.thread_stream]  # all but the null stream
        self.engines: dict[str, Moment] = {}  # copies over the host link, "in" and "out": when the last one is done
        self.printf_buffer = PrintfBuffer(self, arena)
        self._arena, self._machine_type, self._machine = arena, machine_type, None

    @property
    def machine(self) -> Any:
        """The machine's VirtualDevice."""
        if self._machine is None:
            kind = self._machine_type
            if kind is None:
                from gpulab.virtual_gpu.machine.device import VirtualDevice as kind
            self._machine = kind(self.architecture, self._arena, self.index)
        return self._machine


class PrintfBuffer:
    """Where a device's kernels put what they print; its size is the device's limit hipLimitPrintfFifoSize."""

    def __init__(self, device: Device, arena: Any) -> None:
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
        return "".join(printf.decode(ctypes.string_at(self._address, used), formats))


class Runtime:
    """All state of the virtual HIP library.

    Args:
        names: architectures of the devices; None takes GPULAB_DEVICES.
        arena, machine_type: the machine's Arena and VirtualDevice class (others for tests).
    """

    def __init__(self, names: str | None = None, arena: Any = None, machine_type: Any = None) -> None:
        if arena is None:
            from gpulab.virtual_gpu.machine.arena import Arena

            arena = Arena()
        self.lock = threading.RLock()
        self.arena = arena
        wanted = names if names is not None else os.environ.get("GPULAB_DEVICES", "")
        listed = [name.strip() for name in wanted.split(",") if name.strip()] or DEFAULT_DEVICES.split(",")
        self.devices = [
            Device(index, architectures.get(name), arena, machine_type) for index, name in enumerate(listed)
        ]
        self._local = threading.local()
        self._listeners: list[tuple[Listener, bool]] = []
        self.profiling = False
        self.checking = 0  # how many `with gpulab.checked()` blocks are open
        self.announce: Callable[[Fault], None] | None = None  # told of each fault when a call returns its code
        self._surfaced: Fault | None = None
        self._exception: BaseException | None = None
        self._missing: Callable[[], str] = str
        self.instruction_limit = _limit_from_environment()
        self.memory = Memory(self)
        self.streams = Streams(self)
        self.modules = Modules(self)
        self.linked = Linked(self)
        self.programs = Programs(self)
        atexit.register(self.flush_printed)

    # The current device is each thread's own.

    @property
    def current(self) -> Device:
        return self.devices[getattr(self._local, "device", 0)]

    def device(self, index: int) -> Device:
        """The device with this number.

        Raises:
            Failure: hipErrorInvalidDevice.
        """
        if not 0 <= index < len(self.devices):
            raise Failure(codes.INVALID_DEVICE)
        return self.devices[index]

    def set_device(self, index: int) -> None:
        self._local.device = self.device(index).index

    def context_stack(self) -> list[int]:
        """Device numbers that this thread pushed with hipCtxPushCurrent or hipCtxCreate."""
        if not hasattr(self._local, "contexts"):
            self._local.contexts = []
        found: list[int] = self._local.contexts
        return found

    # Faults

    def surface(self, device: Device) -> int:
        """What a synchronising call does last: print the kernels' text; the code of a pending fault, once."""
        if device.printed:
            self.flush_printed(device)
        fault = device.fault
        if fault is None:
            return codes.SUCCESS
        device.fault = None
        self._surfaced = fault
        if self.announce is not None:
            self.announce(fault)
        elif "gpulab.hip.door" not in sys.modules:
            where = f" at {fault.where.file}:{fault.where.line}" if fault.where else ""
            address = f" address 0x{fault.address:x}" if fault.address is not None else ""
            print(
                f"gpulab: virtual GPU {device.index} stopped kernel {fault.kernel}{where}: {fault.kind}{address}, "
                f"workgroup {fault.workgroup}, thread {fault.thread}. gpulab.hip.check(code) tells more.",
                file=sys.stderr,
            )
        if fault.kind in ("timeout", "grid barrier"):
            return codes.LAUNCH_TIMEOUT
        return codes.LAUNCH_FAILURE if fault.kind in ("trap", "barrier", "bad jump") else codes.ILLEGAL_ADDRESS

    def take_fault(self) -> Fault | None:
        """The fault that a synchronising call returned last; it is forgotten then."""
        fault, self._surfaced = self._surfaced, None
        return fault

    def keep_fault(self) -> None:
        """Let the fault that was returned last be reported again by the next synchronising call."""
        fault = self.take_fault()
        if fault is not None:
            device = self.current
            device.fault = device.fault or fault

    def flush_printed(self, device: Device | None = None) -> None:
        """Write what kernels printed to sys.stdout."""
        for each in self.devices if device is None else [device]:
            if each.printed:
                text, each.printed = "".join(each.printed), []
                sys.stdout.write(text)

    # Failures inside calls

    def failed(self, call: str, error: BaseException) -> int:
        """The code for an exception in a HIP call; `take_exception` hands it to the door."""
        if isinstance(error, Failure):
            self._exception = error if error.reason else None
            return error.code
        if isinstance(error, KeyboardInterrupt):
            return codes.INTERRUPTED
        self._exception = error
        return _code_of(error)

    def take_exception(self) -> BaseException | None:
        """The exception behind the last failed call, if there was one; it is forgotten then."""
        error, self._exception = self._exception, None
        return error

    def set_missing_source(self, source: Callable[[], str]) -> None:
        """Where the name of the last unsupported call is asked for (the C stub knows it)."""
        self._missing = source

    def missing_call(self) -> str:
        """The name of the call that returned hipErrorNotSupported last in this thread, or ""."""
        return self._missing()

    # Records

    def add_listener(self, listener: Listener, profile: bool = False) -> None:
        """Call `listener` with the record of every launch; with `profile` all counters are collected."""
        with self.lock:
            self._listeners.append((listener, profile))
            self.profiling = any(wants for _, wants in self._listeners)

    def remove_listener(self, listener: Listener) -> None:
        with self.lock:
            for place, (known, _) in enumerate(self._listeners):
                if known == listener:
                    del self._listeners[place]
                    break
            self.profiling = any(wants for _, wants in self._listeners)

    def launched(self, device: Device, record: Launch) -> None:
        """A kernel ran: keep its fault and text, tell the listeners."""
        if record.fault is not None and device.fault is None:
            device.fault = record.fault
        if record.printed:
            device.printed.append(record.printed)
        for listener, _ in self._listeners:
            listener(record)

    def set_instruction_limit(self, limit: int | None) -> None:
        """Wave instructions after which a wave is stopped; None: the default, 0: no limit."""
        self.instruction_limit = _limit_from_environment() if limit is None else limit or NO_LIMIT

    # What the door asks for beside C calls

    def function_details(self, function: int) -> dict[str, int]:
        """Resources of a kernel that HIP's attributes do not tell."""
        return self.modules.details(function)

    def hardware_occupancy(self, function: int, block_threads: int, dynamic_lds: int) -> Any:
        """`architectures.Occupancy` of a kernel."""
        return self.modules.hardware_occupancy(function, block_threads, dynamic_lds)

    def launch_traced(
        self,
        function: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        lds: int,
        kernarg: bytes,
        workgroup: Any = 0,
        wave: int = 0,
    ) -> tuple[Launch, Any]:
        """Run a kernel and record one wave; see `gpulab.hip.launch_traced`."""
        return self.modules.launch_traced(function, grid, block, lds, kernarg, workgroup, wave)

    def reset(self, device: Device) -> None:
        """hipDeviceReset: everything that belongs to the device is gone."""
        with self.lock:
            self.modules.reset(device)
            self.memory.reset(device)
            self.streams.reset(device)
            device.fault, device.flags, device.limits = None, 0, dict(DEFAULT_LIMITS)
            device.peers.clear()
            self.flush_printed(device)


def _limit_from_environment() -> int | None:
    text = os.environ.get("GPULAB_INSTRUCTION_LIMIT", "").strip().replace("_", "")
    if not text:
        return None
    if not text.isdigit():
        raise GpulabError(
            f"GPULAB_INSTRUCTION_LIMIT is {text!r}.",
            why="it is the number of wave instructions after which a kernel is stopped.",
            hint="use a whole number, 0 for no limit, or unset it.",
        )
    return int(text) or NO_LIMIT


def _code_of(error: BaseException) -> int:
    from gpulab import errors

    for kind, code in (
        (errors.UnsupportedInstruction, codes.NOT_SUPPORTED),
        (errors.AssemblyError, codes.INVALID_IMAGE),
        (errors.LaunchLimitError, codes.INVALID_CONFIGURATION),
        (errors.LaunchError, codes.INVALID_VALUE),
        (errors.DeviceMemoryError, codes.OUT_OF_MEMORY),
        (errors.DeviceNotFound, codes.NO_DEVICE),
        (MemoryError, codes.OUT_OF_MEMORY),
    ):
        if isinstance(error, kind):
            return code
    return codes.UNKNOWN
