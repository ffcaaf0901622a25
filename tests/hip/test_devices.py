"""Devices, properties, attributes, limits, peers, contexts: values of the HIP reference and of the hardware."""

import ctypes

import pytest

from tests.hip.conftest import ok


def test_two_devices_and_their_names(hip):
    assert ok(hip.hipGetDeviceCount()) == 2
    names = [ok(hip.hipGetDeviceProperties(i)).name for i in range(2)]
    assert names == ["AMD Instinct MI300X (virtual)", "AMD Radeon RX 7900 XTX (virtual)"]


def test_properties_of_the_mi300x(hip):
    p = ok(hip.hipGetDeviceProperties(0))
    # ROCm documentation, "GPU hardware specifications", and what HIP reports on the card.
    assert p.gcnArchName == "gfx942:sramecc+:xnack-"
    assert (p.warpSize, p.multiProcessorCount, p.maxThreadsPerBlock) == (64, 304, 1024)
    assert (p.sharedMemPerBlock, p.regsPerBlock, p.maxThreadsPerMultiProcessor) == (65536, 131072, 2048)
    assert (p.totalGlobalMem, p.memoryBusWidth, p.clockRate) == (206141652992, 8192, 2100000)
    assert (p.major, p.minor, p.l2CacheSize) == (9, 4, 4194304)
    assert list(p.maxGridSize) == [2147483647, 65536, 65536]
    assert list(p.maxThreadsDim) == [1024, 1024, 1024]
    # The last fields show that the whole structure lies where hip-python expects it.
    assert (p.isLargeBar, p.asicRevision) == (1, 1)
    assert p.arch.hasWarpShuffle == 1
    assert p.arch.hasDynamicParallelism == 0


def test_properties_of_the_rx_7900_xtx(hip):
    p = ok(hip.hipGetDeviceProperties(1))
    assert p.gcnArchName == "gfx1100"
    assert (p.warpSize, p.multiProcessorCount, p.maxThreadsPerMultiProcessor) == (32, 48, 2048)
    assert (p.totalGlobalMem, p.memoryBusWidth, p.l2CacheSize) == (25753026560, 384, 6291456)
    assert (p.major, p.minor) == (11, 0)


def test_the_structures_have_hip_pythons_sizes(hip):
    from gpulab.virtual_gpu.runtime import structures

    for name, ours in (
        ("hipDeviceProp_t", structures.DeviceProperties),
        ("hipPointerAttribute_t", structures.PointerAttributes),
        ("hipMemcpy3DParms", structures.Memcpy3D),
        ("HIP_MEMCPY3D", structures.DriverMemcpy3D),
        ("hip_Memcpy2D", structures.Memcpy2D),
        ("hipFuncAttributes", structures.FunctionAttributes),
        ("hipPitchedPtr", structures.PitchedPtr),
        ("hipExtent", structures.Extent),
        ("hipMemcpy3DPeerParms", structures.Memcpy3DPeer),
    ):
        assert ctypes.sizeof(ours) == getattr(hip, name)().c_sizeof(), name


def test_every_attribute_has_an_answer(hip):
    not_attributes = {64, 86, 9999, 10001, 10003, 10004, 19999, 20000}  # unused numbers and range marks
    for attribute in hip.hipDeviceAttribute_t:
        code, value = hip.hipDeviceGetAttribute(attribute, 0)
        if int(attribute) in not_attributes:
            assert code == hip.hipError_t.hipErrorInvalidValue, attribute
        else:
            assert int(code) == 0, attribute
            assert isinstance(value, int)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("WarpSize", (64, 32)),
        ("MaxThreadsPerBlock", (1024, 1024)),
        ("MultiprocessorCount", (304, 48)),
        ("ClockRate", (2100000, 2500000)),
        ("MaxSharedMemoryPerBlock", (65536, 65536)),
        ("NumberOfXccs", (8, 1)),
        ("PciChipId", (0x74A1, 0x744C)),
        ("ImageSupport", (0, 1)),
        ("ComputeCapabilityMajor", (9, 11)),
        ("EccEnabled", (1, 0)),
        ("WallClockRate", (100000, 100000)),
        ("PhysicalMultiProcessorCount", (304, 48)),  # in WGP mode clr halves what the runtime below says
        ("FineGrainSupport", (1, 1)),
        ("MaxAvailableVgprsPerThread", (512, 256)),
    ],
)
def test_attributes(hip, name, values):
    attribute = getattr(hip.hipDeviceAttribute_t, f"hipDeviceAttribute{name}")
    assert tuple(ok(hip.hipDeviceGetAttribute(attribute, i)) for i in range(2)) == values


def test_a_wrong_device_number(hip):
    invalid = hip.hipError_t.hipErrorInvalidDevice
    assert hip.hipSetDevice(7)[0] == invalid
    assert hip.hipSetDevice(-1)[0] == invalid
    assert hip.hipGetDeviceProperties(2)[0] == invalid
    assert hip.hipDeviceGetAttribute(hip.hipDeviceAttribute_t.hipDeviceAttributeWarpSize, 2)[0] == invalid
    assert ok(hip.hipGetDevice()) == 0


def test_the_current_device_is_each_threads_own(hip):
    import threading

    seen = []
    ok(hip.hipSetDevice(1))
    thread = threading.Thread(target=lambda: seen.append(ok(hip.hipGetDevice())))
    thread.start()
    thread.join()
    assert seen == [0]
    assert ok(hip.hipGetDevice()) == 1


def test_names_bus_ids_and_memory(hip):
    assert str(ok(hip.hipDeviceGetName(256, 1))) == "AMD Radeon RX 7900 XTX (virtual)"
    assert str(ok(hip.hipDeviceGetName(4, 1))) == "AMD"
    bus = ok(hip.hipDeviceGetPCIBusId(32, 1))
    assert str(bus) == "0000:04:00.0"
    assert ok(hip.hipDeviceGetByPCIBusId(bus)) == 1
    assert ok(hip.hipDeviceTotalMem(0)) == 206141652992
    assert ok(hip.hipDeviceComputeCapability(1)) == (11, 0)


def test_versions(hip):
    from rocm import version

    major, minor, patch = version.HIP_VERSION_TUPLE[:3]
    assert ok(hip.hipRuntimeGetVersion()) == major * 10_000_000 + minor * 100_000 + patch


def test_limits_from_the_beginning(hip):
    """HIP's documentation, hipLimit_t: stack and heap; what hipDeviceSetLimit has not set."""
    limit = hip.hipLimit_t
    assert ok(hip.hipDeviceGetLimit(limit.hipLimitStackSize)) == 1024
    assert ok(hip.hipDeviceGetLimit(limit.hipLimitMallocHeapSize)) == 8 << 20
    assert ok(hip.hipDeviceGetLimit(limit.hipLimitPrintfFifoSize)) == 4 << 20


def test_limits(hip):
    stack = hip.hipLimit_t.hipLimitStackSize
    before = ok(hip.hipDeviceGetLimit(stack))
    ok(hip.hipDeviceSetLimit(stack, 4096))
    assert ok(hip.hipDeviceGetLimit(stack)) == 4096
    ok(hip.hipDeviceSetLimit(stack, before))
    assert hip.hipDeviceGetLimit(hip.hipLimit_t.hipLimitRange)[0] == hip.hipError_t.hipErrorUnsupportedLimit


def test_peers(hip):
    e = hip.hipError_t
    assert ok(hip.hipDeviceCanAccessPeer(0, 1)) == 1
    assert ok(hip.hipDeviceCanAccessPeer(1, 1)) == 0
    assert hip.hipDeviceCanAccessPeer(0, 5)[0] == e.hipErrorInvalidDevice
    assert hip.hipDeviceDisablePeerAccess(1)[0] == e.hipErrorPeerAccessNotEnabled
    ok(hip.hipDeviceEnablePeerAccess(1, 0))
    assert hip.hipDeviceEnablePeerAccess(1, 0)[0] == e.hipErrorPeerAccessAlreadyEnabled
    assert hip.hipDeviceEnablePeerAccess(0, 0)[0] == e.hipErrorInvalidDevice
    assert hip.hipDeviceEnablePeerAccess(1, 3)[0] == e.hipErrorInvalidValue
    ok(hip.hipDeviceDisablePeerAccess(1))


def test_contexts(hip):
    context = ok(hip.hipDevicePrimaryCtxRetain(1))
    ok(hip.hipCtxPushCurrent(context))
    assert ok(hip.hipGetDevice()) == 1
    ok(hip.hipCtxPopCurrent())
    assert ok(hip.hipGetDevice()) == 0
    ok(hip.hipDevicePrimaryCtxRelease(1))


def test_stream_priorities(hip):
    assert ok(hip.hipDeviceGetStreamPriorityRange()) == (1, -1)


def test_choosing_a_device(hip):
    wanted = hip.hipDeviceProp_t()
    ctypes.memset(int(wanted), 0, hip.hipDeviceProp_t().c_sizeof())
    wanted.warpSize = 32
    assert ok(hip.hipChooseDevice(wanted)) == 1
