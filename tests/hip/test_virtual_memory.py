"""Virtual memory management: addresses, memory, mappings, access (HIP reference); 1 is hipErrorInvalidValue."""

import ctypes
import os
from ctypes import byref

import pytest

from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import structures

u64 = ctypes.c_uint64
PAGE = 4096


def owner(device=0, sharing=0):
    properties = structures.AllocationProperties(type=1, requestedHandleTypes=sharing)
    properties.location.type, properties.location.id = 1, device
    return properties


def access(call, address, size, flags=3, device=0):
    given = structures.AccessDescription(flags=flags)
    given.location.type, given.location.id = 1, device
    return call.hipMemSetAccess(address, size, byref(given), 1)


def created(call, size, **given):
    place = u64()
    assert call.hipMemCreate(byref(place), size, byref(owner(**given)), 0) == 0
    return place.value


@pytest.fixture
def reserved(call):
    address = call.address("hipMemAddressReserve", 4 * PAGE, 0, None, 0)
    yield address
    for part in list(runtime.instance().mappings._ranges[address].parts):
        assert call.hipMemUnmap(part.address, part.size) == 0
    assert call.hipMemAddressFree(address, 4 * PAGE) == 0


def read(call, address, size):
    got = ctypes.create_string_buffer(size)
    code = call.hipMemcpy(got, address, size, 2)
    return got.raw if code == 0 else code


def test_granularity(call):
    size = u64()
    for option, bytes_ in ((0, PAGE), (1, 2 << 20)):
        assert call.hipMemGetAllocationGranularity(byref(size), byref(owner()), option) == 0
        assert size.value == bytes_
    assert call.hipMemGetAllocationGranularity(byref(size), byref(owner()), 2) == 1
    assert call.hipMemGetAllocationGranularity(byref(size), byref(owner(device=2)), 0) == 101
    assert call.hipMemCreate(byref(size), PAGE + 8, byref(owner()), 0) == 1
    assert call.hipMemCreate(byref(size), PAGE, byref(structures.AllocationProperties()), 0) == 1


def test_from_addresses_to_memory_and_back(call, reserved):
    assert reserved % PAGE == 0
    assert read(call, reserved, 4) == 1  # nothing is there
    memory = created(call, 2 * PAGE)
    assert call.hipMemMap(reserved + PAGE, 2 * PAGE, 0, memory, 0) == 0
    assert read(call, reserved + PAGE, 4) == 1  # nobody may look
    assert access(call, reserved + PAGE, 2 * PAGE) == 0
    assert call.hipMemset(reserved + PAGE, 5, 2 * PAGE) == 0
    assert read(call, reserved + PAGE, 2 * PAGE) == b"\5" * 2 * PAGE
    assert read(call, reserved + PAGE, 2 * PAGE + 1) == 1
    assert read(call, reserved, 4) == 1
    assert call.hipMemRelease(memory) == 0  # it stays as long as it is mapped
    assert call.hipMemRelease(memory) == 1
    assert read(call, reserved + PAGE, 4) == b"\5" * 4
    assert call.hipMemUnmap(reserved + PAGE, PAGE) == 1  # half of a mapping
    assert call.hipMemUnmap(reserved + PAGE, 2 * PAGE) == 0
    assert read(call, reserved + PAGE, 4) == 1
    assert call.hipMemMap(reserved, PAGE, 0, memory, 0) == 1


def test_memory_is_used_and_given_back(call, reserved):
    before = runtime.instance().current.used_bytes
    memory = created(call, PAGE)
    assert runtime.instance().current.used_bytes == before + PAGE
    assert call.hipMemMap(reserved, PAGE, 0, memory, 0) == 0
    assert call.hipMemRelease(memory) == 0
    assert call.hipMemUnmap(reserved, PAGE) == 0
    assert runtime.instance().current.used_bytes == before


def test_copies_over_several_mappings(call, reserved):
    first, second = created(call, PAGE), created(call, 3 * PAGE)
    assert call.hipMemMap(reserved, PAGE, 0, first, 0) == 0
    assert call.hipMemMap(reserved + PAGE, 2 * PAGE, PAGE, second, 0) == 0
    assert access(call, reserved, 3 * PAGE) == 0
    data = bytes(i * 7 % 251 for i in range(3 * PAGE - 20))
    assert call.hipMemcpy(reserved + 10, data, len(data), 1) == 0
    assert read(call, reserved + 10, len(data)) == data
    assert call.hipMemcpy2D(reserved, 64, reserved + PAGE - 32, 64, 64, 2, 3) == 0  # rows across the border
    assert read(call, reserved, 128) == data[PAGE - 42 : PAGE + 86]
    assert call.hipMemsetD32(reserved + PAGE - 8, 0x01020304, 4) == 0
    assert (
        read(call, reserved + PAGE - 12, 24)
        == data[PAGE - 22 : PAGE - 18] + b"\4\3\2\1" * 4 + data[PAGE - 2 : PAGE + 2]
    )
    assert call.hipMemset(reserved, 9, 3 * PAGE) == 0
    assert read(call, reserved, 3 * PAGE) == b"\x09" * 3 * PAGE
    for memory in (first, second):
        assert call.hipMemRelease(memory) == 0


def test_one_memory_at_two_addresses(call, reserved):
    memory = created(call, 2 * PAGE)
    assert call.hipMemMap(reserved, 2 * PAGE, 0, memory, 0) == 0
    assert call.hipMemMap(reserved + 2 * PAGE, PAGE, PAGE, memory, 0) == 0
    assert access(call, reserved, 3 * PAGE) == 0
    assert call.hipMemcpy(reserved + 2 * PAGE + 8, b"both", 4, 1) == 0
    assert read(call, reserved + PAGE + 8, 4) == b"both"
    assert call.hipMemRelease(memory) == 0


def test_handles(call, reserved):
    memory, place, properties = created(call, PAGE, sharing=1), u64(), structures.AllocationProperties()
    assert call.hipMemGetAllocationPropertiesFromHandle(byref(properties), memory) == 0
    seen = properties.type, properties.requestedHandleTypes, properties.location.type, properties.location.id
    assert seen == (1, 1, 1, 0)
    assert call.hipMemRetainAllocationHandle(byref(place), reserved) == 1
    assert call.hipMemMap(reserved, PAGE, 0, memory, 0) == 0
    assert call.hipMemRetainAllocationHandle(byref(place), reserved + 9) == 0
    assert place.value == memory
    descriptor = ctypes.c_int()
    assert call.hipMemExportToShareableHandle(byref(descriptor), memory, 1, 0) == 0
    assert call.hipMemImportFromShareableHandle(byref(place), byref(descriptor), 1) == 0
    assert place.value == memory
    assert call.hipMemImportFromShareableHandle(byref(place), ctypes.c_void_p(descriptor.value), 1) == 0
    for _ in range(4):
        assert call.hipMemRelease(memory) == 0
    assert call.hipMemRelease(memory) == 1
    private = created(call, PAGE)
    assert call.hipMemExportToShareableHandle(byref(descriptor), private, 1, 0) == 1
    assert call.hipMemRelease(private) == 0
    with open("/dev/null", "rb") as file:
        assert call.hipMemImportFromShareableHandle(byref(place), ctypes.c_void_p(file.fileno()), 1) == 1


def test_what_is_mapped_stays_when_it_gets_a_descriptor(call, reserved):
    memory, descriptor = created(call, 2 * PAGE, sharing=1), ctypes.c_int()
    assert call.hipMemMap(reserved, PAGE, PAGE, memory, 0) == 0
    assert access(call, reserved, PAGE) == 0
    assert call.hipMemcpy(reserved + 8, b"before", 6, 1) == 0
    assert call.hipMemExportToShareableHandle(byref(descriptor), memory, 1, 0) == 0
    assert read(call, reserved + 8, 6) == b"before"
    assert os.pread(descriptor.value, 6, PAGE + 8) == b"before"  # as another process would see it
    assert os.pwrite(descriptor.value, b"behind", PAGE + 8) == 6
    assert read(call, reserved + 8, 6) == b"behind"
    os.close(descriptor.value)
    assert call.hipMemUnmap(reserved, PAGE) == 0
    assert call.hipMemRelease(memory) == 0


def test_memory_of_another_process(call, reserved):
    """A file like the one that another process has exported."""
    file, place = os.memfd_create("gpulab memory of device 1"), u64()
    os.ftruncate(file, 2 * PAGE)
    os.pwrite(file, b"theirs", PAGE)
    assert call.hipMemImportFromShareableHandle(byref(place), ctypes.c_void_p(file), 1) == 0
    memory, properties = place.value, structures.AllocationProperties()
    assert call.hipMemGetAllocationPropertiesFromHandle(byref(properties), memory) == 0
    assert properties.location.id == 1
    assert call.hipMemMap(reserved, 2 * PAGE, 0, memory, 0) == 0
    assert access(call, reserved, 2 * PAGE) == 0
    assert read(call, reserved + PAGE, 6) == b"theirs"
    assert call.hipMemcpy(reserved, b"mine", 4, 1) == 0
    assert os.pread(file, 4, 0) == b"mine"
    assert call.hipMemRelease(memory) == 0
    assert call.hipMemUnmap(reserved, 2 * PAGE) == 0
    os.ftruncate(file, PAGE + 1)
    assert call.hipMemImportFromShareableHandle(byref(place), ctypes.c_void_p(file), 1) == 1
    os.close(file)


def test_access_by_device(call, reserved):
    memory, flags = created(call, PAGE), u64(9)
    assert call.hipMemMap(reserved, PAGE, 0, memory, 0) == 0
    for device in (0, 1):
        assert call.hipMemGetAccess(byref(flags), byref(structures.MemoryLocation(1, device)), reserved) == 0
        assert flags.value == 0
    assert access(call, reserved, PAGE, 1, device=1) == 0
    assert call.hipMemGetAccess(byref(flags), byref(structures.MemoryLocation(1, 1)), reserved) == 0
    assert flags.value == 1
    assert access(call, reserved, PAGE, 2) == 1
    assert access(call, reserved, PAGE, 3, device=2) == 101
    assert access(call, reserved, 2 * PAGE) == 1
    arena = runtime.instance().arena
    assert reserved in arena.table(1, 1)[0][::4]
    assert reserved not in arena.table(1, 0)[0][::4]
    assert call.hipMemRelease(memory) == 0


def test_what_cannot_be_mapped_or_freed(call, reserved):
    memory = created(call, PAGE)
    for address, size, offset in (
        (reserved, 0, 0), (reserved, 2 * PAGE, 0), (reserved, PAGE, PAGE), (reserved + 8, PAGE, 0), (reserved, 8, 0),
        (reserved + 4 * PAGE, PAGE, 0), (reserved - PAGE, PAGE, 0),
    ):  # fmt: skip
        assert call.hipMemMap(address, size, offset, memory, 0) == 1, (address - reserved, size, offset)
    assert call.hipMemMap(reserved, PAGE, 0, memory, 0) == 0
    assert call.hipMemMap(reserved, PAGE, 0, memory, 0) == 1
    assert call.hipMemAddressFree(reserved, 4 * PAGE) == 1
    assert call.hipMemAddressFree(reserved, PAGE) == 1
    assert call.hipMemAddressReserve(byref(u64()), 100, 0, None, 0) == 1
    assert call.hipMemAddressReserve(byref(u64()), 32 << 30, 0, None, 0) == 2
    assert call.hipMemRelease(memory) == 0


def test_flags_are_zero(call, reserved):
    place, memory = u64(7), created(call, PAGE)
    assert call.hipMemAddressReserve(byref(place), PAGE, 0, None, 1) == 1
    assert call.hipMemCreate(byref(place), PAGE, byref(owner()), 1) == 1
    assert call.hipMemMap(reserved, PAGE, 0, memory, 1) == 1
    assert place.value == 7
    assert read(call, reserved, 4) == 1
    assert call.hipMemRelease(memory) == 0
