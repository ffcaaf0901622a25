"""HIP's calls on memory from C: flags, sizes that are refused, every variant of a copy and of a filling.

Codes, flags and structures: HIP's API reference and hip_runtime_api.h. 1 is hipErrorInvalidValue.
"""

import ctypes

import pytest

from gpulab import architectures
from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import structures

TO_DEVICE, TO_HOST, ON_DEVICE, DEFAULT = 1, 2, 3, 4
byref, u64 = ctypes.byref, ctypes.c_uint64


@pytest.fixture
def allocate(call):
    """Device memory of this test, all bytes 0xEE."""
    made = []

    def make(size, device=None):
        made.append(call.address("hipMalloc", size))
        assert call.hipMemset(made[-1], 0xEE, size) == 0
        return made[-1]

    yield make
    for address in made:
        assert call.hipFree(address) == 0


@pytest.fixture
def pinned(call):
    address = call.address("hipHostMalloc", 4096, 0)
    yield address
    assert call.hipHostFree(address) == 0


def read(call, address, size):
    got = ctypes.create_string_buffer(size)
    assert call.hipMemcpy(got, address, size, TO_HOST) == 0
    return got.raw


def host_us():
    """Modelled microseconds that the host has waited."""
    return runtime.instance().streams.host.us


# Allocation


@pytest.mark.parametrize("bit", range(32))
def test_flags_of_allocations(call, bit):
    """hipDeviceMallocFinegrained 1, Signal 2, Contiguous 4; hipHostMallocPortable 1, Mapped 2, WriteCombined 4,
    NumaUser, Coherent and NonCoherent (bits 29 to 31); hipHostRegisterPortable to ReadOnly 1 to 8."""
    place = u64()
    code = call.hipExtMallocWithFlags(byref(place), 64 if bit != 1 else 8, 1 << bit)
    assert code == (0 if bit < 3 else 1)
    if not code:
        assert call.hipFree(place.value) == 0
    if bit not in (3, 4, 5):
        code = call.hipHostMalloc(byref(place), 64, 1 << bit)
        assert code == (0 if bit in (0, 1, 2, 29, 30, 31) else 1)
        if not code:
            assert call.number("hipHostGetFlags", place.value + 8, kind=ctypes.c_uint) == 1 << bit
            assert call.hipHostFree(place.value) == 0
    memory = (ctypes.c_ubyte * 64)()
    code = call.hipHostRegister(ctypes.addressof(memory), 64, 1 << bit)
    assert code == (0 if bit < 4 else 1)
    if not code:
        assert call.number("hipHostGetFlags", ctypes.addressof(memory) + 63, kind=ctypes.c_uint) == 1 << bit
        assert call.hipHostUnregister(memory) == 0
    code = call.hipMallocManaged(byref(place), 64, 1 << bit)  # hipMemAttachGlobal 1, hipMemAttachHost 2
    assert code == (0 if bit < 2 else 1)
    if not code:
        assert attributes(call, place.value).allocationFlags == 1 << bit
        assert call.hipFree(place.value) == 0


def test_an_allocation_that_fails_leaves_null(call):
    place = u64(7)
    assert call.hipMalloc(byref(place), 1 << 50) == 2
    assert place.value == 0


@pytest.mark.parametrize("name", ["hipHostAlloc", "hipMallocHost", "hipMemAllocHost", "hipHostMalloc"])
def test_names_for_pinned_memory(call, name):
    address = call.address(name, 64, *([2] if name in ("hipHostAlloc", "hipHostMalloc") else []))
    assert attributes(call, address).type == 1  # hipMemoryTypeHost
    flags = call.number("hipHostGetFlags", address, kind=ctypes.c_uint)
    assert flags == (2 if name in ("hipHostAlloc", "hipHostMalloc") else 0)
    free = call.hipFreeHost if name == "hipMallocHost" else call.hipHostFree
    assert free(address) == 0
    assert free(address) == 1


def test_pitched_allocations(call):
    """A row begins at a multiple of 256 bytes; nothing is allocated for a size of 0."""
    place, pitch = u64(), u64()
    for width, height in ((0, 5), (5, 0)):
        place.value, pitch.value = 9, 9
        assert call.hipMallocPitch(byref(place), byref(pitch), width, height) == 0
        assert (place.value, pitch.value) == (0, 0)
    for element in range(20):
        code = call.hipMemAllocPitch(byref(place), byref(pitch), 257, 3, element)
        assert code == (0 if element in (4, 8, 16) else 1)  # HIP's reference: 4, 8 or 16
        if not code:
            assert pitch.value == 512
            assert call.address("hipMemGetAddressRange", byref(u64()), place.value) == place.value
            size = u64()
            assert call.hipMemPtrGetInfo(place.value, byref(size)) == 0
            assert size.value == 512 * 3
            assert call.hipFree(place.value) == 0


@pytest.mark.parametrize("empty", [None, "width", "height", "depth"])
def test_three_dimensional_allocations(call, empty):
    extent = structures.Extent(300, 3, 2)
    if empty:
        setattr(extent, empty, 0)
    found = structures.PitchedPtr(1, 2, 3, 4)
    assert call.hipMalloc3D(byref(found), extent) == 0
    if empty:
        assert (found.ptr, found.pitch, found.xsize, found.ysize) == (None, 0, 0, 0)
        return
    assert (found.pitch, found.xsize, found.ysize) == (512, 300, 3)
    size = u64()
    assert call.hipMemPtrGetInfo(found.ptr, byref(size)) == 0
    assert size.value == 512 * 3 * 2
    assert call.hipFree(found.ptr) == 0


def test_memory_of_a_streams_device(call):
    assert call.hipSetDevice(1) == 0
    stream = call.address("hipStreamCreate")
    assert call.hipSetDevice(0) == 0
    address = call.address("hipMallocAsync", 64, stream)
    assert attributes(call, address).device == 1
    bad = u64()
    assert call.hipMallocAsync(byref(bad), 64, 0x1230) == 709  # hipErrorContextIsDestroyed: no such stream
    assert call.hipFreeAsync(address, 0x1230) == 709
    assert call.hipFreeAsync(None, None) == 1
    assert call.hipFreeAsync(address, stream) == 0
    assert call.hipFreeAsync(address, stream) == 1
    assert call.hipStreamDestroy(stream) == 0


def test_sizes_and_ranges(call, allocate):
    address = allocate(100)
    base, size = u64(), u64()
    assert call.hipMemGetAddressRange(None, byref(size), address + 99) == 0
    assert call.hipMemGetAddressRange(byref(base), None, address + 99) == 0
    assert (base.value, size.value) == (address, 100)
    assert call.hipMemGetAddressRange(byref(base), byref(size), ctypes.addressof(base)) == 500  # hipErrorNotFound
    assert call.hipMemPtrGetInfo(ctypes.addressof(base), byref(size)) == 1
    free, total = u64(), u64()
    assert call.hipMemGetInfo(None, byref(total)) == 0
    assert call.hipMemGetInfo(byref(free), None) == 0
    assert total.value == 206141652992
    assert 0 < free.value < 24 << 30


# Pointers


def attributes(call, address):
    found = structures.PointerAttributes(-1, -1, 1, 1, -1, 99)
    assert call.hipPointerGetAttributes(byref(found), address) == 0
    return found


def test_attributes_of_pointers(call, allocate, pinned):
    device, managed = allocate(64), call.address("hipMallocManaged", 64, 1)
    memory = (ctypes.c_ubyte * 64)()
    registered = ctypes.addressof(memory)
    assert call.hipHostRegister(registered, 64, 2) == 0
    seen = call.address("hipHostGetDevicePointer", registered + 9, 0)
    for address, type_, on_device, on_host, is_managed, flags in (
        (device + 4, 2, device + 4, None, 0, 0),
        (pinned + 4, 1, pinned + 4, pinned + 4, 0, 0),
        (managed + 4, 3, managed + 4, managed + 4, 1, 1),
        (registered + 9, 1, seen, registered + 9, 0, 2),
    ):
        found = attributes(call, address)
        assert (found.type, found.device, found.devicePointer, found.hostPointer) == (type_, 0, on_device, on_host)
        assert (found.isManaged, found.allocationFlags) == (is_managed, flags)
    assert call.hipHostUnregister(registered) == 0
    found = attributes(call, registered)  # memory of malloc: no error, but a type of its own
    assert (found.type, found.device, found.devicePointer, found.hostPointer) == (0, -2, None, None)
    assert (found.isManaged, found.allocationFlags) == (0, 0)
    assert call.hipFree(managed) == 0


def test_single_attributes_of_pointers(call, allocate, pinned):
    """hipPointer_attribute of the driver's interface, by number, and how many bytes each has."""
    first, managed = allocate(64), call.address("hipMallocManaged", 128, 1)
    assert call.hipSetDevice(1) == 0
    second = allocate(64)
    assert call.hipSetDevice(0) == 0
    one = call.address("hipDevicePrimaryCtxRetain", 0)
    two = call.address("hipDevicePrimaryCtxRetain", 1)
    expected = {
        first + 8: {1: one, 2: 2, 3: first + 8, 4: 0, 8: 0, 9: 0, 11: first, 12: 64},
        second + 8: {1: two, 2: 2, 3: second + 8, 4: 0, 8: 0, 9: 1, 11: second, 12: 64},
        managed + 8: {1: one, 2: 3, 3: managed + 8, 4: managed + 8, 8: 1, 9: 0, 11: managed, 12: 128},
        pinned + 8: {1: one, 2: 1, 3: pinned + 8, 4: pinned + 8, 8: 0, 9: 0, 11: pinned, 12: 4096},
    }
    # Of all: synchronous copies not asked for, legacy interprocess sharing not possible, mapped, no handle types,
    # no GPUDirect RDMA, no access flags, from no pool.
    others = {6: 0, 10: 0, 13: 1, 14: 0, 15: 0}
    size = {1: 8, 3: 8, 4: 8, 11: 8, 12: 8}
    ids = set()
    for address, values in expected.items():
        for number, value in {**values, **others}.items():
            cell = u64(0xAAAAAAAAAAAAAAAA)
            assert call.hipPointerGetAttribute(byref(cell), number, address) == 0, number
            kept = 0xAAAAAAAA00000000 if size.get(number, 4) == 4 else 0
            assert cell.value == value | kept, number
        cell = ctypes.c_int(-1)
        assert call.hipPointerGetAttribute(byref(cell), 7, address) == 0
        assert cell.value >= 0
        ids.add(cell.value)
    assert len(ids) == len(expected)  # the number of an allocation
    cell = u64()
    assert call.hipPointerGetAttribute(byref(cell), 7, first + 63) == 0
    assert cell.value in ids
    for number in (0, 16, 5):
        assert call.hipPointerGetAttribute(byref(cell), number, first) == 1
    assert call.hipPointerGetAttribute(byref(cell), 2, ctypes.addressof(cell)) == 1
    # The same, several at once; what does not apply is zero.
    numbers = (ctypes.c_int * 3)(12, 9, 11)
    cells = [u64(0xAAAAAAAAAAAAAAAA) for _ in range(3)]
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(each) for each in cells))
    assert call.hipDrvPointerGetAttributes(3, numbers, places, second) == 0
    assert [each.value for each in cells] == [64, 0xAAAAAAAA00000001, second]
    assert call.hipDrvPointerGetAttributes(3, numbers, places, ctypes.addressof(cells[0])) == 0
    assert [each.value for each in cells] == [0, 0xAAAAAAAA00000000, 0]
    assert call.hipDrvPointerGetAttributes(0, numbers, places, second) == 0
    tokens = (ctypes.c_uint64 * 3)(7, 7, 7)  # HIP_POINTER_ATTRIBUTE_P2P_TOKENS is a structure of 16 bytes
    assert call.hipDrvPointerGetAttributes(
        1, (ctypes.c_int * 1)(5), (ctypes.c_void_p * 1)(ctypes.addressof(tokens)), second
    ) == 0  # fmt: skip
    assert list(tokens) == [0, 0, 7]
    numbers[1] = 77
    assert call.hipDrvPointerGetAttributes(3, numbers, places, second) == 1
    places[0] = None
    assert call.hipDrvPointerGetAttributes(3, numbers, places, second) == 1
    assert call.hipFree(managed) == 0


def test_setting_an_attribute_of_a_pointer(call, allocate):
    device, value = allocate(64), ctypes.c_int(1)
    assert call.hipPointerSetAttribute(byref(value), 6, device) == 0
    assert call.hipPointerSetAttribute(byref(value), 5, device) == 1
    assert call.hipPointerSetAttribute(byref(value), 7, device) == 1
    assert call.hipPointerSetAttribute(byref(value), 6, ctypes.addressof(value)) == 17  # hipErrorInvalidDevicePointer


def test_pointers_of_the_device_to_host_memory(call, allocate, pinned):
    device, memory, place = allocate(64), (ctypes.c_ubyte * 64)(), u64()
    assert call.address("hipHostGetDevicePointer", pinned + 5, 0) == pinned + 5
    assert call.hipHostGetDevicePointer(byref(place), pinned, 1) == 1
    for address in (device, ctypes.addressof(memory)):
        assert call.hipHostGetDevicePointer(byref(place), address, 0) == 1
        assert call.hipHostGetFlags(byref(place), address) == 1
    assert call.hipHostRegister(ctypes.addressof(memory), 64, 0) == 0
    start = call.address("hipHostGetDevicePointer", ctypes.addressof(memory), 0)
    assert call.address("hipHostGetDevicePointer", ctypes.addressof(memory) + 63, 0) == start + 63
    assert call.hipHostGetDevicePointer(byref(place), ctypes.addressof(memory) + 64, 0) == 1
    assert call.hipHostUnregister(memory) == 0
    assert call.hipHostUnregister(memory) == 713  # hipErrorHostMemoryNotRegistered
    assert call.hipHostRegister(None, 64, 0) == 1
    assert call.hipHostRegister(memory, 0, 0) == 1
    assert call.hipHostRegister(device, 64, 0) == 1


def test_registered_memory_is_the_same_at_both_of_its_addresses(call, allocate):
    """Copies and fills at the address for kernels are copies and fills of the host's memory, as it is at that time."""
    device, memory = allocate(64), (ctypes.c_ubyte * 64)(*range(64))
    host = ctypes.addressof(memory)
    assert call.hipHostRegister(host, 64, 0) == 0
    shown = call.address("hipHostGetDevicePointer", host, 0)
    memory[5] = 200  # after it was registered
    assert call.hipMemcpy(device, shown + 4, 8, 3) == 0
    assert read(call, device, 8) == bytes([4, 200, *range(6, 12)])
    assert call.hipMemset(device, 7, 64) == 0
    assert call.hipMemcpy(shown + 1, device, 3, 3) == 0
    assert list(memory[:6]) == [0, 7, 7, 7, 4, 200]
    assert call.hipMemset(shown + 62, 9, 2) == 0
    assert list(memory[60:]) == [60, 61, 9, 9]
    assert call.hipMemcpy2D(shown + 16, 8, device, 8, 2, 3, 3) == 0
    assert list(memory[16:36]) == [7, 7, 18, 19, 20, 21, 22, 23, 7, 7, *range(26, 32), 7, 7, 34, 35]
    assert call.hipMemcpy2D(device, 2, shown + 16, 8, 2, 3, 3) == 0
    assert read(call, device, 6) == bytes([7] * 6)
    assert call.hipHostUnregister(host) == 0


def test_registered_ranges_do_not_overlap(call):
    memory = (ctypes.c_ubyte * 300)()
    start = ctypes.addressof(memory)
    assert call.hipHostRegister(start + 100, 100, 0) == 0
    for first, size, code in ((0, 100, 0), (0, 101, 712), (199, 1, 712), (199, 50, 712), (200, 100, 0), (150, 10, 712)):
        assert call.hipHostRegister(start + first, size, 0) == code, (first, size)
        if not code:
            assert call.hipHostUnregister(start + first) == 0
    assert call.hipHostUnregister(start + 100) == 0


# Copies

ONE_WAY = {
    "hipMemcpyHtoD": "h", "hipMemcpyDtoH": "d", "hipMemcpyDtoD": "dd",
    "hipMemcpyHtoDAsync": "h", "hipMemcpyDtoHAsync": "d", "hipMemcpyDtoDAsync": "dd",
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_WAY)
def test_copies_in_one_direction(call, allocate, name):
    """Only in the direction of their names, and from the second address to the first."""
    first, second = allocate(16), allocate(16)
    given, got = ctypes.create_string_buffer(b"0123456789abcdef", 16), ctypes.create_string_buffer(16)
    stream = (None,) if "Async" in name else ()
    function = getattr(call, name)
    assert call.hipMemcpy(second, given, 16, DEFAULT) == 0
    if ONE_WAY[name] == "h":
        assert function(first, given, 15, *stream) == 0
        assert read(call, first, 16) == b"0123456789abcde\xee"
        assert function(got, given, 16, *stream) == 1
    elif ONE_WAY[name] == "d":
        assert function(got, second, 15, *stream) == 0
        assert got.raw == b"0123456789abcde\0"
        assert function(got, given, 16, *stream) == 1
    else:
        assert function(first, second, 15, *stream) == 0
        assert read(call, first, 16) == b"0123456789abcde\xee"
        assert function(first, given, 16, *stream) == 1
    assert function(first, second, 0, *stream) == 0
    assert function(first, first, 16, *stream) in (0, 1)
    assert function(None, second, 16, *stream) == 1
    assert function(first, None, 16, *stream) == 1
    if stream:
        assert function(first, second, 16, 0x1230) == 709


@pytest.mark.parametrize("name", ["hipMemcpyPeer", "hipMemcpyPeerAsync"])
def test_copies_between_devices(call, allocate, name):
    here = allocate(16)
    assert call.hipSetDevice(1) == 0
    there = allocate(16)
    assert call.hipMemset(there, 3, 16) == 0
    assert call.hipSetDevice(0) == 0
    stream = (None,) if "Async" in name else ()
    function = getattr(call, name)
    assert function(here, 0, there, 1, 15, *stream) == 0
    assert read(call, here, 16) == b"\3" * 15 + b"\xee"
    assert function(here, 2, there, 1, 16, *stream) == 101  # hipErrorInvalidDevice
    assert function(here, 0, there, 2, 16, *stream) == 101


def test_copies_of_nothing_and_onto_themselves(call, allocate):
    a, b = allocate(16), allocate(16)
    for function, more in ((call.hipMemcpy, ()), (call.hipMemcpyAsync, (None,)), (call.hipMemcpyWithStream, (None,))):
        assert function(a, b, 0, ON_DEVICE, *more) == 0
        assert function(a, a, 16, ON_DEVICE, *more) == 0
        assert function(a, None, 16, ON_DEVICE, *more) == 1
        assert function(None, a, 16, ON_DEVICE, *more) == 1
        assert function(a, b, 16, 5, *more) == 21  # hipErrorInvalidMemcpyDirection
        assert function(a, b, 16, 1024, *more) == 0  # hipMemcpyDeviceToDeviceNoCU
    assert call.hipMemcpyWithStream(a, b, 16, ON_DEVICE, 0x1230) == 709


def test_which_copies_the_host_waits_for(call, allocate, pinned):
    """HIP's reference: hipMemcpy and hipMemcpyWithStream wait; hipMemcpyAsync does where memory is not pinned."""
    size = 1 << 12
    device, other = allocate(size), allocate(size)
    pageable = ctypes.create_string_buffer(size)
    a = architectures.get("gfx942")
    link, memory = 5 + size / a.copy_bandwidth * 1e6, 5 + 2 * size / a.memory_bandwidth * 1e6
    stream = call.address("hipStreamCreateWithFlags", 1)
    for source, target, took in (
        (pinned, device, link), (device, pinned, link), (pageable, device, link), (device, pageable, link),
        (other, device, memory),
    ):  # fmt: skip
        assert call.hipDeviceSynchronize() == 0
        before = host_us()
        assert call.hipMemcpyAsync(target, source, size, DEFAULT, stream) == 0
        waited = took if pageable in (source, target) else 0
        assert host_us() - before == pytest.approx(waited, abs=1e-6)
        assert call.hipDeviceSynchronize() == 0
        assert host_us() - before == pytest.approx(took)
        before = host_us()
        assert call.hipMemcpyWithStream(target, source, size, DEFAULT, stream) == 0
        assert host_us() - before == pytest.approx(took)
        before = host_us()
        assert call.hipMemcpy(target, source, size, DEFAULT) == 0
        assert host_us() - before == pytest.approx(took)
        for name, more, waits in (("hipMemcpy2D", (), True), ("hipMemcpy2DAsync", (stream,), False)):
            before = host_us()
            assert getattr(call, name)(target, size // 4, source, size // 4, size // 4, 4, DEFAULT, *more) == 0
            assert host_us() - before == pytest.approx(took if waits else waited, abs=1e-6)
            assert call.hipDeviceSynchronize() == 0
    assert call.hipStreamDestroy(stream) == 0


def test_a_registered_array_is_pinned(call, allocate):
    size = 1 << 12
    device, array, stream = allocate(size), ctypes.create_string_buffer(size), call.address("hipStreamCreate")
    assert call.hipHostRegister(array, size, 0) == 0
    for target, source in ((device, array), (array, device)):
        assert call.hipDeviceSynchronize() == 0
        before = host_us()
        assert call.hipMemcpyAsync(target, source, size, DEFAULT, stream) == 0
        assert host_us() == before
    assert call.hipHostUnregister(array) == 0
    assert call.hipStreamDestroy(stream) == 0


# Copies of rows and slices

WIDTH, HEIGHT, DEPTH = 5, 3, 2


def box(data, start, pitch, slice_, width=WIDTH, height=HEIGHT, depth=DEPTH):
    """The bytes of a box in memory."""
    return [data[start + z * slice_ + y * pitch + x] for z in range(depth) for y in range(height) for x in range(width)]


@pytest.mark.parametrize("name", ["hipMemcpy2D", "hipMemcpy2DAsync"])
def test_copies_of_rows(call, allocate, name):
    source, target = allocate(1024), allocate(1024)
    given = bytes(i * 7 & 0xFF for i in range(1024))
    assert call.hipMemcpy(source, given, 1024, TO_DEVICE) == 0
    more = (None,) if "Async" in name else ()
    function = getattr(call, name)
    assert function(target, 16, source, 9, WIDTH, HEIGHT, ON_DEVICE, *more) == 0
    got = read(call, target, 1024)
    assert box(got, 0, 16, 0, depth=1) == box(given, 0, 9, 0, depth=1)
    assert sum(byte != 0xEE for byte in got) <= WIDTH * HEIGHT
    assert got[5:16] == b"\xee" * 11
    assert function(target, 16, source, 9, 0, HEIGHT, ON_DEVICE, *more) == 0
    assert function(target, 16, source, 9, WIDTH, 0, ON_DEVICE, *more) == 0
    for pitches, code in (((5, 5), 0), ((4, 9), 12), ((16, 4), 12)):  # hipErrorInvalidPitchValue
        assert function(target, pitches[0], source, pitches[1], 5, 3, ON_DEVICE, *more) == code
    assert function(None, 16, source, 9, 5, 3, ON_DEVICE, *more) == 1
    assert function(target, 16, None, 9, 5, 3, ON_DEVICE, *more) == 1
    assert function(target, 511, source, 9, 5, 3, ON_DEVICE, *more) == 1  # 2 * 511 + 5 is more than 1024
    assert function(target, 509, source, 9, 5, 3, ON_DEVICE, *more) == 0
    host = (ctypes.c_ubyte * 64)()  # a pitch beyond hipDeviceAttributeMaxPitch is refused before anything is read
    assert function(target, 16, host, 1 << 31, 5, 3, TO_DEVICE, *more) == 1
    assert function(host, 1 << 31, source, 16, 5, 3, TO_HOST, *more) == 1
    assert function(target, 16, source, (1 << 31) - 1, 5, 1, ON_DEVICE, *more) == 0  # of a single row it means nothing


@pytest.mark.parametrize("name", ["hipMemcpyParam2D", "hipMemcpyParam2DAsync", "hipDrvMemcpy2DUnaligned"])
@pytest.mark.parametrize("pitched", [True, False])
def test_driver_copies_of_rows(call, allocate, pinned, name, pitched):
    """hip_Memcpy2D: offsets in bytes and rows on both sides; a pitch of 0 is the width."""
    given = bytes(i * 7 & 0xFF for i in range(1024))
    source, target = allocate(1024), pinned
    ctypes.memset(pinned, 0xEE, 1024)
    assert call.hipMemcpy(source, given, 1024, TO_DEVICE) == 0
    p = structures.Memcpy2D(WidthInBytes=WIDTH, Height=HEIGHT)
    p.srcXInBytes, p.srcY, p.srcMemoryType, p.srcDevice, p.srcPitch = 2, 4, 2, source, 9 if pitched else 0
    p.dstXInBytes, p.dstY, p.dstMemoryType, p.dstHost, p.dstPitch = 3, 1, 1, target, 16 if pitched else 0
    more = (None,) if "Async" in name else ()
    assert getattr(call, name)(byref(p), *more) == 0
    got = ctypes.string_at(pinned, 1024)
    from_pitch, to_pitch = (9, 16) if pitched else (WIDTH, WIDTH)
    start = 1 * to_pitch + 3
    assert box(got, start, to_pitch, 0, depth=1) == box(given, 4 * from_pitch + 2, from_pitch, 0, depth=1)
    end = start + 2 * to_pitch + WIDTH
    assert got[:start] == b"\xee" * start
    assert got[end:] == b"\xee" * (1024 - end)


def test_sides_of_driver_copies(call, allocate, pinned):
    """hipMemoryType: 1 host, 2 device, 3 managed, 10 array, 11 unified (which takes either address)."""
    a, b = allocate(64), allocate(64)
    assert call.hipMemset(a, 5, 64) == 0

    def copy(type_, **fields):
        assert call.hipMemset(b, 0xEE, 64) == 0
        p = structures.Memcpy2D(WidthInBytes=8, Height=1, srcMemoryType=type_, dstMemoryType=2, dstDevice=b, **fields)
        return call.hipMemcpyParam2D(byref(p))

    ctypes.memset(pinned, 5, 64)
    for type_, fields, code in (
        (1, {"srcHost": pinned}, 0), (2, {"srcDevice": a}, 0), (3, {"srcDevice": a}, 0), (11, {"srcDevice": a}, 0),
        (11, {"srcHost": pinned}, 0), (1, {"srcDevice": a}, 1), (2, {"srcHost": pinned}, 1), (11, {}, 1), (2, {}, 1),
        (0, {"srcDevice": a}, 1), (4, {"srcDevice": a}, 1), (12, {"srcDevice": a}, 1), (9, {"srcDevice": a}, 1),
        (10, {"srcDevice": a}, 1), (10, {"srcArray": a}, 400), (2, {"srcDevice": a, "srcArray": a}, 0),
    ):  # fmt: skip
        assert copy(type_, **fields) == code, (type_, fields)
        assert read(call, b, 9) == (b"\5" * 8 if not code else b"\xee" * 8) + b"\xee"
    p = structures.Memcpy2D(WidthInBytes=8, Height=1, srcMemoryType=2, srcDevice=a, dstMemoryType=2, dstArray=b)
    assert call.hipMemcpyParam2D(byref(p)) == 1


SLICES = ["hipMemcpy3D", "hipMemcpy3DAsync", "hipMemcpy3DPeer", "hipMemcpy3DPeerAsync"]


def parameters_3d(name, source, target):
    p = structures.Memcpy3DPeer() if "Peer" in name else structures.Memcpy3D(kind=ON_DEVICE)
    p.srcPtr, p.srcPos = structures.PitchedPtr(source, 9, 9, 5), structures.Position(2, 1, 3)
    p.dstPtr, p.dstPos = structures.PitchedPtr(target, 16, 16, 4), structures.Position(4, 1, 2)
    p.extent = structures.Extent(WIDTH, HEIGHT, DEPTH)
    return p


def test_batches_of_copies(call, allocate):
    """hipMemcpyBatchAsync: in all directions, in order; what is refused: hip-tests, catch/unit/memory."""
    one, two = allocate(64), allocate(64)
    given, got = ctypes.create_string_buffer(bytes(range(64)), 64), ctypes.create_string_buffer(64)
    cells = ctypes.c_uint64 * 3
    targets = cells(one, two + 8, ctypes.addressof(got))
    sources = cells(ctypes.addressof(given), one, two)
    sizes, failed = cells(64, 32, 64), u64(99)
    hint = structures.CopyAttributes(srcAccessOrder=1, flags=0x101)
    for attributes in ((None, None, 0), (byref(hint), byref(u64(0)), 1)):
        assert call.hipMemcpyBatchAsync(targets, sources, sizes, 3, *attributes, byref(failed), None) == 0
        assert got.raw == b"\xee" * 8 + bytes(range(32)) + b"\xee" * 24
        assert failed.value == 99
    lists = targets, sources, sizes, 3
    for missing in range(4):
        arguments = [0 if place == missing else given for place, given in enumerate(lists)]
        assert call.hipMemcpyBatchAsync(*arguments, None, None, 0, byref(failed), None) == 1
    for sizes[1], code in ((0, 1), (100, 1)):
        assert call.hipMemcpyBatchAsync(targets, sources, sizes, 3, None, None, 0, byref(failed), None) == code
        assert failed.value == 1
        assert call.hipMemcpyBatchAsync(targets, sources, sizes, 3, None, None, 0, None, None) == code
    hint.flags = 512  # hipMemcpyFlagExtOpSwap
    assert call.hipMemcpyBatchAsync(targets, sources, sizes, 3, byref(hint), byref(u64(0)), 1, None, None) == 801


def test_batches_of_copies_of_slices(call, allocate):
    """hipMemcpy3DBatchAsync: lengths of rows and layers in elements, those of the extent if they are 0."""
    source, target = allocate(512), allocate(512)
    given = bytes(i * 5 & 0xFF for i in range(512))
    assert call.hipMemcpy(source, given, 512, TO_DEVICE) == 0
    batch = (structures.BatchCopy3D * 2)()
    for one, (row, layer), at in zip(batch, ((9, 4), (0, 0)), (0, 256), strict=True):
        one.src.type = one.dst.type = 1
        one.src.op.ptr.ptr, one.src.op.ptr.rowLength, one.src.op.ptr.layerHeight = source + at, row, layer
        one.dst.op.ptr.ptr, one.dst.op.ptr.rowLength = target + at, 16
        one.extent, one.srcAccessOrder = structures.Extent(5, 3, 2), 1
    failed = u64(99)
    assert call.hipMemcpy3DBatchAsync(2, batch, byref(failed), 0, None) == 0
    assert failed.value == 99
    expected = bytearray(b"\xee" * 512)
    for at, row, layer in ((0, 9, 36), (256, 5, 15)):
        for z in range(2):
            for y in range(3):
                start, origin = at + z * 48 + y * 16, at + z * layer + y * row
                expected[start : start + 5] = given[origin : origin + 5]
    assert read(call, target, 512) == bytes(expected)
    assert call.hipMemcpy3DBatchAsync(2, batch, None, 1, None) == 1
    assert call.hipMemcpy3DBatchAsync(0, batch, None, 0, None) == 1
    for change, code in (({"type": 7}, 1), ({"flags": 4}, 801), ({"depth": 0}, 1), ({"row": 4}, 12)):
        again = structures.BatchCopy3D.from_buffer_copy(batch[1])
        again.src.type, again.flags = change.get("type", 1), change.get("flags", 0)
        again.extent.depth, again.src.op.ptr.rowLength = change.get("depth", 2), change.get("row", 5)
        pair = (structures.BatchCopy3D * 2)(batch[0], again)
        assert call.hipMemcpy3DBatchAsync(2, pair, byref(failed), 0, None) == code, change
        assert failed.value == 1


@pytest.mark.parametrize("name", SLICES)
def test_copies_of_slices(call, allocate, name):
    """A slice is as many rows as the pointer's ysize says, or the extent's height if that is 0."""
    source, target = allocate(1024), allocate(1024)
    given = bytes(i * 7 & 0xFF for i in range(1024))
    assert call.hipMemcpy(source, given, 1024, TO_DEVICE) == 0
    more = (None,) if "Async" in name else ()

    def run(p):
        return getattr(call, name)(byref(p), *more)

    for rows in (True, False):
        p = parameters_3d(name, source, target)
        if not rows:
            p.srcPtr.ysize = p.dstPtr.ysize = 0
        slice_from, slice_to = (9 * (5 if rows else 3), 16 * (4 if rows else 3))
        assert call.hipMemset(target, 0xEE, 1024) == 0
        assert run(p) == 0
        got = read(call, target, 1024)
        start = 2 * slice_to + 1 * 16 + 4
        assert box(got, start, 16, slice_to) == box(given, 3 * slice_from + 1 * 9 + 2, 9, slice_from)
        inside = {start + z * slice_to + y * 16 + x for z in range(2) for y in range(3) for x in range(5)}
        assert all(got[i] == 0xEE for i in range(1024) if i not in inside)
    for part, value, code in (
        ("srcPos.x", 4, 0), ("srcPos.x", 5, 12), ("dstPos.x", 11, 0), ("dstPos.x", 12, 12), ("srcPtr.ptr", None, 1),
        ("dstPtr.ptr", None, 1), ("extent.width", 0, 0), ("extent.height", 0, 0), ("extent.depth", 0, 0),
        ("srcArray", source, 400), ("dstArray", target, 400), ("extent.depth", 99, 1),
    ):  # fmt: skip
        p = parameters_3d(name, source, target)
        owner, _, field = part.rpartition(".")
        setattr(getattr(p, owner) if owner else p, field, value)
        assert run(p) == code, part


def test_kinds_of_copies_of_slices(call, allocate):
    p = parameters_3d("hipMemcpy3D", allocate(1024), allocate(1024))
    p.kind = TO_HOST
    assert call.hipMemcpy3D(byref(p)) == 0  # the target's kind is not looked at, as in hipMemcpy
    memory = ctypes.create_string_buffer(1024)
    p.dstPtr.ptr = ctypes.addressof(memory)
    for kind, code in ((TO_HOST, 0), (ON_DEVICE, 1), (TO_DEVICE, 1), (DEFAULT, 0), (9, 21)):
        p.kind = kind
        assert call.hipMemcpy3D(byref(p)) == code
        assert call.hipMemcpy3DAsync(byref(p), None) == code


@pytest.mark.parametrize("name", ["hipDrvMemcpy3D", "hipDrvMemcpy3DAsync"])
@pytest.mark.parametrize("pitched", [True, False])
def test_driver_copies_of_slices(call, allocate, name, pitched):
    """HIP_MEMCPY3D: a pitch or height of 0 is the width or height of what is copied."""
    source, target = allocate(1024), allocate(1024)
    given = bytes(i * 7 & 0xFF for i in range(1024))
    assert call.hipMemcpy(source, given, 1024, TO_DEVICE) == 0
    more = (None,) if "Async" in name else ()
    p = structures.DriverMemcpy3D(WidthInBytes=WIDTH, Height=HEIGHT, Depth=DEPTH)
    p.srcXInBytes, p.srcY, p.srcZ, p.srcMemoryType, p.srcDevice = 2, 1, 3, 2, source
    p.dstXInBytes, p.dstY, p.dstZ, p.dstMemoryType, p.dstDevice = 4, 1, 2, 2, target
    if pitched:
        p.srcPitch, p.srcHeight, p.dstPitch, p.dstHeight = 9, 5, 16, 4
    assert getattr(call, name)(byref(p), *more) == 0
    (a, b), (c, d) = ((9, 45), (16, 64)) if pitched else ((5, 15), (5, 15))
    got, start = read(call, target, 1024), 2 * d + 1 * c + 4
    assert box(got, start, c, d) == box(given, 3 * b + 1 * a + 2, a, b)
    inside = {start + z * d + y * c + x for z in range(2) for y in range(3) for x in range(5)}
    assert all(got[i] == 0xEE for i in range(1024) if i not in inside)
    for side in ("src", "dst"):
        for pitch, code in ((4, 12), (5, 0)):
            setattr(p, f"{side}Pitch", pitch)
            assert getattr(call, name)(byref(p), *more) == code
        setattr(p, f"{side}Array", source)  # the type of memory decides, not what else is filled in
        assert getattr(call, name)(byref(p), *more) == 0
        setattr(p, f"{side}MemoryType", 10)
        assert getattr(call, name)(byref(p), *more) == 400  # hipErrorInvalidHandle: no array
        setattr(p, f"{side}MemoryType", 2)
        setattr(p, f"{side}Array", None)


def test_synchronous_copies_of_slices_are_waited_for(call, allocate, pinned):
    target, stream = allocate(1024), call.address("hipStreamCreateWithFlags", 1)
    p = parameters_3d("hipMemcpy3D", pinned, target)
    p.kind = DEFAULT
    driver = structures.DriverMemcpy3D(
        WidthInBytes=8, Height=2, Depth=2, srcMemoryType=1, srcHost=pinned, dstMemoryType=2, dstDevice=target
    )
    rows = structures.Memcpy2D(
        WidthInBytes=8, Height=2, srcMemoryType=1, srcHost=pinned, dstMemoryType=2, dstDevice=target
    )
    for name, given in (
        ("hipMemcpy3D", p), ("hipMemcpy3DPeer", None), ("hipDrvMemcpy3D", driver), ("hipMemcpyParam2D", rows),
    ):  # fmt: skip
        if given is None:
            given = parameters_3d("Peer", allocate(1024), target)
        assert call.hipDeviceSynchronize() == 0
        before = host_us()
        assert getattr(call, f"{name}Async")(byref(given), stream) == 0
        assert host_us() == before
        assert call.hipDeviceSynchronize() == 0
        before = host_us()
        assert getattr(call, name)(byref(given)) == 0
        assert host_us() >= before + 5
    assert call.hipStreamDestroy(stream) == 0


# Filling


@pytest.mark.parametrize("element", [1, 2, 4])
@pytest.mark.parametrize("mode", ["", "Async"])
def test_filling(call, allocate, element, mode):
    """Only the low bytes of the value count; so many elements are filled, and no byte beyond."""
    value, more = 0x0A0B0C0D, (None,) if mode else ()
    pattern = value.to_bytes(4, "little")[:element]
    memory = allocate(64)
    name = f"hipMemsetD{8 * element}{mode}"
    narrow = value & (1 << 8 * element) - 1
    assert getattr(call, name)(memory, narrow, 3, *more) == 0
    assert read(call, memory, 64) == (pattern * 3).ljust(64, b"\xee")
    assert getattr(call, name)(None, narrow, 0, *more) == 0
    assert getattr(call, name)(None, narrow, 1, *more) == 1
    if mode:
        assert getattr(call, name)(memory, narrow, 1, 0x1230) == 709
    two = f"hipMemsetD2D{8 * element}{mode}"
    assert call.hipMemset(memory, 0xEE, 64) == 0
    assert getattr(call, two)(memory, 20, narrow, 3, 2, *more) == 0
    assert read(call, memory, 64) == ((pattern * 3).ljust(20, b"\xee") + pattern * 3).ljust(64, b"\xee")
    assert getattr(call, two)(memory, 3 * element, narrow, 3, 2, *more) == 0
    assert getattr(call, two)(memory, 3 * element - 1, narrow, 3, 2, *more) == 1
    assert getattr(call, two)(None, 20, narrow, 0, 2, *more) == 0
    assert getattr(call, two)(None, 20, narrow, 3, 0, *more) == 0
    assert getattr(call, two)(None, 20, narrow, 3, 2, *more) == 1
    if element == 1:
        for name, size in (("hipMemset", ()), ("hipMemset2D", (20,))):
            assert call.hipMemset(memory, 0xEE, 64) == 0
            sizes = (3, 2) if size else (3,)
            assert getattr(call, name + mode)(memory, *size, 0x10D, *sizes, *more) == 0
            assert read(call, memory, 4) == b"\r\r\r\xee"


@pytest.mark.parametrize("mode", ["", "Async"])
def test_filling_of_slices(call, allocate, mode):
    memory, more = allocate(256), (None,) if mode else ()
    function = getattr(call, f"hipMemset3D{mode}")
    for rows in (4, 0):
        assert call.hipMemset(memory, 0xEE, 256) == 0
        assert function(structures.PitchedPtr(memory, 16, 16, rows), 0x107, structures.Extent(5, 3, 2), *more) == 0
        got, slice_ = read(call, memory, 256), 16 * (rows or 3)
        inside = {z * slice_ + y * 16 + x for z in range(2) for y in range(3) for x in range(5)}
        assert got == bytes(7 if i in inside else 0xEE for i in range(256))
    for pitch, extent, code in (
        (5, (5, 3, 2), 0), (4, (5, 3, 2), 1), (16, (0, 3, 2), 0), (16, (5, 0, 2), 0), (16, (5, 3, 0), 0),
        (16, (5, 3, 6), 1),
    ):  # fmt: skip
        assert function(structures.PitchedPtr(memory, pitch, 16, 3), 1, structures.Extent(*extent), *more) == code
    assert function(structures.PitchedPtr(None, 16, 16, 3), 1, structures.Extent(5, 3, 2), *more) == 1


# Managed memory


def test_advice_and_prefetching_need_managed_memory(call, allocate):
    """hipMemoryAdvise: 1 to 6, 100 and 101; hipCpuDeviceId is -1; a hipMemLocation of type 1 is a device."""
    managed, device = call.address("hipMallocManaged", 64, 1), allocate(64)
    for advice in (*range(9), 99, 100, 101, 102):
        code = 0 if advice in (1, 2, 3, 4, 5, 6, 100, 101) else 1
        assert call.hipMemAdvise(managed, 64, advice, 0) == code, advice
        assert call.hipMemAdvise(managed, 64, advice, -1) == code
    place = structures.MemoryLocation
    for give in (
        lambda address, size, number: call.hipMemAdvise(address, size, 1, number),
        lambda address, size, number: call.hipMemPrefetchAsync(address, size, number, None),
        lambda address, size, number: call.hipMemAdvise_v2(address, size, 1, place(1, number)),
        lambda address, size, number: call.hipMemPrefetchAsync_v2(address, size, place(1, number), 0, None),
    ):
        assert give(managed, 64, 1) == 0
        assert give(managed + 32, 32, -1) == 0
        assert give(managed, 64, 2) == 101
        for address, size in ((managed, 65), (managed, 0), (0, 64), (device, 64), (ctypes.addressof(u64()), 4)):
            assert give(address, size, 0) == 1
    assert call.hipMemAdvise_v2(managed, 64, 1, place(2, 9)) == 0  # a host's number is not a device's
    assert call.hipMemPrefetchAsync_v2(managed, 64, place(2, 9), 0, None) == 0
    assert call.hipMemPrefetchAsync_v2(managed, 64, place(1, 0), 1, None) == 1
    assert call.hipMemPrefetchAsync(managed, 64, 0, 0x1230) == 709
    for flags in range(6):  # hipMemAttachGlobal, Host, Single
        assert call.hipStreamAttachMemAsync(None, managed, 0, flags) == (0 if flags in (1, 2, 4) else 1)
    assert call.hipStreamAttachMemAsync(None, device, 0, 1) == 1
    assert call.hipStreamAttachMemAsync(None, ctypes.addressof(u64()), 0, 1) == 1
    assert call.hipStreamAttachMemAsync(0x1230, managed, 0, 1) == 709
    assert call.hipFree(managed) == 0


def test_where_pages_were_prefetched_last(call):
    """hipMemRangeAttributeLastPrefetchLocation (4): hipInvalidDeviceId (-2) if pages differ."""
    managed, page = call.address("hipMallocManaged", 8192, 1), 4096

    def last(address, size):
        found = ctypes.c_int()
        assert call.hipMemRangeGetAttribute(byref(found), 4, 4, address, size) == 0
        return found.value

    assert call.hipMemPrefetchAsync(managed, 2 * page, 1, None) == 0
    assert last(managed, 2 * page) == 1
    assert call.hipMemPrefetchAsync(managed + page, page, -1, None) == 0
    assert [last(managed, page), last(managed + page, page), last(managed, 2 * page)] == [1, -1, -2]
    assert call.hipFree(managed) == 0


def test_the_preferred_location_is_what_was_advised(call):
    """hipMemAdviseSetPreferredLocation (3) and Unset (4); hipMemRangeAttributePreferredLocation (2)."""
    managed, found = call.address("hipMallocManaged", 4096, 1), ctypes.c_int()
    for advice, device, preferred in ((3, 1, 1), (3, -1, -1), (3, 0, 0), (4, 0, -2)):
        assert call.hipMemAdvise(managed, 4096, advice, device) == 0
        assert call.hipMemRangeGetAttribute(byref(found), 4, 2, managed, 4096) == 0
        assert found.value == preferred, (advice, device)
    assert call.hipFree(managed) == 0


def test_what_is_known_of_managed_ranges(call):
    """hipMemRangeAttribute: read mostly 1, preferred 2, accessed by 3, coherency 100 (fine 0, coarse 1, mixed 2)."""
    page = 4096
    managed = call.address("hipMallocManaged", 3 * page, 1)

    def told(attribute, offset=0, size=3 * page, places=1):
        found = (ctypes.c_int * (places + 1))(*[77] * (places + 1))
        assert call.hipMemRangeGetAttribute(byref(found), 4 * places, attribute, managed + offset, size) == 0
        assert found[places] == 77
        return list(found)[:places]

    assert [told(which) for which in (1, 2, 4, 100)] == [[0], [-2], [-2], [0]]
    assert told(3, places=3) == [-2, -2, -2]

    def advise(offset, size, advice, device=0):
        assert call.hipMemAdvise(managed + offset, size, advice, device) == 0

    # A page counts as a whole, if one byte of it is in the range.
    advise(page - 1, 2, 1)
    assert [told(1, offset, size) for offset, size in ((0, page), (page, page), (0, 2 * page), (2 * page, 1))] == [
        [1], [1], [1], [0],
    ]  # fmt: skip
    assert told(1) == told(1, 2 * page - 1, 2) == [0]
    assert told(1, 2 * page - 1, 1) == [1]
    advise(0, page, 2)
    assert (told(1, 0, page), told(1, page, page)) == ([0], [1])
    advise(0, 2 * page, 3, 1)
    assert (told(2, 0, 2 * page), told(2)) == ([1], [-2])
    advise(page, 2 * page, 100)
    assert [told(100, offset, page) for offset in (0, page, 2 * page)] == [[0], [1], [1]]
    assert (told(100), told(100, page, 2 * page)) == ([2], [1])
    advise(0, 3 * page, 101)
    assert told(100) == [0]
    for device in (1, 0, -1):
        advise(0, 2 * page, 5, device)
    advise(2 * page, page, 5, 1)
    assert told(3, 0, page, 5) == [-1, 0, 1, -2, -2]
    assert told(3, 0, page, 2) == [-1, 0]
    assert told(3, places=2) == [1, -2]  # of all pages
    advise(0, 3 * page, 6, 1)
    assert told(3, places=1) == [-2]
    assert told(3, 0, page, 2) == [-1, 0]
    found = (ctypes.c_int * 4)()
    for attribute, size, code in (
        (1, 4, 0),
        (1, 8, 1),
        (1, 0, 1),
        (1, 3, 1),
        (3, 8, 0),
        (3, 6, 1),
        (0, 4, 1),
        (5, 4, 1),
    ):
        assert call.hipMemRangeGetAttribute(byref(found), size, attribute, managed, page) == code, (attribute, size)
    assert call.hipMemRangeGetAttribute(None, 4, 1, managed, page) == 1
    assert call.hipFree(managed) == 0


def test_several_attributes_of_a_range_at_once(call):
    managed = call.address("hipMallocManaged", 4096, 1)
    assert call.hipMemAdvise(managed, 4096, 1, 0) == call.hipMemAdvise(managed, 4096, 3, 1) == 0
    assert call.hipMemAdvise(managed, 4096, 5, 0) == call.hipMemAdvise(managed, 4096, 5, 1) == 0
    cells = [(ctypes.c_int * 4)(*[77] * 4) for _ in range(3)]
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(each) for each in cells))
    sizes, numbers = (ctypes.c_size_t * 3)(4, 12, 4), (ctypes.c_int * 3)(1, 3, 2)
    given = places, sizes, numbers
    assert call.hipMemRangeGetAttributes(*given, 3, managed, 4096) == 0
    assert [list(each) for each in cells] == [[1, 77, 77, 77], [0, 1, -2, 77], [1, 77, 77, 77]]
    assert call.hipMemRangeGetAttributes(*given, 0, managed, 4096) == 1
    for missing in range(3):
        some = [None if n == missing else each for n, each in enumerate(given)]
        assert call.hipMemRangeGetAttributes(*some, 3, managed, 4096) == 1
    places[1] = None
    assert call.hipMemRangeGetAttributes(*given, 3, managed, 4096) == 1
    assert call.hipFree(managed) == 0


# Pools


def test_pools_of_devices(call):
    first, second = (call.address("hipDeviceGetDefaultMemPool", device) for device in (0, 1))
    assert first != second
    assert [call.address("hipDeviceGetMemPool", device) for device in (0, 1)] == [first, second]
    assert call.hipDeviceSetMemPool(0, first) == 0
    assert call.hipDeviceSetMemPool(0, second) == 1
    assert call.hipDeviceSetMemPool(1, second) == 0
    assert call.hipDeviceSetMemPool(0, second + 1) == 1
    assert call.hipDeviceSetMemPool(0, first - 1) == 1
    place = u64()
    assert call.hipDeviceGetDefaultMemPool(byref(place), 2) == 101
    address = call.address("hipMallocFromPoolAsync", 64, second, None)
    assert attributes(call, address).device == 1
    assert call.hipMallocFromPoolAsync(byref(place), 64, first, 0x1230) == 709
    assert call.hipFreeAsync(address, None) == 0
    assert call.hipMemPoolTrimTo(first, 0) == 0
    assert call.hipMemPoolTrimTo(12345, 0) == 1


def test_attributes_of_pools(call, allocate):
    """hipMemPoolAttr: 1 to 3 are switches that are on, 4 a threshold of 0, 5 to 8 what is and was in use."""
    pool = call.address("hipDeviceGetDefaultMemPool", 0)

    def get(number, kind=u64):
        cell = kind(0)
        assert call.hipMemPoolGetAttribute(pool, number, byref(cell)) == 0
        return cell.value

    def put(number, value, kind=u64):
        return call.hipMemPoolSetAttribute(pool, number, byref(kind(value)))

    for number in (1, 2, 3):
        assert get(number, ctypes.c_int) == 1
        assert put(number, 0, ctypes.c_int) == 0
        assert [get(each, ctypes.c_int) for each in (1, 2, 3)] == [int(each != number) for each in (1, 2, 3)]
        assert put(number, 1, ctypes.c_int) == 0
    assert get(4) == 0
    assert put(4, 1 << 40) == 0
    assert get(4) == 1 << 40
    assert put(4, 0) == 0
    allocate(1 << 20)  # no pool has to do with it
    page, many = 2 << 20, 3 << 20
    assert [put(number, 0) for number in (6, 8)] == [0, 0]
    assert [get(number) for number in (5, 6, 7, 8)] == [0, 0, 0, 0]
    first, second = call.address("hipMallocAsync", 1000, None), call.address("hipMallocAsync", many, None)
    assert [get(number) for number in (5, 6, 7, 8)] == [2 * page, 2 * page, many + 1000, many + 1000]
    assert call.hipFreeAsync(second, None) == 0
    assert [get(number) for number in (5, 6, 7, 8)] == [2 * page, 2 * page, 1000, many + 1000]
    assert call.hipStreamSynchronize(None) == 0  # beyond the threshold, it goes back when the host has waited
    assert [get(number) for number in (5, 6, 7, 8)] == [page, 2 * page, 1000, many + 1000]
    for number in (6, 8):
        assert put(number, 1) == 1
        assert put(number, 0) == 0
    assert [get(number) for number in (5, 6, 7, 8)] == [page, page, 1000, 1000]
    assert put(4, page) == 0
    assert call.hipFree(first) == 0  # hipFree may free it, too
    assert call.hipDeviceSynchronize() == 0
    assert [get(number) for number in (5, 7)] == [page, 0]
    assert call.hipMemPoolTrimTo(pool, 1) == 0
    assert get(5) == page  # at least one byte, in whole pages
    assert call.hipMemPoolTrimTo(pool, 0) == 0
    assert (get(5), get(6)) == (0, page)
    assert put(4, 0) == 0
    for number in (0, 9):
        assert put(number, 0) == 1
        assert call.hipMemPoolGetAttribute(pool, number, byref(u64())) == 1
    assert put(5, 0) == put(7, 0) == 1
    other = call.address("hipDeviceGetDefaultMemPool", 1)
    cell = u64(9)
    assert call.hipMemPoolSetAttribute(other, 4, byref(u64(77))) == 0
    assert get(4) == 0
    assert call.hipMemPoolGetAttribute(other, 4, byref(cell)) == 0
    assert cell.value == 77
    assert call.hipMemPoolSetAttribute(other, 4, byref(u64(0))) == 0


def test_addresses_of_functions(call):
    """hipGetProcAddress: what is found can be called; hipDriverProcAddressQueryResult 0 is found, 1 is not."""
    place, status = u64(), ctypes.c_int(7)
    assert call.hipGetProcAddress(b"hipGetDeviceCount", byref(place), 700, 0, byref(status)) == 0
    assert status.value == 0
    count = ctypes.c_int()
    assert ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(place.value)(ctypes.addressof(count)) == 0
    assert count.value == len(runtime.instance().devices)
    assert call.hipGetProcAddress(b"hipGetDeviceProperties", byref(place), 700, 0, None) == 0
    found = structures.DeviceProperties()
    properties = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(place.value)
    assert properties(ctypes.addressof(found), 1) == 0
    assert found.gcnArchName == b"gfx1100"
    assert call.hipGetProcAddress(b"hipNoSuchFunction", byref(place), 700, 0, byref(status)) == 1
    assert (place.value, status.value) == (0, 1)
    assert call.hipGetProcAddress(b"hipNoSuchFunction", byref(place), 700, 0, None) == 1
