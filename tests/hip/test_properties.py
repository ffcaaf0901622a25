"""hipDeviceAttribute_t: each number gives the property of its name. Names and numbers are hip-python's."""

import ctypes
import re

from gpulab import architectures
from gpulab.virtual_gpu.runtime import properties
from gpulab.virtual_gpu.runtime.structures import DeviceProperties

#: Where an attribute and its property have different names: HIP's reference, hipDeviceAttribute_t.
OTHER_NAMES = {
    "KernelExecTimeout": "kernelExecTimeoutEnabled", "ComputeCapabilityMajor": "major", "MaxPitch": "memPitch",
    "ComputeCapabilityMinor": "minor", "MaxRegistersPerBlock": "regsPerBlock",
    "MaxRegistersPerMultiprocessor": "regsPerMultiprocessor", "MaxSharedMemoryPerBlock": "sharedMemPerBlock",
    "TotalConstantMemory": "totalConstMem", "MaxThreadsDim": "maxThreadsDim[0]",
    **{f"MaxBlockDim{axis}": f"maxThreadsDim[{i}]" for i, axis in enumerate("XYZ")},
    **{f"MaxGridDim{axis}": f"maxGridSize[{i}]" for i, axis in enumerate("XYZ")},
    **{f"MaxTexture{n}D{side}": f"maxTexture{n}D[{i}]" for n in (2, 3) for i, side in enumerate(("Width", "Height"))},
    "CudaCompatibleBegin": "eccEnabled", "AmdSpecificBegin": "clockInstructionRate",  # names for the first of a range
    "MaxTexture1DWidth": "maxTexture1D", "MaxTexture3DDepth": "maxTexture3D[2]",
}  # fmt: skip
NOT_PROPERTIES = {
    "Luid", "HostNumaId", "DmaBufSupported", "GPUDirectRDMAWithHipVMMSupported",
    "HandleTypeFabricSupported", "HdpMemFlushCntl", "HdpRegFlushCntl", "ExpertSchedMode",
    "MaxDynDataPrefetchRegions",
}  # fmt: skip
OF_THE_ARCHITECTURE = {
    "TotalGlobalMem", "ImageSupport", "PhysicalMultiProcessorCount", "FineGrainSupport", "WallClockRate",
    "NumberOfXccs", "MaxAvailableVgprsPerThread", "PciChipId", "VirtualMemoryManagementSupported",
    "CanUseStreamWaitValue",
}  # fmt: skip


def numbered() -> tuple[DeviceProperties, dict[str, int]]:
    """Properties that all differ, and the value of each by its name in small letters."""
    found, values, value = DeviceProperties(), {}, 1000
    for name, kind, *_ in DeviceProperties._fields_:
        if kind in (ctypes.c_int, ctypes.c_uint, ctypes.c_size_t):
            value += 1
            setattr(found, name, value)
            values[name.lower()] = value
        elif hasattr(kind, "_length_") and kind._type_ is ctypes.c_int:
            for i in range(kind._length_):
                value += 1
                getattr(found, name)[i] = value
                values[f"{name}[{i}]".lower()] = value
    return found, values


def test_each_attribute_is_the_property_of_its_name(hip):
    given, values = numbered()
    a = architectures.get("gfx942")
    seen = set()
    for one in hip.hipDeviceAttribute_t:
        name = one.name.removeprefix("hipDeviceAttribute")
        got = properties.attribute(a, given, int(one))
        if name in NOT_PROPERTIES:
            assert got == 0, name
        elif re.match("Unused|CudaCompatibleEnd", name):
            assert got is None, name
        elif name not in OF_THE_ARCHITECTURE:
            wanted = OTHER_NAMES.get(name, name).lower()
            assert got == values.get(wanted, values.get(f"{wanted}[0]")), name
        if got is not None:
            seen.add(int(one))
    assert seen == set(properties.numbers())


def test_attributes_of_the_architecture_alone(hip):
    e = hip.hipDeviceAttribute_t
    for name, of_gfx942, of_gfx1100 in (
        ("TotalGlobalMem", 2**31 - 1, 2**31 - 1), ("ImageSupport", 0, 1), ("PhysicalMultiProcessorCount", 304, 48),
        ("FineGrainSupport", 1, 1), ("WallClockRate", 100_000, 100_000), ("NumberOfXccs", 8, 1),
        ("MaxAvailableVgprsPerThread", 512, 256), ("PciChipId", 0x74A1, 0x744C),
        ("VirtualMemoryManagementSupported", 1, 1), ("CanUseStreamWaitValue", 1, 1),
    ):  # fmt: skip
        number = int(getattr(e, f"hipDeviceAttribute{name}"))
        for arch, wanted in (("gfx942", of_gfx942), ("gfx1100", of_gfx1100)):
            a = architectures.get(arch)
            assert properties.attribute(a, properties.device_properties(a, 0), number) == wanted, name


#: What ROCm's runtime says of every device (clr, hipamd/src/hip_device.cpp): the same on all architectures.
SAME = {
    "memPitch": 2**31 - 1, "totalConstMem": 2**31 - 1, "textureAlignment": 256, "surfaceAlignment": 256,
    "texturePitchAlignment": 256, "canMapHostMemory": 1, "concurrentKernels": 1, "pciDeviceID": 0, "pciDomainID": 0,
    "asyncEngineCount": 8, "deviceOverlap": 1, "unifiedAddressing": 1, "streamPrioritiesSupported": 1,
    "globalL1CacheSupported": 1, "localL1CacheSupported": 1, "managedMemory": 1, "concurrentManagedAccess": 1,
    "directManagedMemAccessFromHost": 1, "cooperativeLaunch": 1, "cooperativeMultiDeviceLaunch": 0,
    "hostNativeAtomicSupported": 1, "hostRegisterSupported": 1, "memoryPoolsSupported": 1, "isLargeBar": 1,
    "ipcEventSupported": 1,
    "maxThreadsPerBlock": 1024, "tccDriver": 0, "computeMode": 0, "kernelExecTimeoutEnabled": 0,
    "clockInstructionRate": 100_000, "sharedMemPerBlock": 65536, "sharedMemPerBlockOptin": 65536,
    "maxSharedMemoryPerMultiProcessor": 65536,
}  # fmt: skip
OF_DEVICES = {
    "gfx942": {"memoryClockRate": 1_300_000, "sharedMemPerMultiprocessor": 65536, "ECCEnabled": 1, "integrated": 0,
               "maxBlocksPerMultiProcessor": 32, "l2CacheSize": 4 << 20, "persistingL2CacheMaxSize": 4 << 20,
               "maxTexture1D": 0, "maxSurface1D": 0},
    "gfx1100": {"memoryClockRate": 1_249_000, "sharedMemPerMultiprocessor": 131072, "ECCEnabled": 0, "integrated": 0,
                "maxBlocksPerMultiProcessor": 64, "l2CacheSize": 6 << 20, "persistingL2CacheMaxSize": 6 << 20,
                "maxTexture1D": 16384, "maxSurface1D": 16384, "maxTexture1DLinear": 2**31 - 1,
                "maxTexture1DMipmap": 2**31 - 1, "maxTexture2D": [16384] * 2, "maxSurface2D": [16384] * 2,
                "maxTexture3D": [16384, 16384, 8192], "maxSurface3D": [16384, 16384, 8192],
                "maxTexture2DLinear": [16384, 16384, 262144], "maxTexture1DLayered": [16384, 8192],
                "maxSurface1DLayered": [16384, 8192], "maxTexture2DLayered": [16384, 16384, 8192],
                "maxSurface2DLayered": [16384, 16384, 8192]},
}  # fmt: skip
#: hipDeviceArch_t: what AMD's devices lack.
LACKING = {"hasFunnelShift", "hasSyncThreadsExt", "hasSurfaceFuncs", "hasDynamicParallelism"}


def test_values_of_properties():
    for arch, own in OF_DEVICES.items():
        for index in (0, 5):
            p = properties.device_properties(architectures.get(arch), index)
            for name, wanted in {**SAME, **own}.items():
                got = getattr(p, name)
                assert (list(got) if isinstance(wanted, list) else got) == wanted, (arch, name)
            assert p.pciBusID == 3 + index
            assert {name for name in p.arch.NAMES if not getattr(p.arch, name)} == LACKING
            text = properties.uuid(architectures.get(arch), index)
            assert len(text) == 16
            assert text == f"{index:04x}".encode() + {"gfx942": b"x942", "gfx1100": b"1100"}[arch] + b"gpulab00"
