"""HIP's calls on devices, contexts, peers, limits and errors from C.

Codes, flags and enumerations: HIP's API reference and hip_runtime_api.h. 1 is hipErrorInvalidValue, 101
hipErrorInvalidDevice.
"""

import ctypes
import gc

import pytest

from gpulab.virtual_gpu.runtime import structures

byref = ctypes.byref


@pytest.fixture
def number(call):
    """The int that a call leaves where its first argument points."""
    return lambda name, *arguments: call.number(name, *arguments)


def test_initialisation_and_versions(call, number):
    from rocm import version

    major, minor, patch = version.HIP_VERSION_TUPLE[:3]
    assert (call.hipInit(0), call.hipInit(1)) == (0, 1)
    for name in ("hipDriverGetVersion", "hipRuntimeGetVersion"):
        assert number(name) == major * 10_000_000 + minor * 100_000 + patch
    assert call.hipDriverGetVersion(None) == call.hipRuntimeGetVersion(None) == 1


def test_names_and_texts_of_errors(call, hip):
    """The strings stay where they are: a program may keep the pointer."""
    named = {int(error): error.name for error in hip.hipError_t}
    for code, name in named.items():
        place, kept = ctypes.c_char_p(), ctypes.c_char_p()
        assert call.hipDrvGetErrorName(code, byref(place)) == 0
        assert call.hipGetErrorName(code) == place.value == name.encode()
        assert call.hipDrvGetErrorString(code, byref(kept)) == 0
        assert call.hipGetErrorString(code) == kept.value
        assert kept.value != place.value
        assert place.value == name.encode()
    assert call.hipGetErrorName(12345) == b"hipErrorUnknown"
    assert call.hipGetErrorString(12345) == b"unknown error"
    for function in (call.hipDrvGetErrorName, call.hipDrvGetErrorString):
        place = ctypes.c_void_p(7)
        assert function(12345, byref(place)) == 1
        assert place.value is None


def test_devices_by_number(call, number):
    assert number("hipGetDeviceCount") == 2
    assert [number("hipDeviceGet", each) for each in (0, 1)] == [0, 1]
    assert call.hipDeviceGet(byref(ctypes.c_int()), 2) == 101
    assert call.hipSetDevice(1) == 0
    assert number("hipGetDevice") == number("hipCtxGetDevice") == 1
    wanted = (ctypes.c_int * 3)(1, 0, 5)
    for count, code in ((2, 0), (0, 0), (1, 0), (3, 1), (-1, 1)):
        assert call.hipSetValidDevices(wanted, count) == code
    assert call.hipSetValidDevices(None, 0) == 0
    assert call.hipSetValidDevices(None, 1) == 1
    wanted[1] = 5
    assert call.hipSetValidDevices(wanted, 2) == 101
    assert call.hipSetValidDevices(wanted, 1) == 0


def test_what_a_device_is_called(call, number):
    ids = []
    for device in (0, 1):
        properties = structures.DeviceProperties()
        assert call.hipGetDevicePropertiesR0600(byref(properties), device) == 0
        uuid = ctypes.create_string_buffer(17)
        assert call.hipDeviceGetUuid(uuid, device) == 0
        assert uuid.raw[16:] == b"\0"
        ids.append(uuid.raw[:16])
        assert bytes(structures.DeviceProperties.uuid.__get__(properties)) in uuid.raw
        major, minor = ctypes.c_int(), ctypes.c_int()
        assert call.hipDeviceComputeCapability(byref(major), byref(minor), device) == 0
        assert (major.value, minor.value) == ((9, 4), (11, 0))[device]
        assert (properties.major, properties.minor) == (major.value, minor.value)
        bus = ctypes.create_string_buffer(b"~" * 20, 20)
        assert call.hipDeviceGetPCIBusId(bus, 12, device) == 1  # "0000:03:00.0" and its end are 13 bytes
        assert bus.raw == b"~" * 20
        assert call.hipDeviceGetPCIBusId(bus, 13, device) == 0
        assert bus.value == b"0000:%02x:00.0" % properties.pciBusID
        assert bus.raw[13:] == b"~" * 7
        for text in (bus.value, bus.value[5:], bus.value[:-2], b" " + bus.value.upper()):
            assert number("hipDeviceGetByPCIBusId", text) == device
    assert ids[0] != ids[1]
    assert call.hipDeviceGetByPCIBusId(byref(ctypes.c_int()), b"0000:99:00.0") == 101
    assert call.hipDeviceGetPCIBusId(bus, 13, 2) == call.hipDeviceTotalMem(byref(ctypes.c_uint64()), 2) == 101
    assert [call.address("hipDeviceTotalMem", device) for device in (0, 1)] == [206141652992, 25753026560]
    assert [number("hipDeviceGetAttribute", 87, device) for device in (0, 1)] == [64, 32]  # the warp's size
    assert call.hipDeviceGetAttribute(byref(ctypes.c_int()), 86, 0) == 1
    name = ctypes.create_string_buffer(b"~" * 20, 20)
    assert call.hipDeviceGetName(name, 1, 0) == 0
    assert name.raw == b"\0" + b"~" * 19
    assert call.hipDeviceGetName(name, 0, 0) == 1
    assert call.hipDeviceGetName(None, 20, 0) == 1


@pytest.mark.parametrize(
    ("wanted", "device"),
    [
        ({}, 0),  # all alike: the first
        ({"warpSize": 32}, 1),
        ({"major": 11}, 1),
        ({"major": 9, "minor": 4}, 0),
        ({"totalGlobalMem": 1 << 35}, 0),
        ({"multiProcessorCount": 100}, 0),
        ({"clockRate": 2_500_000}, 1),
        ({"clockRate": 2_500_001}, 0),
        ({"sharedMemPerBlock": 65536, "maxThreadsPerBlock": 1024, "warpSize": 32}, 1),
        ({"clockRate": 2_200_000, "totalGlobalMem": 1 << 35, "multiProcessorCount": 304}, 0),
        ({"name": b"AMD Radeon RX 7900 XTX (virtual)", "totalGlobalMem": 1 << 37, "warpSize": 64}, 1),  # weighs most
    ],
)
def test_choosing_by_properties(call, number, wanted, device):
    assert number("hipChooseDeviceR0600", byref(structures.DeviceProperties(**wanted))) == device


def test_flags_of_a_device(call, number):
    """hipDeviceScheduleSpin 1, Yield 2, BlockingSync 4 (one of them), MapHost 8, LmemResizeToMax 16."""
    for flags in range(33):
        code = 0 if flags < 32 and flags & 7 in (0, 1, 2, 4) else 1
        assert call.hipSetDeviceFlags(flags) == code
        if not code:
            assert number("hipGetDeviceFlags") == number("hipCtxGetFlags") == flags
    assert call.hipDevicePrimaryCtxSetFlags(1, 4) == 0
    assert number("hipGetDeviceFlags") == 24 + 4
    for device, flags, active in ((0, 28, 1), (1, 4, 0)):
        found, is_active = ctypes.c_int(-1), ctypes.c_int(-1)
        assert call.hipDevicePrimaryCtxGetState(device, byref(found), byref(is_active)) == 0
        assert (found.value, is_active.value) == (flags, active)
    assert call.hipDevicePrimaryCtxSetFlags(1, 0) == 0
    assert call.hipSetDeviceFlags(0) == 0
    assert call.hipDevicePrimaryCtxSetFlags(2, 0) == 101
    assert call.hipDevicePrimaryCtxGetState(2, byref(found), byref(is_active)) == 101


def test_limits_of_a_device(call, hip):
    """hipLimit_t: stack 1 KiB, printf 4 MiB, heap 8 MiB; scratch from 0 to 4 GiB."""
    defaults = {
        "hipLimitStackSize": 1024, "hipLimitPrintfFifoSize": 4 << 20, "hipLimitMallocHeapSize": 8 << 20,
        "hipExtLimitScratchMin": 0, "hipExtLimitScratchMax": 4 << 30, "hipExtLimitScratchCurrent": 0,
    }  # fmt: skip
    for name, size in defaults.items():
        limit = int(getattr(hip.hipLimit_t, name))
        assert call.address("hipDeviceGetLimit", limit) == size
        assert call.hipDeviceSetLimit(limit, size + 4096) == 0
        assert call.address("hipDeviceGetLimit", limit) == size + 4096
        assert call.hipDeviceSetLimit(limit, size) == 0
    for limit in (3, int(hip.hipLimit_t.hipLimitRange)):
        assert call.hipDeviceSetLimit(limit, 1) == 215
        assert call.hipDeviceGetLimit(byref(ctypes.c_uint64()), limit) == 215


HEAP = """
__global__ void take(size_t bytes, int most, int* count) {
    *count = 0;
    while (*count < most && malloc(bytes)) ++*count;
}
__global__ void large(int* out) {
    char* p = (char*)malloc(40 << 20);
    p[0] = 1; p[(40 << 20) - 1] = 7;
    *out = p[0] + p[(40 << 20) - 1];
    free(p);
}
"""


@pytest.mark.parametrize(
    ("limit", "kernel", "arguments", "expected"),
    [
        (64 << 20, "large", (), 8),
        (1 << 20, "take", (1000, 2000), 1024),  # with 16 bytes of its own such a block has 1,024 bytes
        (0, "take", (1, 5), 0),
    ],
)  # fmt: skip
def test_the_limit_of_malloc_in_kernels(call, limit, kernel, arguments, expected):
    """hipLimitMallocHeapSize, as CUDA's programming guide has it: malloc gives null beyond it."""
    import gpulab

    gc.collect()  # a module of another test, whose heap is the larger one as long as it is loaded
    heap, out = 2, gpulab.zeros(1, "int32")
    try:
        assert call.hipDeviceSetLimit(heap, limit) == 0
        assert call.address("hipDeviceGetLimit", heap) == limit
        kernels = gpulab.compile(HEAP)
        kernels[kernel][1, 1](*arguments, out)
        assert out.to_host().tolist() == [expected]
    finally:
        assert call.hipDeviceSetLimit(heap, 8 << 20) == 0


GROWN = """
__device__ unsigned* taken[200];
__device__ int count;
__global__ void take(size_t bytes) {
    while (unsigned* p = (unsigned*)malloc(bytes)) {
        for (size_t i = 0; i < bytes / 4; i += 256) p[i] = count;
        p[bytes / 4 - 1] = count;
        taken[count++] = p;
    }
}
__global__ void check(size_t bytes, int* good) {
    *good = 1;
    for (int n = 0; n < count; n++) {
        for (size_t i = 0; i < bytes / 4; i += 256) *good &= taken[n][i] == n;
        *good &= taken[n][bytes / 4 - 1] == n;
    }
}
__global__ void give(int first) { while (count > first) delete[] taken[--count]; }
"""


@pytest.mark.full
def test_the_heap_grows_and_shrinks_after_it_was_used(call):
    """Blocks of 1 MiB: as many as the limit has room for, whenever it is set; those in use stay as they are."""
    import gpulab

    block, kernels, good = (1 << 20) - 16, gpulab.compile(GROWN), gpulab.zeros(1, "int32")
    count = kernels.variable("count", "int32")

    def fill(limit):
        assert call.hipDeviceSetLimit(2, limit << 20) == 0
        kernels["take"][1, 1](block)
        kernels["check"][1, 1](block, good)
        assert good.to_host().tolist() == [1]
        return int(count.to_host()[0])

    try:
        assert [fill(limit) for limit in (5, 8, 20, 2, 21, 37)] == [5, 8, 20, 20, 21, 37]
        kernels["give"][1, 1](3)  # blocks of four parts of the heap
        assert fill(37) == 37
        kernels["give"][1, 1](0)
        for limit in range(38, 43):  # what is given back is reused, so that the heap grows by one block each time
            assert fill(limit) == limit
        assert call.hipDeviceSetLimit(2, 43 << 20) == 2, "eight parts beside the first are the most"
        assert call.hipGetLastError() == 2
        kernels["give"][1, 1](0)
    finally:
        assert call.hipDeviceSetLimit(2, 8 << 20) == 0


STACK = """
__device__ __attribute__((noinline)) int deep(int n, int* seen) {
    volatile int room[64];
    for (int i = 0; i < 64; i++) room[i] = n + i;
    int below = n == 0 ? 0 : deep(n - 1, seen);
    return below + room[n & 63] - (n & 63) - n + 1;
}
__global__ void run(int n, int* out) { *out = deep(n, out); }
"""


@pytest.mark.full
@pytest.mark.parametrize("loaded_before", [False, True])
def test_the_limit_of_the_stack(call, loaded_before):
    """hipLimitStackSize: 200 calls of over 256 bytes need more than the stack has at first; at most 128 KiB - 16."""
    import gpulab

    out = gpulab.zeros(1, "int32")
    kernels = gpulab.compile(STACK)
    if loaded_before:
        with pytest.raises(gpulab.GpulabError, match="stack"):
            kernels["run"][1, 64](200, out)
    try:
        assert call.hipDeviceSetLimit(0, 128 << 10) == 1
        assert call.hipDeviceSetLimit(0, 96 << 10) == 0
        kernels["run"][1, 64](200, out)
        assert out.to_host().tolist() == [201]
    finally:
        assert call.hipDeviceSetLimit(0, 1024) == 0
    with pytest.raises(gpulab.GpulabError, match="stack"):
        kernels["run"][1, 64](200, out)


def test_hints_that_have_no_effect(call, number):
    """hipFuncCache_t has 0 to 3, hipSharedMemConfig 0 to 2 (banks of four bytes are 1)."""
    assert [call.hipDeviceSetCacheConfig(i) for i in range(-1, 5)] == [1, 0, 0, 0, 0, 1]
    assert [call.hipDeviceSetSharedMemConfig(i) for i in range(-1, 4)] == [1, 0, 0, 0, 1]
    assert number("hipDeviceGetCacheConfig") == 0
    assert number("hipDeviceGetSharedMemConfig") == 1
    least, greatest = ctypes.c_int(9), ctypes.c_int(9)
    assert call.hipDeviceGetStreamPriorityRange(byref(least), None) == 0
    assert call.hipDeviceGetStreamPriorityRange(None, byref(greatest)) == 0
    assert (least.value, greatest.value) == (1, -1)


def test_peers_and_links(call, number):
    for one, other, can in ((0, 1, 1), (1, 0, 1), (0, 0, 0), (1, 1, 0)):
        assert number("hipDeviceCanAccessPeer", one, other) == can
    for pair in ((0, 2), (2, 0)):
        for name in ("hipDeviceCanAccessPeer",):
            assert getattr(call, name)(byref(ctypes.c_int()), *pair) == 101
        assert call.hipDeviceGetP2PAttribute(byref(ctypes.c_int()), 0, *pair) == 101
        assert call.hipExtGetLinkTypeAndHopCount(*pair, byref(ctypes.c_int()), byref(ctypes.c_int())) == 101
    # hipDeviceP2PAttr: rank 0, accesses and atomics are possible, arrays are not.
    assert [number("hipDeviceGetP2PAttribute", i, 0, 1) for i in range(4)] == [0, 1, 1, 0]
    for attribute in (-1, 4):
        assert call.hipDeviceGetP2PAttribute(byref(ctypes.c_int()), attribute, 0, 1) == 1
    assert call.hipDeviceGetP2PAttribute(byref(ctypes.c_int()), 0, 1, 1) == 101
    link, hops = ctypes.c_int(), ctypes.c_int()
    assert call.hipExtGetLinkTypeAndHopCount(0, 1, byref(link), byref(hops)) == 0
    assert (link.value, hops.value) == (2, 1)  # HSA_AMD_LINK_INFO_TYPE_PCIE
    assert call.hipExtGetLinkTypeAndHopCount(1, 1, byref(link), byref(hops)) == 1
    assert call.hipDeviceEnablePeerAccess(1, 1) == 1
    assert call.hipDeviceEnablePeerAccess(2, 0) == 101
    assert call.hipDeviceDisablePeerAccess(2) == 101
    assert call.hipDeviceEnablePeerAccess(0, 0) == 101
    assert call.hipDeviceEnablePeerAccess(1, 0) == 0
    assert call.hipDeviceEnablePeerAccess(1, 0) == 704
    assert call.hipSetDevice(1) == 0
    assert call.hipDeviceDisablePeerAccess(0) == 705  # only in the other direction
    assert call.hipSetDevice(0) == 0
    assert call.hipDeviceDisablePeerAccess(1) == 0


def test_contexts_stack_up(call, number):
    one, two = (call.address("hipDevicePrimaryCtxRetain", device) for device in (0, 1))
    assert one != two
    assert call.address("hipCtxGetCurrent") == one
    created = call.address("hipCtxCreate", 0, 1)
    assert created == two
    assert call.address("hipCtxGetCurrent") == two
    assert call.hipCtxPushCurrent(one) == 0
    assert number("hipGetDevice") == 0
    popped = ctypes.c_uint64()
    assert call.hipCtxPopCurrent(byref(popped)) == 0
    assert popped.value == one
    assert number("hipGetDevice") == 1
    assert call.hipCtxDestroy(created) == 0
    assert number("hipGetDevice") == 0
    assert call.hipCtxPopCurrent(None) == 201  # hipErrorInvalidContext: nothing was pushed
    assert call.hipCtxDestroy(created) == 0
    assert number("hipGetDevice") == 0
    assert call.hipCtxSetCurrent(two) == 0
    assert number("hipGetDevice") == 1
    assert call.hipCtxSetCurrent(None) == 0
    assert number("hipGetDevice") == 1
    assert call.hipCtxSetCurrent(one) == 0
    for bad in (one - 1, two + 1):
        assert call.hipCtxPushCurrent(bad) == call.hipCtxSetCurrent(bad) == call.hipCtxDestroy(bad) == 201
    assert call.hipCtxCreate(byref(popped), 0, 2) == 101
    assert call.hipDevicePrimaryCtxRetain(byref(popped), 2) == 101
    assert (call.hipDevicePrimaryCtxRelease(1), call.hipDevicePrimaryCtxRelease(2)) == (0, 101)
    version = ctypes.c_int()
    assert call.hipCtxGetApiVersion(one, byref(version)) == 0
    assert version.value == 4


def test_the_host_waits_for_the_current_device(call):
    from gpulab.virtual_gpu import runtime

    for name in ("hipCtxSynchronize", "hipDeviceSynchronize"):
        memory, stream = call.address("hipMalloc", 4096), call.address("hipStreamCreateWithFlags", 1)
        before = runtime.instance().streams.host.us
        assert call.hipMemsetAsync(memory, 0, 4096, stream) == 0
        assert runtime.instance().streams.host.us == before
        assert getattr(call, name)() == 0
        assert runtime.instance().streams.host.us > before
        assert call.hipStreamDestroy(stream) == 0
        assert call.hipFree(memory) == 0


def test_resetting_a_device(call, number):
    """What belongs to the device is gone; the other device keeps its own."""
    assert call.hipSetDevice(1) == 0
    there = call.address("hipMalloc", 64)
    for reset in (lambda: call.hipDeviceReset(), lambda: call.hipDevicePrimaryCtxReset(0)):
        assert call.hipSetDevice(0) == 0
        memory, stream, event = (
            call.address("hipMalloc", 64),
            call.address("hipStreamCreate"),
            call.address("hipEventCreate"),
        )
        host = (ctypes.c_ubyte * 64)()
        assert call.hipHostRegister(host, 64, 0) == 0
        assert (
            call.hipSetDeviceFlags(1) == call.hipDeviceSetLimit(0, 1 << 14) == call.hipDeviceEnablePeerAccess(1, 0) == 0
        )
        assert reset() == 0
        assert (call.hipFree(memory), call.hipStreamDestroy(stream), call.hipEventDestroy(event)) == (1, 400, 400)
        assert call.hipHostUnregister(host) == 713
        assert number("hipGetDeviceFlags") == 0
        assert call.address("hipDeviceGetLimit", 0) == 1024
        assert call.hipDeviceDisablePeerAccess(1) == 705
    assert call.hipDevicePrimaryCtxReset(2) == 101
    assert call.hipFree(there) == 0


def test_hints_and_peers_of_contexts(call, number):
    """HIP's reference: hints on caches are ignored; peers are those of the devices (704, 705: enabled, not enabled)."""
    other = call.address("hipDevicePrimaryCtxRetain", 1)
    assert call.hipCtxSetCacheConfig(1) == call.hipCtxSetSharedMemConfig(2) == 0
    assert call.hipCtxSetCacheConfig(4) == call.hipCtxSetSharedMemConfig(3) == 1
    assert (number("hipCtxGetCacheConfig"), number("hipCtxGetSharedMemConfig")) == (0, 1)
    assert call.hipCtxEnablePeerAccess(other, 0) == 0
    assert call.hipCtxEnablePeerAccess(other, 0) == 704
    assert call.hipCtxDisablePeerAccess(other) == 0
    assert call.hipCtxDisablePeerAccess(other) == 705
    assert call.hipCtxEnablePeerAccess(0x1230, 0) == 201
