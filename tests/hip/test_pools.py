"""Memory pools: made ones, their limits and access; HIP reference, "Stream Ordered Memory Allocator"."""

import ctypes
import os
from ctypes import byref

from gpulab.virtual_gpu.runtime import graph_structures, structures

u64 = ctypes.c_uint64
PAGE = 2 << 20


def made(call, device=0, limit=0, **more):
    properties = graph_structures.PoolProperties(allocType=1, maxSize=limit, **more)
    properties.location.type, properties.location.id = 1, device
    place = u64()
    code = call.hipMemPoolCreate(byref(place), byref(properties))
    return place.value if code == 0 else -code


def used(call, pool):
    cell = u64()
    assert call.hipMemPoolGetAttribute(pool, 7, byref(cell)) == 0
    return cell.value


def test_a_pool_becomes_current_and_goes(call):
    pool, other = made(call), made(call, device=1)
    default = call.address("hipDeviceGetDefaultMemPool", 0)
    assert call.hipDeviceSetMemPool(0, other) == 1
    assert call.hipDeviceSetMemPool(0, pool) == 0
    assert call.address("hipDeviceGetMemPool", 0) == pool
    address = call.address("hipMallocAsync", 5000, None)
    assert (used(call, pool), used(call, default)) == (5000, 0)
    assert call.hipMemset(address, 7, 5000) == 0
    assert call.hipMemPoolDestroy(pool) == 0
    assert call.address("hipDeviceGetMemPool", 0) == default
    assert call.hipMemPoolDestroy(pool) == 1
    assert call.hipMallocFromPoolAsync(byref(u64()), 8, pool, None) == 1
    assert call.hipMemPoolDestroy(default) == 1
    got = ctypes.create_string_buffer(5000)
    assert call.hipMemcpy(got, address, 5000, 2) == 0  # what was taken from it stays
    assert got.raw == b"\7" * 5000
    assert call.hipFreeAsync(address, None) == 0
    assert call.hipFreeAsync(address, None) == 1
    assert call.hipMemPoolDestroy(other) == 0


def test_memory_of_a_pool_is_freed_without_waiting(call):
    """HIP's change log, 7.0: hipFree does not wait for allocations of hipMallocAsync and hipMallocFromPoolAsync."""
    busy, other = (call.address("hipStreamCreateWithFlags", 1) for _ in range(2))
    before, after = call.address("hipEventCreate"), call.address("hipEventCreate")
    large = call.address("hipMalloc", 64 << 20)

    def waited_ms(freed):
        assert call.hipDeviceSynchronize() == 0
        assert call.hipEventRecord(before, other) == 0
        assert call.hipMemsetAsync(large, 0, 64 << 20, busy) == 0
        assert call.hipFree(freed) == 0
        assert call.hipEventRecord(after, other) == 0
        assert call.hipEventSynchronize(after) == 0
        ms = ctypes.c_float()
        assert call.hipEventElapsedTime(byref(ms), before, after) == 0
        return ms.value

    waits = waited_ms(call.address("hipMalloc", 5000))
    assert waits > 0.01  # 64 MiB take as long at several TB/s
    assert waited_ms(call.address("hipMallocAsync", 5000, None)) < waits / 10
    assert call.hipFree(large) == 0


def test_a_limit(call):
    pool = made(call, limit=PAGE)
    first = call.address("hipMallocFromPoolAsync", PAGE - 100, pool, None)
    assert call.hipMallocFromPoolAsync(byref(u64()), 101, pool, None) == 2
    second = call.address("hipMallocFromPoolAsync", 100, pool, None)
    for address in (first, second):
        assert call.hipFreeAsync(address, None) == 0
    assert call.hipMemPoolDestroy(pool) == 0


def test_access_of_other_devices(call):
    pool, flags = made(call), ctypes.c_int(9)
    description = structures.AccessDescription(flags=1)
    description.location.type, description.location.id = 1, 1
    seen = structures.MemoryLocation(1, 1)

    def access():
        assert call.hipMemPoolGetAccess(byref(flags), pool, byref(seen)) == 0
        return flags.value

    assert access() == 0
    assert call.hipMemPoolSetAccess(pool, byref(description), 1) == 0
    assert access() == 1
    description.flags = 2
    assert call.hipMemPoolSetAccess(pool, byref(description), 1) == 1
    description.flags, description.location.id = 0, 0
    assert call.hipMemPoolSetAccess(pool, byref(description), 1) == 1  # its own device
    seen.id = 0
    assert access() == 3
    seen.id = 2
    assert call.hipMemPoolGetAccess(byref(flags), pool, byref(seen)) == 101
    assert call.hipMemPoolDestroy(pool) == 0


def test_what_is_no_pool(call):
    assert made(call, device=2) == -101
    assert made(call, handleTypes=2) == -801  # Windows'
    properties = graph_structures.PoolProperties(allocType=2)
    assert call.hipMemPoolCreate(byref(u64()), byref(properties)) == 1


def test_pools_by_place(call):
    where, place = structures.MemoryLocation(1, 1), u64()
    default = call.address("hipDeviceGetDefaultMemPool", 1)
    assert call.hipMemGetDefaultMemPool(byref(place), byref(where), 1) == 0
    assert place.value == default
    pool = made(call, device=1)
    assert call.hipMemSetMemPool(byref(where), 1, pool) == 0
    assert call.hipMemGetMemPool(byref(place), byref(where), 1) == 0
    assert place.value == pool
    assert call.hipMemPoolDestroy(pool) == 0
    assert call.hipMemGetMemPool(byref(place), byref(where), 2) == 1


class PointerData(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_ubyte * 64),)


def test_a_pool_and_its_memory_by_descriptor(call):
    """HIP reference, hipMemPoolExportToShareableHandle and so on; what is refused: hip-tests, catch/unit."""
    pool, plain, number = made(call, handleTypes=1), made(call), ctypes.c_int()
    assert call.hipMemPoolExportToShareableHandle(None, pool, 1, 0) == 1
    for arguments in ((None, 1, 0), (pool, 0, 0), (pool, 2, 0), (pool, 1, 1), (plain, 1, 0)):
        assert call.hipMemPoolExportToShareableHandle(byref(number), *arguments) == 1
    assert call.hipMemPoolExportToShareableHandle(byref(number), pool, 1, 0) == 0
    imported = u64()
    assert call.hipMemPoolImportFromShareableHandle(None, number.value, 1, 0) == 1
    for arguments in ((None, 1, 0), (number.value, 0, 0), (number.value, 1, 1), (2, 1, 0), (60000, 1, 0)):
        assert call.hipMemPoolImportFromShareableHandle(byref(imported), *arguments) == 1
    assert call.hipMemPoolImportFromShareableHandle(byref(imported), number.value, 1, 0) == 0
    os.close(number.value)
    assert call.hipMallocFromPoolAsync(byref(u64()), 64, imported.value, None) == 1  # it makes no memory
    assert call.hipMemPoolExportToShareableHandle(byref(number), imported.value, 1, 0) == 1

    data, seen = PointerData(), u64()
    address = call.address("hipMallocFromPoolAsync", 9000, pool, None)
    other = call.address("hipMallocFromPoolAsync", 64, plain, None)
    assert call.hipMemset(address, 3, 9000) == 0
    for arguments in ((None, address), (byref(data), None), (byref(data), other), (byref(data), address + 8)):
        assert call.hipMemPoolExportPointer(*arguments) == 1
    assert call.hipMemPoolExportPointer(byref(data), address) == 0
    assert call.hipMemPoolImportPointer(byref(seen), pool, byref(data)) == 1
    assert call.hipMemPoolImportPointer(byref(seen), imported.value, byref(PointerData())) == 1
    assert call.hipMemPoolImportPointer(byref(seen), imported.value, byref(data)) == 0
    assert seen.value != address
    got = ctypes.create_string_buffer(9000)
    assert call.hipMemset(address + 100, 4, 8000) == 0
    assert call.hipMemcpy(got, seen.value, 9000, 2) == 0
    assert got.raw == b"\3" * 100 + b"\4" * 8000 + b"\3" * 900
    assert (used(call, pool), used(call, imported.value)) == (9000, 9000)
    assert call.hipMemPoolExportPointer(byref(data), seen.value) == 1  # nobody exports what is imported
    assert call.hipFree(seen.value) == 0
    assert used(call, imported.value) == 0
    assert call.hipMemset(address, 3, 9000) == 0
    assert call.hipMemPoolExportPointer(byref(data), address) == 0
    assert call.hipFreeAsync(address, None) == 0
    assert (
        call.hipMemPoolImportPointer(byref(seen), imported.value, byref(data)) == 205
    )  # it is gone: hipErrorMapFailed
    assert call.hipFreeAsync(other, None) == 0
    for one in (pool, plain, imported.value):
        assert call.hipMemPoolDestroy(one) == 0
