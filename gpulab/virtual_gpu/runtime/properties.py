"""What HIP reports about a virtual device: `device_properties` (hipDeviceProp_t) and `attribute`.

Values follow ROCm's runtime on the same hardware (clr: hip_device_runtime.cpp, hip_device.cpp) and the numbers of
`gpulab.architectures`.
"""

from __future__ import annotations

from gpulab.architectures import Architecture
from gpulab.virtual_gpu.runtime.structures import DeviceProperties

INT_MAX = 2**31 - 1

#: Architecture flags that AMD GPUs do not have (hipDeviceArch_t).
_ARCH_NO = {"hasFunnelShift", "hasSyncThreadsExt", "hasSurfaceFuncs", "hasDynamicParallelism"}


def pci_bus(index: int) -> int:
    """Bus number of the device with this index."""
    return 3 + index


def device_name(architecture: Architecture) -> str:
    """The name HIP reports: the product, and that it is virtual."""
    return f"{architecture.product} (virtual)"


def uuid(architecture: Architecture, index: int) -> bytes:
    """16 bytes, as ROCm forms them: the text of the device's serial number; here of name and index."""
    return f"{index:04x}{architecture.name[-4:]:0>4}gpulab00".encode()


def device_properties(architecture: Architecture, index: int) -> DeviceProperties:
    """hipDeviceProp_tR0600 of a device."""
    a = architecture
    p = DeviceProperties()
    p.name = device_name(a).encode()
    p.uuid = uuid(a, index)
    p.totalGlobalMem = a.memory_bytes
    p.sharedMemPerBlock = a.max_lds_bytes_per_workgroup
    p.sharedMemPerBlockOptin = a.max_lds_bytes_per_workgroup
    p.sharedMemPerMultiprocessor = a.lds_bytes_per_unit
    p.maxSharedMemoryPerMultiProcessor = a.max_lds_bytes_per_workgroup
    p.regsPerBlock = p.regsPerMultiprocessor = a.registers_per_unit
    p.warpSize = a.wave_size
    p.memPitch = INT_MAX
    p.maxThreadsPerBlock = a.max_threads_per_block
    p.maxThreadsDim = a.max_block
    p.maxGridSize = a.max_grid
    p.clockRate = a.clock_mhz * 1000
    p.memoryClockRate = a.memory_clock_mhz * 1000
    p.memoryBusWidth = a.memory_bus_bits
    p.totalConstMem = INT_MAX
    p.major, p.minor = a.major, a.minor
    p.textureAlignment = p.surfaceAlignment = 256
    p.texturePitchAlignment = 256
    p.multiProcessorCount = a.multiprocessors
    p.integrated = int(a.unified_memory)
    p.canMapHostMemory = 1
    p.concurrentKernels = 1
    p.ECCEnabled = int("sramecc+" in a.gcn_arch_name)
    p.pciBusID, p.pciDeviceID, p.pciDomainID = pci_bus(index), 0, 0
    p.asyncEngineCount, p.deviceOverlap = 8, 1
    p.unifiedAddressing = 1
    p.l2CacheSize = p.persistingL2CacheMaxSize = a.l2_cache.bytes
    p.maxThreadsPerMultiProcessor = a.max_threads_per_unit
    p.maxBlocksPerMultiProcessor = a.max_waves_per_unit
    p.streamPrioritiesSupported = 1
    p.globalL1CacheSupported = p.localL1CacheSupported = 1
    p.managedMemory = p.concurrentManagedAccess = p.directManagedMemAccessFromHost = 1
    p.cooperativeLaunch = 1
    p.hostNativeAtomicSupported = 1
    p.hostRegisterSupported = 1
    p.memoryPoolsSupported = p.ipcEventSupported = 1
    p.gcnArchName = a.gcn_arch_name.encode()
    p.clockInstructionRate = a.wall_clock_khz
    p.isLargeBar = 1
    p.asicRevision = a.asic_revision
    for name in p.arch.NAMES:
        setattr(p.arch, name, int(name not in _ARCH_NO))
    if a.image_support:
        p.maxTexture1D = p.maxSurface1D = 16384
        p.maxTexture2D = p.maxSurface2D = (16384, 16384)
        p.maxTexture3D = p.maxSurface3D = (16384, 16384, 8192)
        p.maxTexture1DLinear = p.maxTexture1DMipmap = INT_MAX
        p.maxTexture2DLinear = (16384, 16384, 262144)
        p.maxTexture1DLayered = p.maxSurface1DLayered = (16384, 8192)
        p.maxTexture2DLayered = p.maxSurface2DLayered = (16384, 16384, 8192)
    return p


# hipDeviceAttribute_t -> field of hipDeviceProp_t (and its index, for an array).
_FIELDS: dict[int, str | tuple[str, int]] = {
    0: "ECCEnabled",
    1: "accessPolicyMaxWindowSize",
    2: "asyncEngineCount",
    3: "canMapHostMemory",
    4: "canUseHostPointerForRegisteredMem",
    5: "clockRate",
    6: "computeMode",
    7: "computePreemptionSupported",
    8: "concurrentKernels",
    9: "concurrentManagedAccess",
    10: "cooperativeLaunch",
    11: "cooperativeMultiDeviceLaunch",
    12: "deviceOverlap",
    13: "directManagedMemAccessFromHost",
    14: "globalL1CacheSupported",
    15: "hostNativeAtomicSupported",
    16: "integrated",
    17: "isMultiGpuBoard",
    18: "kernelExecTimeoutEnabled",
    19: "l2CacheSize",
    20: "localL1CacheSupported",
    22: "luidDeviceNodeMask",
    23: "major",
    24: "managedMemory",
    25: "maxBlocksPerMultiProcessor",
    26: ("maxThreadsDim", 0),
    27: ("maxThreadsDim", 1),
    28: ("maxThreadsDim", 2),
    29: ("maxGridSize", 0),
    30: ("maxGridSize", 1),
    31: ("maxGridSize", 2),
    32: "maxSurface1D",
    33: ("maxSurface1DLayered", 0),
    34: ("maxSurface2D", 0),
    35: ("maxSurface2DLayered", 0),
    36: ("maxSurface3D", 0),
    37: "maxSurfaceCubemap",
    38: ("maxSurfaceCubemapLayered", 0),
    39: "maxTexture1D",
    40: ("maxTexture1DLayered", 0),
    41: "maxTexture1DLinear",
    42: "maxTexture1DMipmap",
    43: ("maxTexture2D", 0),
    44: ("maxTexture2D", 1),
    45: ("maxTexture2DGather", 0),
    46: ("maxTexture2DLayered", 0),
    47: ("maxTexture2DLinear", 0),
    48: ("maxTexture2DMipmap", 0),
    49: ("maxTexture3D", 0),
    50: ("maxTexture3D", 1),
    51: ("maxTexture3D", 2),
    52: ("maxTexture3DAlt", 0),
    53: "maxTextureCubemap",
    54: ("maxTextureCubemapLayered", 0),
    55: ("maxThreadsDim", 0),
    56: "maxThreadsPerBlock",
    57: "maxThreadsPerMultiProcessor",
    58: "memPitch",
    59: "memoryBusWidth",
    60: "memoryClockRate",
    61: "minor",
    62: "multiGpuBoardGroupID",
    63: "multiProcessorCount",
    65: "pageableMemoryAccess",
    66: "pageableMemoryAccessUsesHostPageTables",
    67: "pciBusID",
    68: "pciDeviceID",
    69: "pciDomainID",
    70: "persistingL2CacheMaxSize",
    71: "regsPerBlock",
    72: "regsPerMultiprocessor",
    73: "reservedSharedMemPerBlock",
    74: "sharedMemPerBlock",
    75: "sharedMemPerBlockOptin",
    76: "sharedMemPerMultiprocessor",
    77: "singleToDoublePrecisionPerfRatio",
    78: "streamPrioritiesSupported",
    79: "surfaceAlignment",
    80: "tccDriver",
    81: "textureAlignment",
    82: "texturePitchAlignment",
    83: "totalConstMem",
    85: "unifiedAddressing",
    87: "warpSize",
    88: "memoryPoolsSupported",
    90: "hostRegisterSupported",
    91: "memoryPoolSupportedHandleTypes",
    10000: "clockInstructionRate",
    10002: "maxSharedMemoryPerMultiProcessor",
    10007: "cooperativeMultiDeviceUnmatchedFunc",
    10008: "cooperativeMultiDeviceUnmatchedGridDim",
    10009: "cooperativeMultiDeviceUnmatchedBlockDim",
    10010: "cooperativeMultiDeviceUnmatchedSharedMem",
    10011: "isLargeBar",
    10012: "asicRevision",
}

#: Attributes that exist and that a virtual device answers with zero: it has no such thing.
_ZERO = {
    21,  # luid
    92,  # host NUMA id
    93,  # dma-buf
    94,  # GPUDirect RDMA with VMM
    95,  # fabric handles
    10005,  # HDP flush registers
    10006,
    10021,  # expert scheduling
    10022,  # dynamic data prefetch regions
}

#: hipDeviceAttributeTotalGlobalMem does not fit an int: clr writes a size_t for it. An int is what the
#: prototype has, so it is clamped.
_TOTAL_GLOBAL_MEMORY = 84


def attribute(architecture: Architecture, properties: DeviceProperties, number: int) -> int | None:
    """The value of a hipDeviceAttribute_t; None if there is no such attribute."""
    a = architecture
    place = _FIELDS.get(number)
    if place is not None:
        value = getattr(properties, place) if isinstance(place, str) else getattr(properties, place[0])[place[1]]
        return min(int(value), INT_MAX)
    if number in _ZERO:
        return 0
    more = {
        _TOTAL_GLOBAL_MEMORY: min(a.memory_bytes, INT_MAX),
        89: 1,  # virtual memory management
        10013: 1,  # waiting for a value: hipStreamWaitValue32 and relatives
        10014: int(a.image_support),
        10015: a.compute_units if a.unit_name == "CU" else a.multiprocessors,
        10016: 1,  # fine-grained memory
        10017: a.wall_clock_khz,
        10018: a.xcds,
        10019: a.max_vgprs + a.max_agprs,
        10020: a.pci_chip_id,
    }
    return more.get(number)


def numbers() -> list[int]:
    """All attribute numbers that have an answer."""
    return sorted({*_FIELDS, *_ZERO, _TOTAL_GLOBAL_MEMORY, 89, 10013, 10014, 10015, 10016, 10017, 10018, 10019, 10020})
