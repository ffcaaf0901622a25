"""HIP's C structures as ctypes: layouts of hip_runtime_api.h (HIP 7, the R0600 properties)."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_float, c_int, c_size_t, c_uint, c_void_p


class DeviceArch(ctypes.Structure):
    """hipDeviceArch_t: 17 one-bit flags in one word."""

    NAMES = (
        "hasGlobalInt32Atomics",
        "hasGlobalFloatAtomicExch",
        "hasSharedInt32Atomics",
        "hasSharedFloatAtomicExch",
        "hasFloatAtomicAdd",
        "hasGlobalInt64Atomics",
        "hasSharedInt64Atomics",
        "hasDoubles",
        "hasWarpVote",
        "hasWarpBallot",
        "hasWarpShuffle",
        "hasFunnelShift",
        "hasThreadFenceSystem",
        "hasSyncThreadsExt",
        "hasSurfaceFuncs",
        "has3dGrid",
        "hasDynamicParallelism",
    )
    _fields_ = [(name, c_uint, 1) for name in NAMES]


class DeviceProperties(ctypes.Structure):
    """hipDeviceProp_tR0600."""

    _fields_ = [
        ("name", c_char * 256),
        ("uuid", c_char * 16),
        ("luid", c_char * 8),
        ("luidDeviceNodeMask", c_uint),
        ("totalGlobalMem", c_size_t),
        ("sharedMemPerBlock", c_size_t),
        ("regsPerBlock", c_int),
        ("warpSize", c_int),
        ("memPitch", c_size_t),
        ("maxThreadsPerBlock", c_int),
        ("maxThreadsDim", c_int * 3),
        ("maxGridSize", c_int * 3),
        ("clockRate", c_int),
        ("totalConstMem", c_size_t),
        ("major", c_int),
        ("minor", c_int),
        ("textureAlignment", c_size_t),
        ("texturePitchAlignment", c_size_t),
        ("deviceOverlap", c_int),
        ("multiProcessorCount", c_int),
        ("kernelExecTimeoutEnabled", c_int),
        ("integrated", c_int),
        ("canMapHostMemory", c_int),
        ("computeMode", c_int),
        ("maxTexture1D", c_int),
        ("maxTexture1DMipmap", c_int),
        ("maxTexture1DLinear", c_int),
        ("maxTexture2D", c_int * 2),
        ("maxTexture2DMipmap", c_int * 2),
        ("maxTexture2DLinear", c_int * 3),
        ("maxTexture2DGather", c_int * 2),
        ("maxTexture3D", c_int * 3),
        ("maxTexture3DAlt", c_int * 3),
        ("maxTextureCubemap", c_int),
        ("maxTexture1DLayered", c_int * 2),
        ("maxTexture2DLayered", c_int * 3),
        ("maxTextureCubemapLayered", c_int * 2),
        ("maxSurface1D", c_int),
        ("maxSurface2D", c_int * 2),
        ("maxSurface3D", c_int * 3),
        ("maxSurface1DLayered", c_int * 2),
        ("maxSurface2DLayered", c_int * 3),
        ("maxSurfaceCubemap", c_int),
        ("maxSurfaceCubemapLayered", c_int * 2),
        ("surfaceAlignment", c_size_t),
        ("concurrentKernels", c_int),
        ("ECCEnabled", c_int),
        ("pciBusID", c_int),
        ("pciDeviceID", c_int),
        ("pciDomainID", c_int),
        ("tccDriver", c_int),
        ("asyncEngineCount", c_int),
        ("unifiedAddressing", c_int),
        ("memoryClockRate", c_int),
        ("memoryBusWidth", c_int),
        ("l2CacheSize", c_int),
        ("persistingL2CacheMaxSize", c_int),
        ("maxThreadsPerMultiProcessor", c_int),
        ("streamPrioritiesSupported", c_int),
        ("globalL1CacheSupported", c_int),
        ("localL1CacheSupported", c_int),
        ("sharedMemPerMultiprocessor", c_size_t),
        ("regsPerMultiprocessor", c_int),
        ("managedMemory", c_int),
        ("isMultiGpuBoard", c_int),
        ("multiGpuBoardGroupID", c_int),
        ("hostNativeAtomicSupported", c_int),
        ("singleToDoublePrecisionPerfRatio", c_int),
        ("pageableMemoryAccess", c_int),
        ("concurrentManagedAccess", c_int),
        ("computePreemptionSupported", c_int),
        ("canUseHostPointerForRegisteredMem", c_int),
        ("cooperativeLaunch", c_int),
        ("cooperativeMultiDeviceLaunch", c_int),
        ("sharedMemPerBlockOptin", c_size_t),
        ("pageableMemoryAccessUsesHostPageTables", c_int),
        ("directManagedMemAccessFromHost", c_int),
        ("maxBlocksPerMultiProcessor", c_int),
        ("accessPolicyMaxWindowSize", c_int),
        ("reservedSharedMemPerBlock", c_size_t),
        ("hostRegisterSupported", c_int),
        ("sparseHipArraySupported", c_int),
        ("hostRegisterReadOnlySupported", c_int),
        ("timelineSemaphoreInteropSupported", c_int),
        ("memoryPoolsSupported", c_int),
        ("gpuDirectRDMASupported", c_int),
        ("gpuDirectRDMAFlushWritesOptions", c_uint),
        ("gpuDirectRDMAWritesOrdering", c_int),
        ("memoryPoolSupportedHandleTypes", c_uint),
        ("deferredMappingHipArraySupported", c_int),
        ("ipcEventSupported", c_int),
        ("clusterLaunch", c_int),
        ("unifiedFunctionPointers", c_int),
        ("reserved", c_int * 63),
        ("hipReserved", c_int * 32),
        ("gcnArchName", c_char * 256),
        ("maxSharedMemoryPerMultiProcessor", c_size_t),
        ("clockInstructionRate", c_int),
        ("arch", DeviceArch),
        ("hdpMemFlushCntl", c_void_p),
        ("hdpRegFlushCntl", c_void_p),
        ("cooperativeMultiDeviceUnmatchedFunc", c_int),
        ("cooperativeMultiDeviceUnmatchedGridDim", c_int),
        ("cooperativeMultiDeviceUnmatchedBlockDim", c_int),
        ("cooperativeMultiDeviceUnmatchedSharedMem", c_int),
        ("isLargeBar", c_int),
        ("asicRevision", c_int),
    ]


class PointerAttributes(ctypes.Structure):
    """hipPointerAttribute_t."""

    _fields_ = [
        ("type", c_int),
        ("device", c_int),
        ("devicePointer", c_void_p),
        ("hostPointer", c_void_p),
        ("isManaged", c_int),
        ("allocationFlags", c_uint),
    ]


class Extent(ctypes.Structure):
    """hipExtent: width in bytes, height and depth in rows and slices."""

    _fields_ = [("width", c_size_t), ("height", c_size_t), ("depth", c_size_t)]


class PitchedPtr(ctypes.Structure):
    """hipPitchedPtr."""

    _fields_ = [("ptr", c_void_p), ("pitch", c_size_t), ("xsize", c_size_t), ("ysize", c_size_t)]


class Position(ctypes.Structure):
    """hipPos."""

    _fields_ = [("x", c_size_t), ("y", c_size_t), ("z", c_size_t)]


class Dim3(ctypes.Structure):
    """dim3."""

    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]


class IpcHandle(ctypes.Structure):
    """hipIpcMemHandle_t and hipIpcEventHandle_t."""

    _fields_ = [("reserved", c_char * 64)]


class ChannelFormat(ctypes.Structure):
    """hipChannelFormatDesc: bits of each component, and their kind."""

    _fields_ = [("x", c_int), ("y", c_int), ("z", c_int), ("w", c_int), ("f", c_int)]


class Memcpy3D(ctypes.Structure):
    """hipMemcpy3DParms."""

    _fields_ = [
        ("srcArray", c_void_p),
        ("srcPos", Position),
        ("srcPtr", PitchedPtr),
        ("dstArray", c_void_p),
        ("dstPos", Position),
        ("dstPtr", PitchedPtr),
        ("extent", Extent),
        ("kind", c_int),
    ]


class Memcpy3DPeer(ctypes.Structure):
    """hipMemcpy3DPeerParms."""

    _fields_ = [
        ("srcArray", c_void_p),
        ("srcPos", Position),
        ("srcPtr", PitchedPtr),
        ("srcDevice", c_int),
        ("dstArray", c_void_p),
        ("dstPos", Position),
        ("dstPtr", PitchedPtr),
        ("dstDevice", c_int),
        ("extent", Extent),
    ]


class DriverMemcpy3D(ctypes.Structure):
    """HIP_MEMCPY3D."""

    _fields_ = [
        ("srcXInBytes", c_size_t),
        ("srcY", c_size_t),
        ("srcZ", c_size_t),
        ("srcLOD", c_size_t),
        ("srcMemoryType", c_int),
        ("srcHost", c_void_p),
        ("srcDevice", c_void_p),
        ("srcArray", c_void_p),
        ("srcPitch", c_size_t),
        ("srcHeight", c_size_t),
        ("dstXInBytes", c_size_t),
        ("dstY", c_size_t),
        ("dstZ", c_size_t),
        ("dstLOD", c_size_t),
        ("dstMemoryType", c_int),
        ("dstHost", c_void_p),
        ("dstDevice", c_void_p),
        ("dstArray", c_void_p),
        ("dstPitch", c_size_t),
        ("dstHeight", c_size_t),
        ("WidthInBytes", c_size_t),
        ("Height", c_size_t),
        ("Depth", c_size_t),
    ]


class Memcpy2D(ctypes.Structure):
    """hip_Memcpy2D."""

    _fields_ = [
        ("srcXInBytes", c_size_t),
        ("srcY", c_size_t),
        ("srcMemoryType", c_int),
        ("srcHost", c_void_p),
        ("srcDevice", c_void_p),
        ("srcArray", c_void_p),
        ("srcPitch", c_size_t),
        ("dstXInBytes", c_size_t),
        ("dstY", c_size_t),
        ("dstMemoryType", c_int),
        ("dstHost", c_void_p),
        ("dstDevice", c_void_p),
        ("dstArray", c_void_p),
        ("dstPitch", c_size_t),
        ("WidthInBytes", c_size_t),
        ("Height", c_size_t),
    ]


class LinearResource(ctypes.Structure):
    """hipResourceDesc.res.linear."""

    _fields_ = [("devPtr", c_void_p), ("desc", ChannelFormat), ("sizeInBytes", c_size_t)]


class PitchedResource(ctypes.Structure):
    """hipResourceDesc.res.pitch2D."""

    _fields_ = [
        ("devPtr", c_void_p),
        ("desc", ChannelFormat),
        ("width", c_size_t),
        ("height", c_size_t),
        ("pitchInBytes", c_size_t),
    ]


class _Resource(ctypes.Union):
    _fields_ = [("array", c_void_p), ("linear", LinearResource), ("pitch2D", PitchedResource)]


class ResourceDescription(ctypes.Structure):
    """hipResourceDesc."""

    _fields_ = [("resType", c_int), ("res", _Resource)]


class TextureDescription(ctypes.Structure):
    """hipTextureDesc."""

    _fields_ = [
        ("addressMode", c_int * 3),
        ("filterMode", c_int),
        ("readMode", c_int),
        ("sRGB", c_int),
        ("borderColor", c_float * 4),
        ("normalizedCoords", c_int),
        ("maxAnisotropy", c_uint),
        ("mipmapFilterMode", c_int),
        ("mipmapLevelBias", c_float),
        ("minMipmapLevelClamp", c_float),
        ("maxMipmapLevelClamp", c_float),
    ]


class ResourceView(ctypes.Structure):
    """hipResourceViewDesc."""

    _fields_ = [
        ("format", c_int),
        ("width", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
        ("firstMipmapLevel", c_uint),
        ("lastMipmapLevel", c_uint),
        ("firstLayer", c_uint),
        ("lastLayer", c_uint),
    ]


class TextureReference(ctypes.Structure):
    """textureReference, which texture<...> of a program begins with."""

    _fields_ = [
        ("normalized", c_int),
        ("readMode", c_int),
        ("filterMode", c_int),
        ("addressMode", c_int * 3),
        ("channelDesc", ChannelFormat),
        ("sRGB", c_int),
        ("maxAnisotropy", c_uint),
        ("mipmapFilterMode", c_int),
        ("mipmapLevelBias", c_float),
        ("minMipmapLevelClamp", c_float),
        ("maxMipmapLevelClamp", c_float),
        ("textureObject", c_void_p),
        ("numChannels", c_int),
        ("format", c_int),
    ]


class DriverLinear(ctypes.Structure):
    """HIP_RESOURCE_DESC.res.linear."""

    _fields_ = [("devPtr", c_void_p), ("format", c_int), ("numChannels", c_uint), ("sizeInBytes", c_size_t)]


class DriverPitched(ctypes.Structure):
    """HIP_RESOURCE_DESC.res.pitch2D."""

    _fields_ = [
        ("devPtr", c_void_p),
        ("format", c_int),
        ("numChannels", c_uint),
        ("width", c_size_t),
        ("height", c_size_t),
        ("pitchInBytes", c_size_t),
    ]


class _DriverResource(ctypes.Union):
    _fields_ = [
        ("array", c_void_p),
        ("linear", DriverLinear),
        ("pitch2D", DriverPitched),
        ("reserved", c_int * 32),
    ]


class DriverResource(ctypes.Structure):
    """HIP_RESOURCE_DESC."""

    _fields_ = [("resType", c_int), ("res", _DriverResource), ("flags", c_uint)]


class DriverTexture(ctypes.Structure):
    """HIP_TEXTURE_DESC."""

    _fields_ = [
        ("addressMode", c_int * 3),
        ("filterMode", c_int),
        ("flags", c_uint),
        ("maxAnisotropy", c_uint),
        ("mipmapFilterMode", c_int),
        ("mipmapLevelBias", c_float),
        ("minMipmapLevelClamp", c_float),
        ("maxMipmapLevelClamp", c_float),
        ("borderColor", c_float * 4),
        ("reserved", c_int * 12),
    ]


class ArrayDescription(ctypes.Structure):
    """HIP_ARRAY_DESCRIPTOR."""

    _fields_ = [("Width", c_size_t), ("Height", c_size_t), ("Format", c_int), ("NumChannels", c_uint)]


class ArrayDescription3D(ctypes.Structure):
    """HIP_ARRAY3D_DESCRIPTOR."""

    _fields_ = [
        ("Width", c_size_t),
        ("Height", c_size_t),
        ("Depth", c_size_t),
        ("Format", c_int),
        ("NumChannels", c_uint),
        ("Flags", c_uint),
    ]


class FunctionAttributes(ctypes.Structure):
    """hipFuncAttributes."""

    _fields_ = [
        ("binaryVersion", c_int),
        ("cacheModeCA", c_int),
        ("constSizeBytes", c_size_t),
        ("localSizeBytes", c_size_t),
        ("maxDynamicSharedSizeBytes", c_int),
        ("maxThreadsPerBlock", c_int),
        ("numRegs", c_int),
        ("preferredShmemCarveout", c_int),
        ("ptxVersion", c_int),
        ("sharedSizeBytes", c_size_t),
    ]


class LaunchConfiguration(ctypes.Structure):
    """HIP_LAUNCH_CONFIG."""

    _fields_ = [
        ("gridDimX", c_uint),
        ("gridDimY", c_uint),
        ("gridDimZ", c_uint),
        ("blockDimX", c_uint),
        ("blockDimY", c_uint),
        ("blockDimZ", c_uint),
        ("sharedMemBytes", c_uint),
        ("hStream", c_void_p),
        ("attrs", c_void_p),
        ("numAttrs", c_uint),
    ]


class LaunchConfigurationEx(ctypes.Structure):
    """hipLaunchConfig_t."""

    _fields_ = [
        ("gridDim", c_uint * 3),
        ("blockDim", c_uint * 3),
        ("dynamicSmemBytes", ctypes.c_size_t),
        ("stream", c_void_p),
        ("attrs", c_void_p),
        ("numAttrs", c_uint),
    ]


ATTRIBUTE_COOPERATIVE = 2  # hipLaunchAttributeCooperative


class LaunchAttribute(ctypes.Structure):
    """hipLaunchAttribute: the value is a union of 64 bytes."""

    _fields_ = [("id", c_uint), ("padding", c_uint), ("value", ctypes.c_ubyte * 64)]


class MemoryLocation(ctypes.Structure):
    """hipMemLocation."""

    _fields_ = [("type", c_int), ("id", c_int)]


class AccessDescription(ctypes.Structure):
    """hipMemAccessDesc."""

    _fields_ = [("location", MemoryLocation), ("flags", c_int)]


class CopyAttributes(ctypes.Structure):
    """hipMemcpyAttributes."""

    _fields_ = [
        ("srcAccessOrder", c_int),
        ("srcLocHint", MemoryLocation),
        ("dstLocHint", MemoryLocation),
        ("flags", c_uint),
    ]


class _CopyPointer(ctypes.Structure):
    _fields_ = [
        ("ptr", c_void_p),
        ("rowLength", ctypes.c_size_t),
        ("layerHeight", ctypes.c_size_t),
        ("locHint", MemoryLocation),
    ]


class _CopyArray(ctypes.Structure):
    _fields_ = [("array", c_void_p), ("offset", Position)]


class _CopyPlace(ctypes.Union):
    _fields_ = [("ptr", _CopyPointer), ("array", _CopyArray)]


class CopyOperand(ctypes.Structure):
    """hipMemcpy3DOperand."""

    _fields_ = [("type", c_int), ("op", _CopyPlace)]


class BatchCopy3D(ctypes.Structure):
    """hipMemcpy3DBatchOp."""

    _fields_ = [
        ("src", CopyOperand),
        ("dst", CopyOperand),
        ("extent", Extent),
        ("srcAccessOrder", c_int),
        ("flags", c_uint),
    ]


class AllocationProperties(ctypes.Structure):
    """hipMemAllocationProp; the members of allocFlags are the last three."""

    _fields_ = [
        ("type", c_int),
        ("requestedHandleTypes", c_int),
        ("location", MemoryLocation),
        ("win32HandleMetaData", c_void_p),
        ("compressionType", ctypes.c_ubyte),
        ("gpuDirectRDMACapable", ctypes.c_ubyte),
        ("usage", ctypes.c_ushort),
    ]
