"""Which calls of HIP a provider makes, with which arguments, and what its answers become; the library is a table here.

Numbers of hipMemcpyKind, of errors and of launch parameters are those of hip_runtime_api.h.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from gpulab.errors import (
    DeviceMemoryError,
    GpulabError,
    HipError,
    InternalError,
    KernelFault,
    LaunchLimitError,
)
from gpulab.providers.hip.provider import HipProvider
from gpulab.providers.rocm.provider import RocmProvider
from gpulab.records import AllocationNote

TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3

PROPERTIES = {
    "name": "Toy", "gcnArchName": "gfx942:sramecc+:xnack-", "warpSize": 64, "multiProcessorCount": 5, "major": 9,
    "totalGlobalMem": 1 << 30, "maxThreadsPerBlock": 1024, "maxThreadsDim": [1024, 1023, 64],
    "maxGridSize": (2**31 - 1, 65535, 65534), "sharedMemPerBlock": 65536, "maxThreadsPerMultiProcessor": 2048,
}  # fmt: skip


class Table:
    """A binding that answers from a table and notes what it is asked."""

    kind, path = "table", "/table"

    def __init__(self, **answers: tuple[int, ...]) -> None:
        self.answers: dict[str, tuple[int, ...]] = {"hipGetDeviceCount": (0, 2), "hipGetDevice": (0, 1), **answers}
        self.asked: list[tuple[Any, ...]] = []
        self.places: list[int] = []  # of launches' arguments
        self.properties_given: dict[str, object] = dict(PROPERTIES)
        self.properties_code = 0

    def call(self, name: str, *arguments: int | bytes) -> tuple[int, ...]:
        self.asked.append((name, *arguments))
        if name == "hipModuleLaunchCooperativeKernel":
            place = ctypes.c_void_p.from_address(int(arguments[-1])).value or 0
            self.argument = ctypes.string_at(place, 4)
        return self.answers.get(name, (0,))

    def elapsed(self, start: int, stop: int) -> tuple[int, float]:
        self.asked.append(("elapsed", start, stop))
        return self.answers.get("elapsed", (0,))[0], 2.5

    def launch(self, function: int, grid: Any, block: Any, lds: int, stream: int, extra: int) -> int:
        self.asked.append(("launch", function, grid, block, lds, stream))
        self.places.append(extra)
        words = (ctypes.c_void_p * 5).from_address(extra)
        self.extra = words[0], words[2], words[4]
        self.size = ctypes.c_size_t.from_address(words[3] or 0).value
        self.argument = ctypes.string_at(words[1] or 0, self.size)
        return self.answers.get("launch", (0,))[0]

    def properties(self, index: int) -> tuple[int, dict[str, object]]:
        return self.properties_code, {**self.properties_given, "name": f"Toy {index}"}

    def error_text(self, code: int) -> tuple[str, str]:
        return f"hipError{code}", f"text of {code}"


class Gpu(HipProvider):
    name, virtual = "toy", False
    cause: BaseException | None = None
    missing, note = "", None

    def _cause(self, code: int) -> BaseException | None:
        return self.cause

    def _missing_call(self) -> str:
        return self.missing

    def _nearest(self, address: int) -> AllocationNote | None:
        return self.note


def gpu(**answers: tuple[int, ...]) -> Any:
    return Gpu(Table(**answers))  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("method", "arguments", "asked", "outputs", "found"),
    [
        ("malloc", (64,), ("hipMalloc", 64), (7,), 7),
        ("malloc_host", (64,), ("hipHostMalloc", 64, 0), (7,), 7),
        ("free", (7,), ("hipFree", 7), (), None),
        ("free_host", (7,), ("hipHostFree", 7), (), None),
        ("memset", (7, 1, 64), ("hipMemset", 7, 1, 64), (), None),
        ("memset", (7, 1, 64, 3), ("hipMemsetAsync", 7, 1, 64, 3), (), None),
        ("copy_to_device", (7, 8, 64), ("hipMemcpy", 7, 8, 64, TO_DEVICE), (), None),
        ("copy_to_device", (7, 8, 64, 3), ("hipMemcpyAsync", 7, 8, 64, TO_DEVICE, 3), (), None),
        ("copy_to_host", (8, 7, 64), ("hipMemcpy", 8, 7, 64, TO_HOST), (), None),
        ("copy_to_host", (8, 7, 64, 3), ("hipMemcpyAsync", 8, 7, 64, TO_HOST, 3), (), None),
        ("copy_device", (7, 9, 64), ("hipMemcpy", 7, 9, 64, ON_DEVICE), (), None),
        ("copy_device", (7, 9, 64, 3), ("hipMemcpyAsync", 7, 9, 64, ON_DEVICE, 3), (), None),
        ("memory_info", (), ("hipMemGetInfo",), (5, 6), (5, 6)),
        ("unload", (7,), ("hipModuleUnload", 7), (), None),
        ("function", (7, "k"), ("hipModuleGetFunction", 7, b"k"), (9,), 9),
        ("variable", (7, "v"), ("hipModuleGetGlobal", 7, b"v"), (9, 4), (9, 4)),
        ("stream_create", (), ("hipStreamCreateWithFlags", 0), (3,), 3),
        ("stream_destroy", (3,), ("hipStreamDestroy", 3), (), None),
        ("stream_synchronize", (3,), ("hipStreamSynchronize", 3), (), None),
        ("stream_wait_event", (3, 4), ("hipStreamWaitEvent", 3, 4, 0), (), None),
        ("event_create", (), ("hipEventCreate",), (4,), 4),
        ("event_destroy", (4,), ("hipEventDestroy", 4), (), None),
        ("event_record", (4,), ("hipEventRecord", 4, 0), (), None),
        ("event_record", (4, 3), ("hipEventRecord", 4, 3), (), None),
        ("event_synchronize", (4,), ("hipEventSynchronize", 4), (), None),
        ("current", (), ("hipGetDevice",), (1,), 1),
        ("select", (1,), ("hipSetDevice", 1), (), None),
        ("synchronize", (), ("hipDeviceSynchronize",), (), None),
        ("version", (), ("hipRuntimeGetVersion",), (71526333,), "HIP 7.15.26333"),
    ],
)
def test_calls(method: str, arguments: Any, asked: Any, outputs: tuple[int, ...], found: Any) -> None:
    device = gpu(**{asked[0]: (0, *outputs)})
    assert getattr(device, method)(*arguments) == found
    assert device.binding.asked == [asked]
    if method != "free":  # it has a sentence of its own for the commonest error
        failing = gpu(**{asked[0]: (1, *outputs)})
        with pytest.raises(HipError, match=f"{asked[0]} failed: text of 1 \\(hipError1, code 1\\)"):
            getattr(failing, method)(*arguments)
        assert failing.binding.asked == [asked, ("hipGetLastError",)]  # what is told here is not told again


def test_nothing_is_copied_where_there_are_no_bytes() -> None:
    device = gpu()
    device.copy_to_device(7, 8, 0)
    device.copy_to_host(8, 7, 0, 3)
    assert device.binding.asked == []


def test_code_is_given_by_its_address() -> None:
    device = gpu(hipModuleLoadData=(0, 9))
    code = b"code object"
    assert device.load(code) == 9
    ((_, address),) = device.binding.asked
    assert ctypes.string_at(address, len(code)) == code


def test_elapsed_time() -> None:
    device = gpu()
    assert device.event_elapsed_ms(4, 5) == 2.5
    assert device.binding.asked == [("elapsed", 4, 5)]
    with pytest.raises(HipError, match="hipEventElapsedTime failed"):
        gpu(elapsed=(600,)).event_elapsed_ms(4, 5)


@pytest.mark.parametrize(("major", "units"), [(9, 5), (10, 10), (11, 10)])
def test_what_a_device_is(major: int, units: int) -> None:
    """A multiprocessor of RDNA is a work-group processor of two compute units."""
    device = gpu()
    device.binding.properties_given["major"] = major
    first, second = device.devices()
    assert device.devices() is device.devices()  # asked once
    assert (first.index, second.index, first.name, second.name) == (0, 1, "Toy 0", "Toy 1")
    assert (first.arch, first.wave_size, first.compute_units, first.memory_bytes) == ("gfx942", 64, units, 1 << 30)
    assert (first.virtual, first.provider) == (False, "toy")
    limits = first.limits
    assert (limits.block_threads, limits.lds_bytes, limits.unit_threads) == (1024, 65536, 2048)
    assert (limits.block, limits.grid) == ((1024, 1023, 64), (2**31 - 1, 65535, 65534))
    failing = gpu()
    failing.binding.properties_code = 101
    with pytest.raises(HipError, match="hipGetDeviceProperties failed: text of 101"):
        failing.devices()


def test_free_of_what_was_not_allocated() -> None:
    device = gpu(hipFree=(1,))
    with pytest.raises(DeviceMemoryError) as raised:
        device.free(0x1000)
    assert raised.value.what == "free: 0x1000 is not the start of a device allocation."
    assert "never allocated, or was freed before" in raised.value.why
    assert device.binding.asked[1:] == [("hipGetLastError",)]
    device.note = AllocationNote(0, 64, "after", 4)
    with pytest.raises(DeviceMemoryError, match="the address is 4 bytes past the end of an allocation of 64 bytes"):
        device.free(0x1000)
    device.note = AllocationNote(0, 64, "after", 1 << 40)
    with pytest.raises(DeviceMemoryError, match="never allocated"):
        device.free(0x1000)
    with pytest.raises(KernelFault):
        gpu(hipFree=(700,)).free(0x1000)


GRID, BLOCK = (3, 2, 1), (64, 4, 1)


def test_a_launch_gives_its_arguments_as_one_buffer() -> None:
    device = gpu()
    device.launch(9, GRID, BLOCK, 128, 3, b"12345678")
    binding = device.binding
    assert binding.asked == [("launch", 9, GRID, BLOCK, 128, 3)]
    # HIP_LAUNCH_PARAM_BUFFER_POINTER, ..._BUFFER_SIZE, ..._END
    assert (binding.extra, binding.size, binding.argument) == ((1, 2, 3), 8, b"12345678")
    device.launch(9, GRID, BLOCK, 0, 0, b"")
    assert binding.size == 0
    for size in (4096, 4097, 100_000, 3):
        kernarg = bytes(i % 251 for i in range(size))
        device.launch(9, GRID, BLOCK, 0, 0, kernarg)
        assert binding.argument == kernarg


def test_memory_for_arguments_is_used_again() -> None:
    """Up to 4,096 bytes, which is as much as HIP takes; more have memory of their own, which goes with the launch."""
    device = gpu()
    for size in (8, 4096, 8, 4097, 0, 4096):
        device.launch(9, GRID, BLOCK, 0, 0, bytes(size))
        assert len(device._packed) == 1
    first, full, small, large, nothing, again = device.binding.places
    assert first == full == small == nothing == again != large


def test_launches_within_a_launch_have_arguments_of_their_own() -> None:
    """As those of several threads have, or of a signal's handler."""
    device = gpu()
    seen: list[bytes] = []

    class Nested(type(device.binding)):  # type: ignore[misc]
        def launch(self, function: int, grid: Any, block: Any, lds: int, stream: int, extra: int) -> int:
            if function:
                device.launch(function - 1, grid, block, lds, stream, b"within" + bytes([function]))
            code: int = super().launch(function, grid, block, lds, stream, extra)
            seen.append(self.argument)
            return code

    device.binding = Nested()
    device.launch(2, GRID, BLOCK, 0, 0, b"outer")
    assert seen == [b"within\x01", b"within\x02", b"outer"]


def test_a_cooperative_launch_gives_an_address_for_each_argument() -> None:
    device = gpu()
    kernarg = struct.pack("<II", 5, 6)
    for offset, value in ((0, 5), (4, 6)):
        device.launch_cooperative(9, GRID, BLOCK, 128, 3, kernarg, [offset])
        assert struct.unpack("<I", device.binding.argument) == (value,)
    name, *words = device.binding.asked[0]
    assert (name, words[:-1]) == ("hipModuleLaunchCooperativeKernel", [9, 3, 2, 1, 64, 4, 1, 128, 3])


@pytest.mark.parametrize("code", [1, 9, 701, 719])
@pytest.mark.parametrize("cooperative", [False, True])
def test_launches_that_are_refused(code: int, cooperative: bool) -> None:
    device = gpu(launch=(code,), hipModuleLaunchCooperativeKernel=(code, 0))

    def refused() -> LaunchLimitError:
        with pytest.raises(LaunchLimitError) as raised:
            if cooperative:
                device.launch_cooperative(9, GRID, BLOCK, 2048, 0, b"1234", [0])
            else:
                device.launch(9, GRID, BLOCK, 2048, 0, b"1234")
        return raised.value

    error = refused()
    assert error.what == (
        "The launch was refused: grid (3, 2, 1), block (64, 4, 1) (256 threads), 2,048 bytes of dynamic shared memory."
    )
    assert error.why == (
        "Toy 1 allows at most 1,024 threads and 65,536 bytes of shared memory per block, at least 1 in each direction, "
        "and a grid of at most (2,147,483,647, 65,535, 65,534) blocks."
    )
    assert ("hipGetLastError",) in device.binding.asked
    device.cause = ValueError("the block is too large")
    assert refused().why.startswith("the block is too large")


def test_a_grid_that_is_too_large_for_a_cooperative_launch() -> None:
    device = gpu(hipModuleLaunchCooperativeKernel=(720,))
    with pytest.raises(LaunchLimitError, match=r"a grid of \(3, 2, 1\) blocks of \(64, 4, 1\) threads") as raised:
        device.launch_cooperative(9, GRID, BLOCK, 0, 0, b"1234", [0])
    assert "have to run at the same time" in raised.value.why
    assert device.binding.asked[-1] == ("hipGetLastError",)
    device.cause = ValueError("of 6 blocks 4 fit")
    with pytest.raises(LaunchLimitError, match="of 6 blocks 4 fit"):
        device.launch_cooperative(9, GRID, BLOCK, 0, 0, b"1234", [0])


def test_other_failures_of_a_launch() -> None:
    with pytest.raises(HipError, match=r"hipModuleLaunchKernel failed: text of 98 \(hipError98, code 98\)"):
        gpu(launch=(98,)).launch(9, GRID, BLOCK, 0, 0, b"")


@pytest.mark.parametrize("code", [700, 702, 710, 719])
def test_codes_of_faults(code: int) -> None:
    with pytest.raises(KernelFault) as raised:
        gpu().fail(code, "hipDeviceSynchronize")
    assert raised.value.what == f"A kernel was stopped: text of {code} (hipError{code})."
    assert "virtual:gfx942" in raised.value.hint


def test_causes() -> None:
    """What the library knows beside the code is told, in the place where it helps."""

    def failed(code: int, cause: BaseException | None, missing: str = "") -> GpulabError:
        device = gpu()
        device.cause, device.missing = cause, missing
        with pytest.raises(GpulabError) as raised:
            device.fail(code, "hipMalloc")
        if cause is not raised.value:
            assert raised.value.__cause__ is cause
        return raised.value

    taught = DeviceMemoryError("taught")
    assert failed(2, taught) is taught
    assert isinstance(failed(2, None), DeviceMemoryError)
    assert failed(2, None).why == "the device has no free block of this size."
    assert failed(2, MemoryError("4 of 8 bytes are free")).why == "4 of 8 bytes are free."
    assert failed(801, None).what == "hipMalloc is not supported (hipError801)."
    assert failed(801, None).why == ""
    assert failed(801, None, "hipFoo").what == "hipFoo is not supported (hipError801)."
    assert "not all of HIP" in failed(801, None, "hipFoo").why
    assert failed(801, ValueError("no peers"), "hipFoo").what == "hipMalloc is not supported (hipError801)."
    assert failed(801, ValueError("no peers"), "hipFoo").why == "no peers."
    assert isinstance(failed(999, KeyError("x")), InternalError)
    assert not isinstance(failed(999, None), InternalError)
    plain = failed(400, None)
    assert isinstance(plain, HipError)
    assert (plain.name, plain.code, plain.why, plain.hint) == ("hipError400", 400, "", "")
    assert failed(400, ValueError("not a stream.")).why == "not a stream."
    around = ValueError("refused")
    around.__cause__ = HipError("The stream is gone.", why="it was destroyed.", hint="keep it.")
    assert failed(400, around).why == "The stream is gone. it was destroyed."
    assert failed(400, around).hint == "keep it."
    assert not isinstance(failed(400, InternalError("broken")), InternalError)


def test_a_library_that_says_no_more_than_codes() -> None:
    plain: Any = HipProvider(Table(hipMalloc=(801, 0), hipMemGetInfo=(400, 0, 0), hipFree=(1,)))
    with pytest.raises(HipError) as refused:
        plain.malloc(64)
    assert (refused.value.what, refused.value.why) == ("hipMalloc is not supported (hipError801).", "")
    with pytest.raises(HipError) as refused:
        plain.memory_info()
    assert (refused.value.why, refused.value.__cause__) == ("", None)
    with pytest.raises(DeviceMemoryError, match="it was never allocated, or was freed before"):
        plain.free(0x1000)


# ---- what ROCm's provider adds


def rocm(**answers: tuple[int, ...]) -> Any:
    return RocmProvider(Table(**answers))


def test_what_a_saved_launch_may_reach_is_remembered() -> None:
    device = rocm(hipMalloc=(0, 0x1000), hipHostMalloc=(0, 0x2000), hipModuleLoadData=(0, 5),
                  hipModuleGetFunction=(0, 9))  # fmt: skip
    assert (device.malloc(64), device.malloc_host(32)) == (0x1000, 0x2000)
    assert device.allocations == {0x1000: 64, 0x2000: 32}
    device.free(0x1000)
    device.free_host(0x2000)
    device.free(0x3000)  # of other code
    assert device.allocations == {}
    assert device.load(b"code") == 5
    assert device.function(5, "k") == 9
    assert (device.images, device.kernels) == ({5: b"code"}, {9: (5, "k")})
    device.unload(5)
    device.unload(6)
    assert device.images == {}
    asked = [each[0] for each in device.binding.asked]
    assert asked.count("hipFree") == asked.count("hipModuleUnload") == 2
    assert asked.count("hipHostFree") == 1
    nothing = rocm(hipMalloc=(0, 0))
    assert nothing.malloc(0) == 0
    assert nothing.allocations == {}


@pytest.mark.parametrize("code", [700, 702, 710, 719])
def test_a_fault_that_free_returns_is_told_by_the_next_call_that_waits(code: int) -> None:
    device = rocm(hipFree=(code,))
    device.free(0x1000)
    assert device.binding.asked == [("hipFree", 0x1000), ("hipGetLastError",)]
    with pytest.raises(KernelFault, match=rf"A kernel was stopped: text of {code} \(hipError{code}\)\."):
        device.synchronize()
    device.binding.asked.clear()
    device.synchronize()  # once
    assert device.binding.asked == [("hipDeviceSynchronize",)]
    with pytest.raises(DeviceMemoryError, match="0x1000 is not the start of a device allocation"):
        rocm(hipFree=(1,)).free(0x1000)


class Noted(list[Any]):
    """Stands for the recordings: it has launches begun, and notes what it is given."""

    def launch(self, begin: Any, *given: Any) -> None:
        self.append(given)
        begin()


def test_launches_that_are_recorded_are_begun_by_the_recordings() -> None:
    """The same calls of HIP, with the arguments of both kinds of launch; refusals are told as ever."""
    device = rocm(hipModuleLaunchCooperativeKernel=(0,))
    device._recordings = noted = Noted()
    for _ in range(2):  # not recorded at first
        device.launch(9, GRID, BLOCK, 128, 3, b"1234")
        device.launch_cooperative(9, GRID, BLOCK, 64, 3, struct.pack("<I", 5), [0])
        if not noted:
            noted.append("recorded from here on")
    assert noted[1:] == [(9, GRID, BLOCK, 128, 3, b"1234", ()), (9, GRID, BLOCK, 64, 3, struct.pack("<I", 5), [0])]
    plain, cooperative, *again = device.binding.asked
    assert plain == again[0] == ("launch", 9, GRID, BLOCK, 128, 3)
    assert cooperative[:-1] == again[1][:-1] == ("hipModuleLaunchCooperativeKernel", 9, *GRID, *BLOCK, 64, 3)
    refused = rocm(launch=(9,), hipModuleLaunchCooperativeKernel=(720,))
    refused._recordings = Noted([()])
    with pytest.raises(LaunchLimitError, match="The launch was refused"):
        refused.launch(9, GRID, BLOCK, 128, 3, b"1234")
    with pytest.raises(LaunchLimitError, match="The cooperative launch was refused"):
        refused.launch_cooperative(9, GRID, BLOCK, 64, 3, b"1234", [0])
