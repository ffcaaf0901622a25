"""`Context`: the state that all HIP calls share: devices, each thread's current one, pending faults, who listens.

Environment: GPULAB_DEVICES lists architectures (the default ones of gpulab.architectures if unset), one device each;
ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES choose among them (visible.py);
GPULAB_INSTRUCTION_LIMIT is the default limit of wave instructions per wave (0: none).
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gpulab import architectures
from gpulab.errors import GpulabError
from gpulab.virtual_gpu.runtime import codes, visible
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.moments import Ran
from gpulab.virtual_gpu.runtime.properties import uuid

if TYPE_CHECKING:
    from gpulab.records import Fault, Launch
    from gpulab.virtual_gpu.machine.arena import Arena
    from gpulab.virtual_gpu.machine.device import VirtualDevice
    from gpulab.virtual_gpu.runtime.provenance import Provenance

NO_LIMIT = 1 << 61  # more wave instructions than anyone can wait for


class _Thread(threading.local):
    """What belongs to one thread: its current device, and those it pushed (hipCtxPushCurrent, hipCtxCreate)."""

    def __init__(self) -> None:
        self.device = 0
        self.contexts: list[int] = []


class Context:
    """The devices of this process and what all calls share.

    Args:
        names: architectures of the devices; None takes GPULAB_DEVICES, and those of them that are visible.
        arena, machine_type: the machine's Arena and VirtualDevice class (others for tests).
    """

    def __init__(
        self,
        names: str | None = None,
        arena: Arena | None = None,
        machine_type: type[VirtualDevice] | None = None,
    ) -> None:
        if arena is None:
            from gpulab.virtual_gpu.machine.arena import Arena

            arena = Arena()
        self.lock = threading.RLock()
        self.arena = arena
        wanted = names if names is not None else os.environ.get("GPULAB_DEVICES", "")
        listed = [name.strip() for name in wanted.split(",") if name.strip()] or architectures.defaults()
        known = [(place, architectures.get(name)) for place, name in enumerate(listed)]
        chosen, self._none = known, ""
        if names is None:
            chosen = visible.visible([(uuid(one, place).decode(), (place, one)) for place, one in known], os.environ)
            self._none = "" if chosen else visible.reason(os.environ, len(known))
        self.devices = [Device(index, one, arena, machine_type, place) for index, (place, one) in enumerate(chosen)]
        self._thread = _Thread()
        self._listeners: list[tuple[Callable[[Launch], None], bool]] = []
        self.profiling = False
        self.checking = 0  # how many `with gpulab.checked()` blocks are open
        self.weak: Iterator[int] | None = None  # seeds for the launches of `with gpulab.weak(seed)`
        self.provenance: Provenance | None = None  # in checked launches: where the bytes of memory come from
        self.explain: Callable[[str, str, str], None] | None = None  # told why a call failed
        self.announce: Callable[[Fault], None] | None = None  # told of each fault when a call returns its code
        self.reports_faults = False  # whoever uses this runtime makes exceptions of faults
        self._surfaced: Fault | None = None
        self._exception: BaseException | None = None
        self.missing: dict[str, Callable[[], str]] = {}
        self.at_waits: list[Callable[[Device], None]] = []  # called when the host has waited for a device
        self.instruction_limit = _limit_from_environment()
        atexit.register(self.flush_printed)

    # The current device is each thread's own.

    @property
    def current(self) -> Device:
        """The device of this thread.

        Raises:
            Failure: hipErrorNoDevice.
        """
        self.need_devices()
        return self.devices[self._thread.device]

    @property
    def current_index(self) -> int:
        """Its number, where there are devices."""
        return self._thread.device

    def need_devices(self) -> None:
        """Where no device is visible, most calls fail.

        Raises:
            Failure: hipErrorNoDevice.
        """
        if self._none:
            raise Failure(codes.NO_DEVICE, self._none)

    def device(self, index: int) -> Device:
        """The device with this number.

        Raises:
            Failure: hipErrorInvalidDevice.
        """
        self.need_devices()
        if not 0 <= index < len(self.devices):
            raise Failure(codes.INVALID_DEVICE)
        return self.devices[index]

    def set_device(self, index: int) -> None:
        self._thread.device = self.device(index).index

    def context_stack(self) -> list[int]:
        """Device numbers that this thread pushed with hipCtxPushCurrent or hipCtxCreate."""
        return self._thread.contexts

    # Faults

    def surface(self, device: Device) -> int:
        """What a synchronising call does last: print the kernels' text; the code of a pending fault, once."""
        if device.printed:
            self.flush_printed(device)
        for each in self.at_waits:
            each(device)
        fault = device.fault
        if fault is None:
            return codes.SUCCESS
        device.fault = None
        self._surfaced = fault
        if self.announce is not None:
            self.announce(fault)
        elif not self.reports_faults:
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

    def has_news(self) -> bool:
        """Whether the current device has a fault or printed text that nobody has seen yet."""
        device = self.current
        return device.fault is not None or bool(device.printed)

    def flush_printed(self, device: Device | None = None) -> None:
        """Write what kernels printed to sys.stdout."""
        for each in self.devices if device is None else [device]:
            if each.printed:
                text, each.printed = "".join(each.printed), []
                sys.stdout.write(text)

    # Failures inside calls

    def failed(self, call: str, error: BaseException) -> int:
        """HIP's code for an exception in a call; `take_exception` hands the exception to whoever explains it."""
        if isinstance(error, Failure):
            self._exception = without_frames(error) if error.reason else None
            if error.reason and (
                error.code in _EXPLAINED or (error.code == codes.INVALID_VALUE and call.startswith(_PLAIN_CALLS))
            ):
                self.tell(call, codes.NAMES[error.code], error.reason)
            return error.code
        if isinstance(error, KeyboardInterrupt):
            return codes.INTERRUPTED
        self._exception = error
        code = _code_of(error)
        if self.explain is not None and isinstance(error, GpulabError) and code in _EXPLAINED:
            self.tell(call, codes.NAMES[code], str(error))  # nobody raises it in a whole program
        return code

    def tell(self, call: str, name: str, reason: str) -> None:
        """Say why a call returned an error, unless an exception will."""
        if self.explain is not None:
            self.explain(call, name, reason)
        elif not self.reports_faults:
            print(f"gpulab: {call} returned {name}: {reason.rstrip('.')}.", file=sys.stderr)

    def take_exception(self) -> BaseException | None:
        """The exception behind the last failed call, if there was one; it is forgotten then."""
        error, self._exception = self._exception, None
        return error

    def missing_call(self, library: str = "hip") -> str:
        """The name of the call of a library that was last answered "not supported" in this thread, or ""."""
        ask = self.missing.get(library)
        return ask() if ask is not None else ""

    # Records

    def add_listener(self, listener: Callable[[Launch], None], profile: bool = False) -> None:
        """Call `listener` with the record of every launch; with `profile` all counters are collected."""
        with self.lock:
            self._listeners.append((listener, profile))
            self.profiling = any(wants for _, wants in self._listeners)

    def remove_listener(self, listener: Callable[[Launch], None]) -> None:
        with self.lock:
            for place, (known, _) in enumerate(self._listeners):
                if known == listener:
                    del self._listeners[place]
                    break
            self.profiling = any(wants for _, wants in self._listeners)

    def launched(self, device: Device, ran: Ran) -> None:
        """A kernel ran: keep its fault and text, tell the listeners."""
        if ran.fault is not None and device.fault is None:
            device.fault = ran.fault
        if ran.printed:
            device.printed.append(ran.printed)
        for listener, _ in self._listeners:
            listener(ran.record())

    def set_instruction_limit(self, limit: int | None) -> None:
        """Wave instructions after which a wave is stopped; None: the default, 0: no limit."""
        self.instruction_limit = _limit_from_environment() if limit is None else limit or NO_LIMIT


def without_frames(error: BaseException) -> BaseException:
    """The exception without the frames that it went through: kept, it would keep alive what the callers have."""
    at: BaseException | None = error
    while at is not None and at.__traceback__ is not None:
        at.__traceback__ = None
        at = at.__cause__ or at.__context__
    return error


#: Failures that a program should be told more of than the code: what can be had, what its file holds, what is refused.
_EXPLAINED = (
    codes.OUT_OF_MEMORY,
    codes.NO_DEVICE,
    codes.NO_BINARY_FOR_GPU,
    codes.INVALID_IMAGE,
    codes.NOT_SUPPORTED,
    codes.INVALID_CONFIGURATION,
    *range(codes.STREAM_CAPTURE_UNSUPPORTED, codes.STREAM_CAPTURE_WRONG_THREAD + 1),
)

#: Calls whose wrong arguments are mistakes. Others are asked to find out something, and an error is an answer.
_PLAIN_CALLS = ("hipMemcpy", "hipMemset", "hipFree", "hipLaunchKernel", "hipModuleLaunchKernel")


def _limit_from_environment() -> int | None:
    text = os.environ.get("GPULAB_INSTRUCTION_LIMIT", "").strip().replace("_", "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise GpulabError(
            f"GPULAB_INSTRUCTION_LIMIT is {text!r}.",
            why="it is the number of instructions after which a wave is stopped.",
            hint="use a whole number of at most 18 digits, 0 for no limit, or unset it.",
        )
    return int(text) or NO_LIMIT


def _code_of(error: BaseException) -> int:
    from gpulab import errors

    for kind, code in (
        (errors.UnsupportedInstruction, codes.NOT_SUPPORTED),
        (errors.CapabilityError, codes.NOT_SUPPORTED),
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
