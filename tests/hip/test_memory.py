"""Allocation, copies, filling and pointers through hip-python."""

import ctypes

import numpy as np
import pytest

from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.machine import computer
from gpulab.virtual_gpu.machine.arena import Arena
from tests.hip.conftest import ok


def kind(hip, name):
    return getattr(hip.hipMemcpyKind, f"hipMemcpy{name}")


@pytest.fixture
def allocate(hip):
    made = []

    def make(size):
        made.append(ok(hip.hipMalloc(size)))
        return made[-1]

    yield make
    for pointer in made:
        hip.hipFree(pointer)


def test_there_and_back(hip, allocate):
    given = np.arange(1000, dtype=np.int32)
    got = np.zeros_like(given)
    device = allocate(given.nbytes)
    ok(hip.hipMemcpy(device, given, given.nbytes, kind(hip, "HostToDevice")))
    other = allocate(given.nbytes)
    ok(hip.hipMemcpy(other, device, given.nbytes, kind(hip, "DeviceToDevice")))
    ok(hip.hipMemcpy(got, other, given.nbytes, kind(hip, "Default")))
    assert (got == given).all()


def test_zero_bytes_give_null(hip):
    assert ok(hip.hipMalloc(0)) is None


def test_freeing(hip):
    e = hip.hipError_t
    pointer = ok(hip.hipMalloc(64))
    address = int(pointer)
    assert hip.hipFree(address + 4)[0] == e.hipErrorInvalidValue  # not the start
    ok(hip.hipFree(pointer))
    assert hip.hipFree(address)[0] == e.hipErrorInvalidValue  # twice
    ok(hip.hipFree(None))
    host = ok(hip.hipHostMalloc(64, 0))
    assert hip.hipFree(int(host))[0] == e.hipErrorInvalidValue  # host memory has its own call
    ok(hip.hipHostFree(host))
    ok(hip.hipHostFree(None))


def test_more_than_there_is(hip):
    assert hip.hipMalloc(1 << 50)[0] == hip.hipError_t.hipErrorOutOfMemory
    assert hip.hipMalloc(32 << 30)[0] == hip.hipError_t.hipErrorOutOfMemory  # more than a process may have here


def test_memory_information_follows_allocations(hip):
    before, total = ok(hip.hipMemGetInfo())
    size = before // 2 & -4096  # more than any gap that earlier tests left
    pointer = ok(hip.hipMalloc(size))
    after, same = ok(hip.hipMemGetInfo())
    assert size <= before - after <= size + 8192  # with the gap behind it
    assert (total, same) == (206141652992, 206141652992)
    ok(hip.hipFree(pointer))
    assert ok(hip.hipMemGetInfo())[0] == before


@pytest.mark.parametrize("gigabytes", [0, 7, 16, 1000])
def test_what_is_free_can_be_had(hip, monkeypatch, gigabytes):
    """All devices share the computer's memory: three quarters of it, from 4 to 24 GiB, and much less than 192 GiB."""
    arena = runtime.instance().arena
    reach = {0: 4, 7: 5, 16: 12, 1000: 24}[gigabytes] << 30
    monkeypatch.setattr(computer, "memory", lambda: gigabytes << 30)
    monkeypatch.setattr(computer, "unused", lambda promised: None)
    # What was unused when a test before this one asked is not: other processes may have had much of it.
    monkeypatch.setattr(arena, "_asked", False)
    monkeypatch.setattr(arena, "_budget", None)
    assert Arena().reach == reach
    reach = min(reach, arena.reach)
    monkeypatch.setattr(arena, "reach", reach)
    free, total = ok(hip.hipMemGetInfo())
    assert reach - (1 << 30) < free < reach < total
    pointer = ok(hip.hipMalloc(free))
    less = ok(hip.hipMemGetInfo())[0]
    assert less < free
    assert hip.hipMalloc(less + 256)[0] == hip.hipError_t.hipErrorOutOfMemory
    ok(hip.hipFree(pointer))
    assert ok(hip.hipMemGetInfo())[0] == free


def test_copies_that_leave_their_allocation(hip, allocate):
    e = hip.hipError_t
    device, host = allocate(100), np.zeros(200, np.uint8)
    assert hip.hipMemcpy(device, host, 101, kind(hip, "HostToDevice"))[0] == e.hipErrorInvalidValue
    assert hip.hipMemcpy(int(device) + 60, host, 41, kind(hip, "HostToDevice"))[0] == e.hipErrorInvalidValue
    assert hip.hipMemset(device, 0, 101)[0] == e.hipErrorInvalidValue
    ok(hip.hipMemcpy(int(device) + 60, host, 40, kind(hip, "HostToDevice")))


def test_copies_in_a_direction_that_cannot_be(hip, allocate):
    e = hip.hipError_t
    device, host, other = allocate(64), np.zeros(64, np.uint8), np.ones(64, np.uint8)
    assert hip.hipMemcpy(host, device, 64, kind(hip, "HostToDevice"))[0] == e.hipErrorInvalidValue
    assert hip.hipMemcpy(device, host, 64, kind(hip, "DeviceToHost"))[0] == e.hipErrorInvalidValue
    assert hip.hipMemcpy(host, other, 64, kind(hip, "DeviceToDevice"))[0] == e.hipErrorInvalidValue
    assert hip.hipMemcpy(None, host, 64, kind(hip, "HostToDevice"))[0] == e.hipErrorInvalidValue
    ok(hip.hipMemcpy(host, other, 64, kind(hip, "HostToHost")))
    assert host.all()
    ok(hip.hipMemcpy(None, None, 0, kind(hip, "Default")))


def test_freed_memory_cannot_be_copied(hip):
    pointer = ok(hip.hipMalloc(64))
    address = int(pointer)
    ok(hip.hipFree(pointer))
    host = np.zeros(64, np.uint8)
    assert hip.hipMemcpy(host, address, 64, kind(hip, "DeviceToHost"))[0] == hip.hipError_t.hipErrorInvalidValue


def test_filling_more_than_is_copied_at_once(hip, allocate):
    count = (5 << 18) + 3
    device, got = allocate(4 * count + 8), np.zeros(count + 2, np.uint32)
    ok(hip.hipMemset(device, 0xFF, 4 * count + 8))
    ok(hip.hipMemsetD32(int(device) + 4, 0x01020304, count))
    ok(hip.hipMemcpy(got, device, got.nbytes, kind(hip, "DeviceToHost")))
    assert (got[1:-1] == 0x01020304).all()
    assert (got[0], got[-1]) == (0xFFFFFFFF, 0xFFFFFFFF)


@pytest.mark.parametrize(("call", "dtype"), [("hipMemsetD8", "u1"), ("hipMemsetD16", "u2"), ("hipMemsetD32", "u4")])
def test_filling_with_elements(hip, allocate, call, dtype):
    size = np.dtype(dtype).itemsize
    value = 0x0A0B0C0D & ((1 << 8 * size) - 1)
    device, got = allocate(16 * size), np.zeros(16, dtype)
    ok(hip.hipMemset(device, 0xFF, 16 * size))
    ok(getattr(hip, call)(device, value, 10))
    ok(hip.hipMemcpy(got, device, got.nbytes, kind(hip, "DeviceToHost")))
    assert (got[:10] == value).all()
    assert (got[10:] == (1 << 8 * size) - 1).all()


def test_pitched_memory(hip):
    pointer, pitch = ok(hip.hipMallocPitch(100, 5))
    assert (pitch, pitch % 256) == (256, 0)
    given = np.arange(500, dtype=np.uint8).reshape(5, 100)
    got = np.zeros_like(given)
    ok(hip.hipMemset2D(pointer, pitch, 9, 100, 5))
    ok(hip.hipMemcpy2D(pointer, pitch, given, 100, 100, 4, kind(hip, "HostToDevice")))
    ok(hip.hipMemcpy2D(got, 100, pointer, pitch, 100, 5, kind(hip, "DeviceToHost")))
    assert (got[:4] == given[:4]).all()
    assert (got[4] == 9).all()
    e = hip.hipError_t
    assert hip.hipMemcpy2D(pointer, 64, given, 100, 100, 4, kind(hip, "HostToDevice"))[0] == e.hipErrorInvalidPitchValue
    assert hip.hipMemcpy2D(pointer, pitch, given, 100, 100, 6, kind(hip, "HostToDevice"))[0] == e.hipErrorInvalidValue
    assert hip.hipMemset2D(pointer, pitch, 9, 100, 6)[0] == e.hipErrorInvalidValue
    assert hip.hipMemset2D(pointer, pitch, 9, pitch + 1, 5)[0] == e.hipErrorInvalidValue
    ok(hip.hipFree(pointer))


def cut(hip, rows, slices):
    """Extent of 12 bytes, so many rows and slices."""
    extent = hip.hipExtent()
    extent.width, extent.height, extent.depth = 12, rows, slices
    return extent


@pytest.mark.parametrize(("rows", "slices", "fits"), [(3, 2, True), (4, 2, False), (3, 3, False), (1, 3, False)])
def test_three_dimensional_memory_has_an_end(hip, rows, slices, fits):
    """Two slices of three rows of 256 bytes; the pointer's ysize says how many rows apart two slices are."""
    pitched = ok(hip.hipMalloc3D(cut(hip, 3, 2)))
    invalid, fine = hip.hipError_t.hipErrorInvalidValue, hip.hipError_t.hipSuccess
    assert hip.hipMemset3D(pitched, 7, cut(hip, rows, slices))[0] == (fine if fits else invalid)
    host = np.zeros((3, 4, 256), np.uint8)
    for to_device in (True, False):
        parameters = hip.hipMemcpy3DParms()
        ctypes.memset(int(parameters), 0, hip.hipMemcpy3DParms().c_sizeof())
        host_side, device_side = parameters.srcPtr, parameters.dstPtr
        if not to_device:
            host_side, device_side = device_side, host_side
        host_side.ptr, host_side.pitch, host_side.xsize, host_side.ysize = host.ctypes.data, 256, 12, 4
        device_side.ptr, device_side.pitch = int(pitched.ptr), pitched.pitch
        device_side.xsize, device_side.ysize = 12, 3
        parameters.extent.width, parameters.extent.height, parameters.extent.depth = 12, rows, slices
        parameters.kind = kind(hip, "HostToDevice" if to_device else "DeviceToHost")
        assert hip.hipMemcpy3D(parameters)[0] == (fine if fits else invalid)
    ok(hip.hipFree(int(pitched.ptr)))


def test_three_dimensional_memory(hip):
    extent = hip.hipExtent()
    extent.width, extent.height, extent.depth = 12, 3, 2
    pitched = ok(hip.hipMalloc3D(extent))
    assert (pitched.pitch, pitched.xsize, pitched.ysize) == (256, 12, 3)
    ok(hip.hipMemset3D(pitched, 7, extent))
    given = np.arange(72, dtype=np.uint8)
    got = np.zeros(72, np.uint8)
    ends = []
    for source_is_host in (True, False):
        parameters = hip.hipMemcpy3DParms()
        ctypes.memset(int(parameters), 0, hip.hipMemcpy3DParms().c_sizeof())
        host = given if source_is_host else got
        host_side = parameters.srcPtr if source_is_host else parameters.dstPtr
        device_side = parameters.dstPtr if source_is_host else parameters.srcPtr
        host_side.ptr, host_side.pitch, host_side.xsize, host_side.ysize = host.ctypes.data, 12, 12, 3
        device_side.ptr, device_side.pitch = int(pitched.ptr), pitched.pitch
        device_side.xsize, device_side.ysize = 12, 3
        parameters.extent.width, parameters.extent.height = 12, 3
        parameters.extent.depth = 1 if source_is_host else 2
        parameters.kind = kind(hip, "HostToDevice" if source_is_host else "DeviceToHost")
        ends.append(ok(hip.hipMemcpy3D(parameters)))
    assert (got[:36] == given[:36]).all()
    assert (got[36:] == 7).all()
    ok(hip.hipFree(int(pitched.ptr)))


def test_managed_memory_is_used_from_both_sides(hip, kernels):
    pointer = ok(hip.hipMallocManaged(4 * 64, hip.hipMemAttachGlobal))
    view = (ctypes.c_float * 64).from_address(int(pointer))
    ok(
        hip.hipModuleLaunchKernel(
            kernels("fill"), 1, 1, 1, 64, 1, 1, sharedMemBytes=0, stream=None, kernelParams=None, extra=(pointer,)
        )
    )
    ok(hip.hipDeviceSynchronize())
    assert list(view) == [3.0] * 64
    ok(hip.hipMemPrefetchAsync(pointer, 256, 0, None))
    ok(hip.hipMemAdvise(pointer, 256, hip.hipMemoryAdvise.hipMemAdviseSetReadMostly, 0))
    assert hip.hipMallocManaged(0, 1)[0] == hip.hipError_t.hipErrorInvalidValue
    ok(hip.hipFree(pointer))


def test_host_memory_is_seen_by_kernels(hip, kernels):
    pointer = ok(hip.hipHostMalloc(256, hip.hipHostMallocMapped))
    device = ok(hip.hipHostGetDevicePointer(pointer, 0))
    assert ok(hip.hipHostGetFlags(pointer)) == hip.hipHostMallocMapped
    ok(hip.hipModuleLaunchKernel(kernels("fill"), 1, 1, 1, 64, 1, 1, 0, None, None, (device,)))
    ok(hip.hipDeviceSynchronize())
    assert (ctypes.c_float * 64).from_address(int(pointer))[63] == 3.0
    ok(hip.hipHostFree(pointer))


def test_registered_host_memory(hip, kernels):
    e = hip.hipError_t
    array = np.zeros(64, np.float32)
    ok(hip.hipHostRegister(array, array.nbytes, hip.hipHostRegisterDefault))
    assert hip.hipHostRegister(array, array.nbytes, 0)[0] == e.hipErrorHostMemoryAlreadyRegistered
    device = ok(hip.hipHostGetDevicePointer(array, 0))
    ok(hip.hipModuleLaunchKernel(kernels("fill"), 1, 1, 1, 64, 1, 1, 0, None, None, (device,)))
    ok(hip.hipDeviceSynchronize())
    assert (array == 3.0).all()
    ok(hip.hipHostUnregister(array))
    assert hip.hipHostUnregister(array)[0] == e.hipErrorHostMemoryNotRegistered


def test_pointer_attributes(hip):
    device, host = ok(hip.hipMalloc(64)), ok(hip.hipHostMalloc(64, 0))
    managed = ok(hip.hipMallocManaged(64, 1))
    types = hip.hipMemoryType
    for pointer, wanted in (
        (device, types.hipMemoryTypeDevice),
        (host, types.hipMemoryTypeHost),
        (managed, types.hipMemoryTypeManaged),
    ):
        found = ok(hip.hipPointerGetAttributes(int(pointer) + 8))
        assert (found.type, found.device, int(found.devicePointer)) == (wanted, 0, int(pointer) + 8)
        assert found.isManaged == int(pointer is managed)
    base, size = ok(hip.hipMemGetAddressRange(int(device) + 8))
    assert (int(base), size) == (int(device), 64)
    stack = np.zeros(4)
    found = ok(hip.hipPointerGetAttributes(stack))
    assert (found.type, found.device, found.isManaged) == (types.hipMemoryTypeUnregistered, -2, 0)
    for pointer, call in ((device, hip.hipFree), (host, hip.hipHostFree), (managed, hip.hipFree)):
        ok(call(pointer))


def test_stream_ordered_allocation(hip):
    stream = ok(hip.hipStreamCreate())
    pool = ok(hip.hipDeviceGetDefaultMemPool(0))
    first, second = ok(hip.hipMallocAsync(256, stream)), ok(hip.hipMallocFromPoolAsync(256, pool, stream))
    ok(hip.hipMemsetAsync(first, 5, 256, stream))
    ok(hip.hipMemcpyAsync(second, first, 256, kind(hip, "DeviceToDevice"), stream))
    got = np.zeros(256, np.uint8)
    ok(hip.hipMemcpyAsync(got, second, 256, kind(hip, "DeviceToHost"), stream))
    ok(hip.hipStreamSynchronize(stream))
    assert (got == 5).all()
    ok(hip.hipFreeAsync(first, stream))
    ok(hip.hipFreeAsync(second, stream))
    ok(hip.hipStreamDestroy(stream))


def test_peer_copies(hip, allocate):
    here = allocate(16)
    ok(hip.hipSetDevice(1))
    there = ok(hip.hipMalloc(16))
    ok(hip.hipMemset(there, 3, 16))
    ok(hip.hipMemcpyPeer(here, 0, there, 1, 16))
    got = np.zeros(16, np.uint8)
    ok(hip.hipMemcpy(got, here, 16, kind(hip, "DeviceToHost")))
    assert (got == 3).all()
    ok(hip.hipFree(there))
