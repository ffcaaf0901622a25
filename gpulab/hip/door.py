"""The calls that the rest of gpulab makes to a GPU: HIP's C interface with results turned into exceptions.

Moving parts: `DeviceInfo` and the list of devices, one function per HIP call, `recording()` and
`launch_traced()` for records, and `_fail`, which turns an error code into the exception to raise.

Devices are numbered from 0: those of the default library first (real GPUs where ROCm is used), then, if the
default is ROCm, the virtual ones. Addresses, modules, functions, streams and events are plain integers and
belong to the library of the device that was selected when they were made.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gpulab.errors import (
    DeviceMemoryError,
    DeviceNotFound,
    GpulabError,
    HipError,
    InternalError,
    KernelFault,
    LaunchLimitError,
)
from gpulab.hip import faults, library
from gpulab.records import Access, AccessCost, Activity, AllocationNote, Counters, InstructionCost, Launch

if TYPE_CHECKING:
    from gpulab.hip.binding import Binding
    from gpulab.hip.snapshot import Snapshot
    from gpulab.records import Fidelity, Trace
    from gpulab.virtual_gpu.runtime.streams import Happening

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as gpulab numbers them. `properties` has every field of hipDeviceProp_t."""

    index: int
    name: str
    arch: str  # "gfx942", without target features
    wave_size: int
    compute_units: int
    virtual: bool
    memory_bytes: int
    properties: Mapping[str, Any] = field(default_factory=dict, repr=False)


# hipError_t values that the door treats in a special way (hip_runtime_api.h).
_INVALID_VALUE, _OUT_OF_MEMORY, _INVALID_CONFIGURATION = 1, 2, 9
_NOT_READY, _NOT_SUPPORTED, _UNKNOWN = 600, 801, 999
_COOPERATIVE_LAUNCH_TOO_LARGE = 720
_FAULTS = (700, 702, 710, 719)

_TO_DEVICE, _TO_HOST, _ON_DEVICE, _ANY = 1, 2, 3, 4  # hipMemcpyKind


class _Local(threading.local):
    """The selected library of this thread, as HIP's current device is a thread's own."""

    binding: Binding | None = None


_local = _Local()
_devices: tuple[DeviceInfo, ...] | None = None
_lock = threading.RLock()


def _binding() -> Binding:
    return _local.binding or library.primary()


def _is_virtual_binding(binding: Binding) -> bool:
    return not library.uses_rocm() or binding is not library.primary()


def _runtime() -> Any:
    """The virtual GPU's runtime in this process."""
    from gpulab.virtual_gpu import runtime

    return runtime.instance()


# Devices


def _info(binding: Binding, local: int, index: int, virtual: bool) -> DeviceInfo:
    code, properties = binding.properties(local)
    if code:
        _fail(binding, code, "hipGetDeviceProperties")
    # On RDNA HIP's multiprocessor is a work-group processor: two compute units.
    per_multiprocessor = 2 if properties["major"] >= 10 else 1
    return DeviceInfo(
        index=index,
        name=properties["name"],
        arch=properties["gcnArchName"].partition(":")[0],
        wave_size=properties["warpSize"],
        compute_units=properties["multiProcessorCount"] * per_multiprocessor,
        virtual=virtual,
        memory_bytes=properties["totalGlobalMem"],
        properties=properties,
    )


def devices() -> tuple[DeviceInfo, ...]:
    """All devices in the order of their numbers: the default library's, then (beside ROCm) the virtual ones."""
    global _devices
    if _devices is None:
        with _lock:
            if _devices is None:
                binding = library.primary()
                virtual = not library.uses_rocm()
                found = [_info(binding, i, i, virtual) for i in range(_call(binding, "hipGetDeviceCount")[0])]
                if not virtual:
                    other, first = library.virtual(), len(found)
                    count = _call(other, "hipGetDeviceCount")[0]
                    found += [_info(other, i, first + i, True) for i in range(count)]
                _devices = tuple(found)
    return _devices


def _first_virtual() -> int:
    return next((device.index for device in devices() if device.virtual), len(devices()))


def current() -> int:
    """The number of the selected device."""
    binding = _binding()
    local = int(_call(binding, "hipGetDevice")[0])
    return local + (_first_virtual() if _is_virtual_binding(binding) and library.uses_rocm() else 0)


def select(index: int) -> None:
    """Select a device for this thread.

    Raises:
        DeviceNotFound: there is no device with this number.
    """
    if not 0 <= index < len(devices()):
        _no_device(index)
    if not library.uses_rocm():
        _call(_binding(), "hipSetDevice", index)
        return
    first = _first_virtual()
    virtual = index >= first
    _local.binding = library.virtual() if virtual else library.primary()
    _call(_local.binding, "hipSetDevice", index - first if virtual else index)


def find(wanted: int | str | DeviceInfo) -> DeviceInfo:
    """The device with this number, gfx name or product name (or a part of it); "virtual:gfx942" asks for
    a virtual one where there are real ones too.

    Raises:
        DeviceNotFound: there is none.
    """
    if isinstance(wanted, DeviceInfo):
        return wanted
    everything = devices()
    if not isinstance(wanted, str):
        if isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < len(everything):
            return everything[wanted]
        _no_device(wanted)
    text = wanted.strip()
    virtual_only = text.lower().startswith("virtual:")
    name = text.partition(":")[2] if virtual_only else text
    candidates = [device for device in everything if device.virtual or not virtual_only]
    if name.isdigit() and int(name) < len(candidates):
        return candidates[int(name)]
    arch = name.partition(":")[0].lower()
    for test in (
        lambda device: device.arch == arch,
        lambda device: device.name.lower() == name.lower(),
        lambda device: bool(name) and name.lower() in device.name.lower(),
    ):
        for device in candidates:
            if test(device):
                return device
    _no_device(wanted)


def _no_device(wanted: object) -> NoReturn:
    there = ", ".join(f"{device.index}: {device.name} ({device.arch})" for device in devices())
    raise DeviceNotFound(
        f"There is no device {wanted!r}.",
        why=f"the devices are {there}." if there else "no device was found.",
        hint='use a number, a gfx name such as "gfx1100" or a part of the name; '
        "GPULAB_DEVICES names other virtual devices.",
    )


def is_virtual(index: int | None = None) -> bool:
    """Whether a device (the selected one by default) is virtual."""
    if index is None:
        return _is_virtual_binding(_binding())
    return find(index).virtual


def library_info() -> dict[str, Any]:
    """What is used and why, for `gpulab doctor`: library, path, binding, versions, ROCm's state and profiler, the
    environment variable that makes hip-python find the virtual library without gpulab."""
    from gpulab.hip import rocprof
    from gpulab.virtual_gpu import abi

    info = library.state()
    binding = library.primary()
    version = _call(binding, "hipRuntimeGetVersion")[0]
    info.update(
        binding=binding.kind,
        path=getattr(binding, "path", ""),
        hip_version=f"{version // 10_000_000}.{version // 100_000 % 100}.{version % 100_000}",
        virtual_folder=str(abi.rocm_path()),
        environment=f"ROCM_PATH={abi.rocm_path()}",
        devices=devices(),
        profiler=rocprof.executable() if library.uses_rocm() else None,
    )
    return info


# Errors


def _call(binding: Binding, name: str, *arguments: Any) -> tuple[Any, ...]:
    """A call that must succeed: its outputs."""
    code, *outputs = binding.call(name, *arguments)
    if code:
        _fail(binding, code, name)
    return tuple(outputs)


def _do(name: str, *arguments: Any) -> tuple[Any, ...]:
    return _call(_binding(), name, *arguments)


def _fail(binding: Binding, code: int, call: str, what: str = "") -> NoReturn:
    """Raise the exception for an error code of `call`; `what` is said first where it is known better."""
    binding.call("hipGetLastError")  # the error is told here: it must not be told again
    cause: BaseException | None = None
    if _is_virtual_binding(binding):
        runtime = _runtime()
        if code in _FAULTS:
            fault = runtime.take_fault()
            if fault is not None:
                raise faults.exception(fault)
        cause = runtime.take_exception()
    if isinstance(cause, GpulabError) and not isinstance(cause, InternalError):
        raise cause
    name, text = binding.error_text(code)
    said = what or f"{call} failed: {text} ({name}, code {code})."
    if code == _OUT_OF_MEMORY:
        raise DeviceMemoryError(
            said,
            why=f"{cause}." if cause is not None else "the device has no free block of this size.",
            hint="free arrays that are no longer needed, or use smaller ones.",
        ) from cause
    if code in _FAULTS:
        raise KernelFault(
            f"A kernel was stopped: {text} ({name}).",
            why="the GPU does not say which line it was.",
            hint='run the same kernel on a virtual device, e.g. gpulab.use("virtual:gfx942"): '
            "it names the line and the thread.",
        )
    if code == _NOT_SUPPORTED:
        missing = _runtime().missing_call() if cause is None and _is_virtual_binding(binding) else ""
        why = f"{cause}." if cause is not None else ""
        if missing:
            why = "the virtual HIP library has the calls that the course uses, not all of HIP."
        raise HipError(f"{missing or call} is not supported ({name}).", name=name, code=code, why=why) from cause
    if code == _UNKNOWN and cause is not None:
        raise InternalError(
            f"{call} failed inside the virtual GPU: {type(cause).__name__}: {cause}", call=call
        ) from cause
    raise HipError(said, name=name, code=code) from cause


def check(result: Any, call: str = "a HIP call") -> Any:
    """For code that calls hip-python itself: raise the exception for a result that is not success.

    Args:
        result: what a function of hip-python returned, ``(code, value, ...)``, or a code alone.
        call: the function's name, for the message.

    Returns:
        The value behind the code (a tuple if there are several, None if there is none).
    """
    code, *values = result if isinstance(result, tuple) else (result,)
    if int(code):
        if type(code).__name__ == "hiprtcResult":
            raise HipError(
                f"{call} failed: {code.name}.",
                name=code.name,
                code=int(code),
                hint="the log tells more: hiprtcGetProgramLog." if int(code) == 6 else "",
            )
        _fail(_binding(), int(code), call)
    return values[0] if len(values) == 1 else tuple(values) or None


# Memory


_allocations: dict[int, int] = {}
"""Bytes by address of what was allocated here on a real GPU: what a launch saved for the profiler may reach."""


def _allocate(name: str, size: int, *more: int) -> int:
    address = int(_do(name, size, *more)[0])
    if address and not _is_virtual_binding(_binding()):
        _allocations[address] = size
    return address


def malloc(size: int) -> int:
    """Allocate device memory: its address (0 for 0 bytes).

    Raises:
        DeviceMemoryError: there is not enough memory.
    """
    return _allocate("hipMalloc", size)


def malloc_host(size: int) -> int:
    """Allocate page-locked host memory that the device can use: its address."""
    return _allocate("hipHostMalloc", size, 0)


def malloc_managed(size: int) -> int:
    """Allocate memory that host and device share: its address."""
    return _allocate("hipMallocManaged", size, 1)


def free(address: int) -> None:
    """Free device or managed memory. Freeing address 0 does nothing. A fault of a kernel is not raised here.

    Raises:
        DeviceMemoryError: the address is not the start of an allocation, or was freed before.
    """
    binding = _binding()
    _allocations.pop(address, None)
    code = binding.call("hipFree", address)[0]
    if code in _FAULTS and _is_virtual_binding(binding):
        # The memory is freed. Arrays are freed whenever Python lets go of them, which is no place to raise: the
        # fault is kept for the next call that waits for the device.
        binding.call("hipGetLastError")
        _runtime().keep_fault()
        return
    if code == _INVALID_VALUE:
        note = find_allocation(address)
        binding.call("hipGetLastError")
        raise DeviceMemoryError(
            f"free: 0x{address:x} is not the start of a device allocation.",
            why=f"the address is {faults.nearest_text(note)}."
            if note is not None and faults.is_near(note)
            else "it was never allocated, or was freed before.",
            hint="free each allocation once, with the address that malloc returned.",
        )
    if code:
        _fail(binding, code, "hipFree")


def free_host(address: int) -> None:
    """Free memory of `malloc_host`."""
    _allocations.pop(address, None)
    _do("hipHostFree", address)


def memset(address: int, value: int, size: int, stream: int = 0) -> None:
    """Fill `size` bytes with the byte `value`."""
    if stream:
        _do("hipMemsetAsync", address, value, size, stream)
    else:
        _do("hipMemset", address, value, size)


def _host(buffer: Any, writable: bool) -> tuple[int, int, Any]:
    """Address, bytes and keep-alive of a contiguous buffer object."""
    interface = getattr(buffer, "__array_interface__", None)
    if interface is not None and interface.get("strides") is None:
        address, read_only = interface["data"]
        if not (writable and read_only):
            return int(address), int(buffer.nbytes), buffer
    view = memoryview(buffer)
    if not view.contiguous:
        raise DeviceMemoryError(
            "The host array is not contiguous in memory.", hint="copy it first: numpy.ascontiguousarray(array)."
        )
    if writable and view.readonly:
        raise DeviceMemoryError("The host buffer is read-only, so nothing can be copied into it.")
    size = view.nbytes
    if size == 0:
        return 0, 0, buffer
    if view.readonly:
        if isinstance(buffer, bytes):
            pointer = ctypes.cast(ctypes.c_char_p(buffer), ctypes.c_void_p).value or 0
            return pointer, size, buffer
        copied = ctypes.create_string_buffer(view.tobytes(), size)
        return ctypes.addressof(copied), size, copied
    cell = (ctypes.c_char * size).from_buffer(view.cast("B") if view.format != "B" or view.ndim != 1 else view)
    return ctypes.addressof(cell), size, cell


def copy_to_device(address: int, buffer: Any, stream: int = 0) -> None:
    """Copy a contiguous host buffer (numpy array, bytes …) to a device address."""
    source, size, keep = _host(buffer, writable=False)
    if not size:
        return
    if stream:
        _do("hipMemcpyAsync", address, source, size, _TO_DEVICE, stream)
    else:
        _do("hipMemcpy", address, source, size, _TO_DEVICE)
    del keep


def copy_to_host(buffer: Any, address: int, stream: int = 0) -> None:
    """Copy from a device address into a writable contiguous host buffer, as many bytes as it has."""
    target, size, keep = _host(buffer, writable=True)
    if not size:
        return
    if stream:
        _do("hipMemcpyAsync", target, address, size, _TO_HOST, stream)
    else:
        _do("hipMemcpy", target, address, size, _TO_HOST)
    del keep


def copy_device(target: int, source: int, size: int, stream: int = 0) -> None:
    """Copy between two device addresses."""
    if not size:
        return
    if stream:
        _do("hipMemcpyAsync", target, source, size, _ON_DEVICE, stream)
    else:
        _do("hipMemcpy", target, source, size, _ON_DEVICE)


def mem_info() -> tuple[int, int]:
    """(free, total) bytes of the selected device."""
    free_bytes, total = _do("hipMemGetInfo")
    return int(free_bytes), int(total)


def find_allocation(address: int) -> AllocationNote | None:
    """The allocation that holds or is nearest to an address (virtual devices only, else None)."""
    if not is_virtual():
        return None
    found: AllocationNote | None = _runtime().arena.nearest(address)
    return found


# Modules


def load_module(elf: bytes) -> int:
    """Load a code object on the selected device: a module handle.

    Raises:
        UnsupportedInstruction: a virtual device does not know an instruction of it.
        HipError: the image cannot be used on this device.
    """
    pointer = ctypes.cast(ctypes.c_char_p(elf), ctypes.c_void_p).value
    module = int(_do("hipModuleLoadData", pointer)[0])
    if not _is_virtual_binding(_binding()):
        _images[module] = elf
    return module


_images: dict[int, bytes] = {}
_kernels: dict[int, tuple[int, str]] = {}
"""Of what was loaded on a real GPU: the code object by module, and module and symbol by function."""


def _title(function: int) -> str:
    """The name in the source of a real GPU's kernel; its symbol if gpulab did not compile it; "" if unknown."""
    from gpulab.toolchain import CodeObject

    module, symbol = _kernels.get(function, (0, ""))
    with contextlib.suppress(GpulabError):
        signature = CodeObject.from_elf(_images.get(module, b"")).kernels.get(symbol)
        return signature.name if signature is not None else symbol
    return symbol


def unload_module(module: int) -> None:
    """Unload a module; its functions and globals are gone."""
    _images.pop(module, None)
    _do("hipModuleUnload", module)


def get_function(module: int, symbol: str) -> int:
    """The handle of a kernel by its symbol (the mangled name)."""
    function = int(_do("hipModuleGetFunction", module, symbol.encode())[0])
    if not _is_virtual_binding(_binding()):
        _kernels[function] = module, symbol
    return function


def get_global(module: int, symbol: str) -> tuple[int, int]:
    """(address, bytes) of a __device__ or __constant__ variable by its symbol."""
    address, size = _do("hipModuleGetGlobal", module, symbol.encode())
    return int(address), int(size)


_FUNCTION_ATTRIBUTES = {
    "max_threads_per_block": 0,
    "lds_bytes": 1,
    "constant_bytes": 2,
    "private_bytes": 3,
    "vgprs": 4,
    "max_dynamic_lds_bytes": 8,
}


def function_attributes(function: int) -> dict[str, int]:
    """Resources of a kernel: max_threads_per_block, lds_bytes, constant_bytes, private_bytes (scratch per thread),
    vgprs, max_dynamic_lds_bytes; on a virtual device also agprs, sgprs, kernarg_bytes and spills."""
    binding = _binding()
    found = {
        name: int(_call(binding, "hipFuncGetAttribute", number, function)[0])
        for name, number in _FUNCTION_ATTRIBUTES.items()
    }
    if _is_virtual_binding(binding):
        found.update(_runtime().function_details(function))
    return found


def occupancy(function: int, block_threads: int, lds: int = 0) -> int:
    """Blocks that one compute unit holds at a time, as HIP's interface computes it."""
    return int(_do("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", function, block_threads, lds)[0])


def hardware_occupancy(function: int, block_threads: int, lds: int = 0) -> Any:
    """What a virtual device's hardware holds, where HIP's formula says less: an
    `architectures.Occupancy` with blocks, waves, percent, limits by resource and which of them binds.

    Raises:
        HipError: the selected device is not virtual.
    """
    if not is_virtual():
        raise HipError("The occupancy of a real GPU by resource is not known here.", hint="use a virtual device.")
    return _runtime().hardware_occupancy(function, block_threads, lds)


# Launches

_EXTRA = ctypes.c_void_p * 5


def launch(function: int, grid: Sequence[int], block: Sequence[int], lds: int, stream: int, kernarg: bytes) -> None:
    """Start a kernel with its arguments as one packed buffer (HIP_LAUNCH_PARAM_BUFFER_POINTER).

    Args:
        function: from `get_function`.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        lds: bytes of dynamic shared memory.
        stream: 0 for the default stream.
        kernarg: the arguments at the offsets of the kernel's own layout.

    Raises:
        LaunchLimitError: sizes that the device does not allow.
    """
    binding = _binding()
    size = ctypes.c_size_t(len(kernarg))
    pointer = ctypes.cast(ctypes.c_char_p(kernarg), ctypes.c_void_p)
    extra = _EXTRA(1, pointer.value, 2, ctypes.addressof(size), 3)
    records = _recorders
    if records and not _is_virtual_binding(binding):
        address = ctypes.addressof(extra)
        _timed_launch(
            binding, lambda: binding.launch(function, grid, block, lds, stream, address), function, grid, block, lds,
            stream, kernarg,
        )  # fmt: skip
        return
    code = binding.launch(function, grid, block, lds, stream, ctypes.addressof(extra))
    if code:
        _launch_failed(binding, code, grid, block, lds)


def launch_cooperative(
    function: int,
    grid: Sequence[int],
    block: Sequence[int],
    lds: int,
    stream: int,
    kernarg: bytes,
    offsets: Sequence[int],
) -> None:
    """Start a kernel whose blocks all run at the same time (hipModuleLaunchCooperativeKernel).

    Args:
        offsets: where each argument stands in `kernarg`; the others are those of `launch`.

    Raises:
        LaunchLimitError: sizes that the device does not allow, or more blocks than run at the same time.
    """
    binding = _binding()
    held = ctypes.create_string_buffer(kernarg, max(len(kernarg), 1))
    parameters = (ctypes.c_void_p * max(len(offsets), 1))(*(ctypes.addressof(held) + offset for offset in offsets))

    def start() -> int:
        return int(
            binding.call(
                "hipModuleLaunchCooperativeKernel", function, *grid, *block, lds, stream, ctypes.addressof(parameters)
            )[0]
        )

    if _recorders and not _is_virtual_binding(binding):
        _timed_launch(binding, start, function, grid, block, lds, stream, kernarg, offsets)
        return
    code = start()
    if code:
        _launch_failed(binding, code, grid, block, lds)


def _launch_failed(binding: Binding, code: int, grid: Sequence[int], block: Sequence[int], lds: int) -> NoReturn:
    if code == _COOPERATIVE_LAUNCH_TOO_LARGE:
        binding.call("hipGetLastError")
        cause = _runtime().take_exception() if _is_virtual_binding(binding) else None
        raise LaunchLimitError(
            f"The cooperative launch was refused: a grid of {_triple(grid)} blocks of {_triple(block)} threads does "
            "not fit on the device at the same time.",
            why=f"{cause}" if cause is not None else "all blocks of a cooperative launch have to run at the same time.",
            hint="use at most kernel.occupancy(block).blocks times the device's compute units, and let each thread do "
            "several elements: for (i = grid.thread_rank(); i < n; i += grid.size()).",
        )
    if code in (_INVALID_VALUE, _INVALID_CONFIGURATION, 701, 719):
        device = devices()[current()]
        limits = device.properties
        threads = block[0] * block[1] * block[2]
        binding.call("hipGetLastError")
        cause = _runtime().take_exception() if _is_virtual_binding(binding) else None
        raise LaunchLimitError(
            f"The launch was refused: grid {_triple(grid)}, block {_triple(block)} ({threads:,} threads), "
            f"{lds:,} bytes of dynamic shared memory.",
            why=f"{cause}"
            if cause is not None
            else (
                f"{device.name} allows at most {limits['maxThreadsPerBlock']:,} threads and "
                f"{limits['sharedMemPerBlock']:,} bytes of shared memory per block, at least 1 in each direction, "
                f"and a grid of at most {_triple(limits['maxGridSize'])} blocks."
            ),
            hint="use a smaller block (256 is a good start) and more blocks.",
        )
    _fail(binding, code, "hipModuleLaunchKernel")


def _triple(values: Sequence[int]) -> str:
    return "(" + ", ".join(f"{value:,}" for value in values) + ")"


def launch_traced(
    function: int,
    grid: Sequence[int],
    block: Sequence[int],
    lds: int,
    kernarg: bytes,
    workgroup: Sequence[int] | int = 0,
    wave: int = 0,
) -> tuple[Launch, Trace]:
    """Run a kernel on a virtual device and record every instruction of one wave.

    Args:
        workgroup: number of the workgroup, or its (x, y, z).
        wave: number of the wave in its workgroup.

    Raises:
        HipError: the selected device is not virtual.
        LaunchLimitError: sizes that the device does not allow, or no such workgroup or wave.
    """
    if not is_virtual():
        raise HipError(
            "A real GPU cannot be traced.", hint='select a virtual device first, e.g. gpulab.use("virtual:gfx942").'
        )
    found: tuple[Launch, Trace] = _runtime().launch_traced(
        function, tuple(grid), tuple(block), lds, kernarg, workgroup, wave
    )
    return found


def fidelity(assembly: str, symbol: str, *, arch: str, name: str, sources: Mapping[str, str]) -> Fidelity:
    """How exactly a virtual device executes a kernel.

    Args:
        assembly: the text of the code object. symbol: the kernel's. name: what the record calls it.
        sources: source text by file name.

    Raises:
        UnsupportedInstruction: an instruction or an architecture that virtual devices do not execute.
    """
    from gpulab.virtual_gpu.isa import assembly as text
    from gpulab.virtual_gpu.translate import fidelity as rows

    return rows.report(text.parse(assembly, sources=sources, arch=arch.partition(":")[0]), symbol, name)


class Records(list["Launch"]):
    """The launches of one recording, and what streams did meanwhile: `activities`."""

    def __init__(self) -> None:
        super().__init__()
        self._happened: list[tuple[Happening, int, int]] = []  # with its device, and its place among the launches
        self._measured: list[Activity] = []

    def happened(self, happening: Happening, device: int) -> None:
        self._happened.append((happening, device, len(self)))

    def measured(self, launch: Launch, start_us: float) -> None:
        """A launch on a real GPU, before it is appended: it started so long after the first one on its device."""
        self._measured.append(
            Activity(
                "kernel", launch.kernel, launch.device, 0, start_us, start_us + launch.measured_us,
                launch=len(self), is_modelled=False,
            )
        )  # fmt: skip

    def activities(self) -> tuple[Activity, ...]:
        """What was put into streams so far, in the order in which it was asked for; computed anew by each call.

        On a real GPU these are the launches alone, and each of them waited for the one before.
        """
        places = {id(happening): place for place, (happening, _, _) in enumerate(self._happened)}
        origin = min((happening.start.us for happening, _, _ in self._happened), default=0.0)
        events: dict[int, int] = {}
        found = []
        for happening, device, launch in self._happened:
            name = happening.name
            if happening.event:
                name = f"event {events.setdefault(happening.event, len(events) + 1)}"
            found.append(
                Activity(
                    happening.kind, name, device, happening.stream,
                    happening.start.us - origin, happening.end.us - origin, happening.bytes,
                    launch=launch if happening.kind == "kernel" else None,
                    waits_for=places.get(id(happening.earlier)) if happening.kind == "wait" else None,
                )
            )  # fmt: skip
        return (*found, *self._measured)


@dataclass(slots=True, eq=False)
class _Recording:
    """One `recording` block: its records and, for the profiler of a real GPU, the launches saved by their place.

    `first` has the event before the first launch on each real device.
    """

    records: Records = field(default_factory=Records)
    first: dict[int, int] = field(default_factory=dict)
    counters: Sequence[str] | None = None
    folder: Path | None = None
    saved: dict[int, Snapshot] = field(default_factory=dict)


_recorders: list[_Recording] = []


@contextlib.contextmanager
def recording(profile: bool = True, counters: Sequence[str] | None = None) -> Iterator[Records]:
    """Collect the records of all launches in the block, and what streams did.

    On virtual devices they are exact (with `profile`, all counters are collected). On a real GPU a record has sizes
    and the measured time; with `counters` each launch is also saved, and repeated under rocprofv3 when the block ends.

    Args:
        counters: names to collect on a real GPU; if empty, the usual ones, where rocprofv3 is installed.

    Raises:
        ProfilerError: counters are named, the selected device is real, and rocprofv3 is missing or fails.
    """
    recorder = _Recording(counters=counters)
    runtime = _runtime() if is_virtual() or library.uses_rocm() else None
    first = _first_virtual() if library.uses_rocm() else 0
    records = recorder.records
    if counters is not None and not is_virtual():
        recorder.folder = _profiler_folder(required=bool(counters))
    _recorders.append(recorder)

    def listen(record: Launch) -> None:
        records.append(dataclasses.replace(record, device=record.device + first) if first else record)

    def happened(happening: Happening) -> None:
        records.happened(happening, happening.device + first)

    if runtime is not None:
        runtime.add_listener(listen, profile)
        runtime.streams.listeners.append(happened)
    try:
        try:
            yield records
        finally:
            if runtime is not None:
                runtime.remove_listener(listen)
                runtime.streams.listeners.remove(happened)
            _recorders.remove(recorder)
            for event in recorder.first.values():
                if all(event not in other.first.values() for other in _recorders):
                    _binding().call("hipEventDestroy", event)
        if recorder.saved:
            _collect(recorder)
    finally:
        if recorder.folder is not None:
            shutil.rmtree(recorder.folder, ignore_errors=True)


def counter_kinds(arch: str) -> dict[str, str]:
    """How a virtual device of an architecture gets each counter that it counts: by name "exact", "modelled" (from
    caches or time) or "assumed" (what hardware counts is not public in this detail)."""
    from gpulab.virtual_gpu.machine import counters

    return {name: rule.kind for name, rule in counters.table(arch).items()}


def part(launch: Launch, instructions: Sequence[InstructionCost], accesses: Sequence[AccessCost]) -> Launch:
    """What some instructions of a profiled launch on a virtual device account for, as a record: their counters, those
    that instructions have (no waves, clocks or lines written back)."""
    from gpulab import architectures
    from gpulab.virtual_gpu.machine import counters

    counts = counters.part(architectures.get(launch.arch), instructions, accesses) if launch.time_is_modelled else {}
    return dataclasses.replace(
        launch,
        counters=Counters(counts),
        instructions=tuple(instructions),
        accesses=tuple(accesses),
        lines=(),
        metrics={},
    )


def _profiler_folder(required: bool) -> Path | None:
    """A folder for saved launches; None if there is no profiler that could repeat them."""
    from gpulab.hip import rocprof

    if rocprof.executable() is None:
        if required:
            raise rocprof.missing()
        return None
    return Path(tempfile.mkdtemp(prefix="gpulab-profile-"))


def _collect(recorder: _Recording) -> None:
    """Repeat the saved launches of a recording under rocprofv3 and put the counters into their records."""
    from gpulab import metrics
    from gpulab.hip import rocprof

    assert recorder.folder is not None
    path = str(getattr(library.primary(), "path", "") or library.rocm_library() or "")
    for arch in sorted({recorder.records[place].arch for place in recorder.saved}):
        places = [place for place in recorder.saved if recorder.records[place].arch == arch]
        known = set(metrics.names(arch))
        names = [name for name in recorder.counters or metrics.usual(arch) if name in known]
        launches = [recorder.saved[place] for place in places]
        found = rocprof.collect(names, arch, path, launches, recorder.folder) if names else [{} for _ in places]
        for place, values in zip(places, found, strict=True):
            counts, computed = rocprof.split(values, arch)
            record = recorder.records[place]
            recorder.records[place] = dataclasses.replace(record, counters=Counters(counts), metrics=computed)


def _save(
    recorder: _Recording, function: int, grid: Sequence[int], block: Sequence[int], lds: int, kernarg: bytes,
    offsets: Sequence[int],
) -> Snapshot | None:  # fmt: skip
    """Save a launch on a real GPU for `_collect`; None for a function that was not loaded here."""
    from gpulab.hip import snapshot

    module, symbol = _kernels.get(function, (0, ""))
    elf = _images.get(module)
    if elf is None or recorder.folder is None:
        return None
    synchronize()
    allocations = dict(_allocations)
    for value in {int.from_bytes(kernarg[at : at + 8], "little") for at in range(0, len(kernarg) - 7, 8)}:
        # What other code allocated is found by asking HIP about the arguments themselves.
        code, *outputs = _binding().call("hipMemGetAddressRange", value)
        if code:
            _binding().call("hipGetLastError")
        elif outputs[0]:
            allocations.setdefault(int(outputs[0]), int(outputs[1]))
    variables = {}
    for name in snapshot.variable_symbols(elf):
        with contextlib.suppress(HipError):  # a variable that the loader does not know by name cannot be filled either
            variables[name] = get_global(module, name)

    def contents(address: int, size: int) -> bytes:
        held = bytearray(size)
        copy_to_host(held, address)
        return bytes(held)

    folder = recorder.folder / f"launch{len(recorder.records)}"
    device = int(_call(_binding(), "hipGetDevice")[0])
    return snapshot.save(
        folder, elf, symbol, device, grid, block, lds, kernarg, offsets, allocations, contents, variables
    )


@contextlib.contextmanager
def checking() -> Iterator[None]:
    """Check every launch on virtual devices in the block; see `gpulab.checked`.

    Raises:
        HipError: the selected device is a real GPU.
    """
    if not is_virtual():
        raise HipError(
            "A real GPU cannot run checked launches.",
            why="races and reads of memory never written are found by watching every access, which only the virtual "
            "GPU can do.",
            hint='select a virtual device first, e.g. gpulab.use("virtual:gfx942").',
        )
    runtime = _runtime()
    runtime.checking += 1
    try:
        yield
    finally:
        runtime.checking -= 1


def last_writers(address: int, size: int, count: int = 1) -> list[Access | None]:
    """Who was the last to change each of `count` elements of `size` bytes from a device address on, in the launch that
    was checked last on the selected device (see `checking`): thread, wave, workgroup, source line, instruction.

    None stands for nobody, and for everything on a real GPU. A store of the value that is there already is no change.
    """
    if not is_virtual():
        return [None] * count
    found: list[Access | None] = _runtime().current.machine.last_writers(address, size, count)
    return found


def _timed_launch(
    binding: Binding, start_kernel: Callable[[], int], function: int, grid: Sequence[int], block: Sequence[int],
    lds: int, stream: int, kernarg: bytes, offsets: Sequence[int] = (),
) -> None:  # fmt: skip
    """A launch on a real GPU between two events, for `recording`."""
    for recorder in _recorders:
        saved = _save(recorder, function, grid, block, lds, kernarg, offsets)
        if saved is not None:
            recorder.saved[len(recorder.records)] = saved
    start, stop = int(_call(binding, "hipEventCreate")[0]), int(_call(binding, "hipEventCreate")[0])
    try:
        _call(binding, "hipEventRecord", start, stream)
        code = start_kernel()
        if code:
            _launch_failed(binding, code, grid, block, lds)
        _call(binding, "hipEventRecord", stop, stream)
        _call(binding, "hipEventSynchronize", stop)
        milliseconds = float(_call(binding, "hipEventElapsedTime", start, stop)[0])
        device = devices()[current()]
        begins = [_since_first(binding, recorder, device.index, start) for recorder in _recorders]
    except BaseException:
        for recorder in _recorders:
            recorder.saved.pop(len(recorder.records), None)
        raise
    finally:
        if all(start not in recorder.first.values() for recorder in _recorders):
            binding.call("hipEventDestroy", start)
        binding.call("hipEventDestroy", stop)
    threads = block[0] * block[1] * block[2]
    record = Launch(
        kernel=_title(function),
        arch=device.arch,
        device=device.index,
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        lds_bytes=lds,
        waves=-(-threads // device.wave_size) * grid[0] * grid[1] * grid[2],
        counters=Counters(),
        measured_us=milliseconds * 1000.0,
        time_is_modelled=False,
        host_us=milliseconds * 1000.0,
        constants={
            "CU_NUM": device.compute_units,
            "SIMD_NUM": device.compute_units * _simds_per_cu(device),
            "MAX_WAVE_SIZE": device.wave_size,
        },
    )
    for recorder, begin in zip(_recorders, begins, strict=True):
        recorder.records.measured(record, begin)
        recorder.records.append(record)


def _simds_per_cu(device: DeviceInfo) -> int:
    """Of an architecture that gpulab does not know: four with waves of 64 lanes (GCN, CDNA), else two (RDNA)."""
    from gpulab import architectures

    known = architectures.find(device.arch)
    if known is None:
        return 4 if device.wave_size == 64 else 2
    return known.simds_per_cu


def _since_first(binding: Binding, recorder: _Recording, device: int, start: int) -> float:
    """Microseconds from the start of a recording's first launch on a device to an event; 0 for the first."""
    first = recorder.first.setdefault(device, start)
    return 0.0 if first == start else float(_call(binding, "hipEventElapsedTime", first, start)[0]) * 1000.0


def set_instruction_limit(limit: int | None) -> None:
    """Wave instructions after which the virtual GPU stops a wave (None: the default, 0: no limit)."""
    _runtime().set_instruction_limit(limit)


# Streams and events


def stream_create(non_blocking: bool = False) -> int:
    """A new stream; a blocking one waits for the default stream and is waited for."""
    return int(_do("hipStreamCreateWithFlags", 1 if non_blocking else 0)[0])


def stream_destroy(stream: int) -> None:
    _do("hipStreamDestroy", stream)


def stream_synchronize(stream: int) -> None:
    """Wait for a stream (0: the default one); a fault of its kernels is raised here."""
    _do("hipStreamSynchronize", stream)


def stream_done(stream: int) -> bool:
    """Whether everything in the stream has finished."""
    return _done("hipStreamQuery", stream)


def stream_wait_event(stream: int, event: int) -> None:
    """Work put into the stream from now on waits for the event."""
    _do("hipStreamWaitEvent", stream, event, 0)


def event_create() -> int:
    return int(_do("hipEventCreate")[0])


def event_destroy(event: int) -> None:
    _do("hipEventDestroy", event)


def event_record(event: int, stream: int = 0) -> None:
    _do("hipEventRecord", event, stream)


def event_synchronize(event: int) -> None:
    _do("hipEventSynchronize", event)


def event_done(event: int) -> bool:
    """Whether the work before the event has finished."""
    return _done("hipEventQuery", event)


def event_elapsed_ms(start: int, stop: int) -> float:
    """Milliseconds between two recorded events (modelled device time on a virtual device)."""
    return float(_do("hipEventElapsedTime", start, stop)[0])


def _done(call: str, handle: int) -> bool:
    binding = _binding()
    code = binding.call(call, handle)[0]
    if code not in (0, _NOT_READY):
        _fail(binding, code, call)
    return code == 0


def synchronize() -> None:
    """Wait for the selected device; a fault of its kernels is raised here."""
    _do("hipDeviceSynchronize")


def raise_fault() -> None:
    """On virtual devices, where a launch has run when it returns: show what kernels printed, and raise their fault.

    The program does not wait: modelled time goes on as if this had not been called.
    """
    runtime = _runtime()
    device, streams = runtime.current, runtime.streams
    if device.fault is None and not device.printed:
        return
    host = streams.host
    try:
        synchronize()
    finally:
        streams.host = host
