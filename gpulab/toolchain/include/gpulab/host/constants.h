// The constants of HIP's host interface: names and numbers of HIP 7 (hip_runtime_api.h, driver_types.h).
// tests/programs/test_headers.py compares them with those of AMD's Python package.
#pragma once

enum { HIP_SUCCESS = 0, HIP_ERROR_INVALID_VALUE, HIP_ERROR_NOT_INITIALIZED, HIP_ERROR_LAUNCH_OUT_OF_RESOURCES };
enum [[nodiscard]] hipError_t {
  hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorMemoryAllocation = 2,
  hipErrorNotInitialized = 3, hipErrorInitializationError = 3, hipErrorDeinitialized = 4, hipErrorProfilerDisabled
  = 5, hipErrorProfilerNotInitialized = 6, hipErrorProfilerAlreadyStarted = 7, hipErrorProfilerAlreadyStopped = 8,
  hipErrorInvalidConfiguration = 9, hipErrorInvalidPitchValue = 12, hipErrorInvalidSymbol = 13,
  hipErrorInvalidDevicePointer = 17, hipErrorInvalidMemcpyDirection = 21, hipErrorInsufficientDriver = 35,
  hipErrorMissingConfiguration = 52, hipErrorPriorLaunchFailure = 53, hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100, hipErrorInvalidDevice = 101, hipErrorInvalidImage = 200, hipErrorInvalidContext = 201,
  hipErrorContextAlreadyCurrent = 202, hipErrorMapFailed = 205, hipErrorMapBufferObjectFailed = 205,
  hipErrorUnmapFailed = 206, hipErrorArrayIsMapped = 207, hipErrorAlreadyMapped = 208, hipErrorNoBinaryForGpu =
  209, hipErrorAlreadyAcquired = 210, hipErrorNotMapped = 211, hipErrorNotMappedAsArray = 212,
  hipErrorNotMappedAsPointer = 213, hipErrorECCNotCorrectable = 214, hipErrorUnsupportedLimit = 215,
  hipErrorContextAlreadyInUse = 216, hipErrorPeerAccessUnsupported = 217, hipErrorInvalidKernelFile = 218,
  hipErrorInvalidGraphicsContext = 219, hipErrorInvalidSource = 300, hipErrorFileNotFound = 301,
  hipErrorSharedObjectSymbolNotFound = 302, hipErrorSharedObjectInitFailed = 303, hipErrorOperatingSystem = 304,
  hipErrorInvalidHandle = 400, hipErrorInvalidResourceHandle = 400, hipErrorIllegalState = 401, hipErrorNotFound =
  500, hipErrorNotReady = 600, hipErrorIllegalAddress = 700, hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702, hipErrorPeerAccessAlreadyEnabled = 704, hipErrorPeerAccessNotEnabled = 705,
  hipErrorSetOnActiveProcess = 708, hipErrorContextIsDestroyed = 709, hipErrorAssert = 710,
  hipErrorHostMemoryAlreadyRegistered = 712, hipErrorHostMemoryNotRegistered = 713, hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720, hipErrorNotSupported = 801, hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901, hipErrorStreamCaptureMerge = 902, hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904, hipErrorStreamCaptureIsolation = 905, hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907, hipErrorStreamCaptureWrongThread = 908, hipErrorGraphExecUpdateFailure = 910,
  hipErrorInvalidChannelDescriptor = 911, hipErrorInvalidTexture = 912, hipErrorInvalidResourceType = 914,
  hipErrorInvalidResourceConfiguration = 915, hipErrorStreamDetached = 916, hipErrorUnknown = 999,
  hipErrorRuntimeMemory = 1052, hipErrorRuntimeOther = 1053, hipErrorInvalidClusterSize = 1054, hipErrorTbd = 1055
};
enum hipMemcpyKind {
  hipMemcpyHostToHost = 0, hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4, hipMemcpyDeviceToDeviceNoCU = 1024
};
enum hipDeviceAttribute_t {
  hipDeviceAttributeCudaCompatibleBegin = 0, hipDeviceAttributeEccEnabled = 0,
  hipDeviceAttributeAccessPolicyMaxWindowSize = 1, hipDeviceAttributeAsyncEngineCount = 2,
  hipDeviceAttributeCanMapHostMemory = 3, hipDeviceAttributeCanUseHostPointerForRegisteredMem = 4,
  hipDeviceAttributeClockRate = 5, hipDeviceAttributeComputeMode = 6, hipDeviceAttributeComputePreemptionSupported
  = 7, hipDeviceAttributeConcurrentKernels = 8, hipDeviceAttributeConcurrentManagedAccess = 9,
  hipDeviceAttributeCooperativeLaunch = 10, hipDeviceAttributeCooperativeMultiDeviceLaunch = 11,
  hipDeviceAttributeDeviceOverlap = 12, hipDeviceAttributeDirectManagedMemAccessFromHost = 13,
  hipDeviceAttributeGlobalL1CacheSupported = 14, hipDeviceAttributeHostNativeAtomicSupported = 15,
  hipDeviceAttributeIntegrated = 16, hipDeviceAttributeIsMultiGpuBoard = 17, hipDeviceAttributeKernelExecTimeout =
  18, hipDeviceAttributeL2CacheSize = 19, hipDeviceAttributeLocalL1CacheSupported = 20, hipDeviceAttributeLuid =
  21, hipDeviceAttributeLuidDeviceNodeMask = 22, hipDeviceAttributeComputeCapabilityMajor = 23,
  hipDeviceAttributeManagedMemory = 24, hipDeviceAttributeMaxBlocksPerMultiProcessor = 25,
  hipDeviceAttributeMaxBlockDimX = 26, hipDeviceAttributeMaxBlockDimY = 27, hipDeviceAttributeMaxBlockDimZ = 28,
  hipDeviceAttributeMaxGridDimX = 29, hipDeviceAttributeMaxGridDimY = 30, hipDeviceAttributeMaxGridDimZ = 31,
  hipDeviceAttributeMaxSurface1D = 32, hipDeviceAttributeMaxSurface1DLayered = 33, hipDeviceAttributeMaxSurface2D
  = 34, hipDeviceAttributeMaxSurface2DLayered = 35, hipDeviceAttributeMaxSurface3D = 36,
  hipDeviceAttributeMaxSurfaceCubemap = 37, hipDeviceAttributeMaxSurfaceCubemapLayered = 38,
  hipDeviceAttributeMaxTexture1DWidth = 39, hipDeviceAttributeMaxTexture1DLayered = 40,
  hipDeviceAttributeMaxTexture1DLinear = 41, hipDeviceAttributeMaxTexture1DMipmap = 42,
  hipDeviceAttributeMaxTexture2DWidth = 43, hipDeviceAttributeMaxTexture2DHeight = 44,
  hipDeviceAttributeMaxTexture2DGather = 45, hipDeviceAttributeMaxTexture2DLayered = 46,
  hipDeviceAttributeMaxTexture2DLinear = 47, hipDeviceAttributeMaxTexture2DMipmap = 48,
  hipDeviceAttributeMaxTexture3DWidth = 49, hipDeviceAttributeMaxTexture3DHeight = 50,
  hipDeviceAttributeMaxTexture3DDepth = 51, hipDeviceAttributeMaxTexture3DAlt = 52,
  hipDeviceAttributeMaxTextureCubemap = 53, hipDeviceAttributeMaxTextureCubemapLayered = 54,
  hipDeviceAttributeMaxThreadsDim = 55, hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMaxThreadsPerMultiProcessor = 57, hipDeviceAttributeMaxPitch = 58,
  hipDeviceAttributeMemoryBusWidth = 59, hipDeviceAttributeMemoryClockRate = 60,
  hipDeviceAttributeComputeCapabilityMinor = 61, hipDeviceAttributeMultiGpuBoardGroupID = 62,
  hipDeviceAttributeMultiprocessorCount = 63, hipDeviceAttributeUnused1 = 64,
  hipDeviceAttributePageableMemoryAccess = 65, hipDeviceAttributePageableMemoryAccessUsesHostPageTables = 66,
  hipDeviceAttributePciBusId = 67, hipDeviceAttributePciDeviceId = 68, hipDeviceAttributePciDomainId = 69,
  hipDeviceAttributePciDomainID = 69, hipDeviceAttributePersistingL2CacheMaxSize = 70,
  hipDeviceAttributeMaxRegistersPerBlock = 71, hipDeviceAttributeMaxRegistersPerMultiprocessor = 72,
  hipDeviceAttributeReservedSharedMemPerBlock = 73, hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeSharedMemPerBlockOptin = 75, hipDeviceAttributeSharedMemPerMultiprocessor = 76,
  hipDeviceAttributeSingleToDoublePrecisionPerfRatio = 77, hipDeviceAttributeStreamPrioritiesSupported = 78,
  hipDeviceAttributeSurfaceAlignment = 79, hipDeviceAttributeTccDriver = 80, hipDeviceAttributeTextureAlignment =
  81, hipDeviceAttributeTexturePitchAlignment = 82, hipDeviceAttributeTotalConstantMemory = 83,
  hipDeviceAttributeTotalGlobalMem = 84, hipDeviceAttributeUnifiedAddressing = 85, hipDeviceAttributeUnused2 = 86,
  hipDeviceAttributeWarpSize = 87, hipDeviceAttributeMemoryPoolsSupported = 88,
  hipDeviceAttributeVirtualMemoryManagementSupported = 89, hipDeviceAttributeHostRegisterSupported = 90,
  hipDeviceAttributeMemoryPoolSupportedHandleTypes = 91, hipDeviceAttributeHostNumaId = 92,
  hipDeviceAttributeDmaBufSupported = 93, hipDeviceAttributeGPUDirectRDMAWithHipVMMSupported = 94,
  hipDeviceAttributeHandleTypeFabricSupported = 95, hipDeviceAttributeCudaCompatibleEnd = 9999,
  hipDeviceAttributeAmdSpecificBegin = 10000, hipDeviceAttributeClockInstructionRate = 10000,
  hipDeviceAttributeUnused3 = 10001, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor = 10002,
  hipDeviceAttributeUnused4 = 10003, hipDeviceAttributeUnused5 = 10004, hipDeviceAttributeHdpMemFlushCntl = 10005,
  hipDeviceAttributeHdpRegFlushCntl = 10006, hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc = 10007,
  hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim = 10008,
  hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim = 10009,
  hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem = 10010, hipDeviceAttributeIsLargeBar = 10011,
  hipDeviceAttributeAsicRevision = 10012, hipDeviceAttributeCanUseStreamWaitValue = 10013,
  hipDeviceAttributeImageSupport = 10014, hipDeviceAttributePhysicalMultiProcessorCount = 10015,
  hipDeviceAttributeFineGrainSupport = 10016, hipDeviceAttributeWallClockRate = 10017,
  hipDeviceAttributeNumberOfXccs = 10018, hipDeviceAttributeMaxAvailableVgprsPerThread = 10019,
  hipDeviceAttributePciChipId = 10020, hipDeviceAttributeExpertSchedMode = 10021,
  hipDeviceAttributeMaxDynDataPrefetchRegions = 10022, hipDeviceAttributeAmdSpecificEnd = 19999,
  hipDeviceAttributeVendorSpecificBegin = 20000
};
enum hipFunction_attribute {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3, HIP_FUNC_ATTRIBUTE_NUM_REGS =
  4, HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5, HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6, HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA =
  7, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT =
  9, HIP_FUNC_ATTRIBUTE_CLUSTER_DIM_MUST_BE_SET = 10, HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
  HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12, HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
  HIP_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
  HIP_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15, HIP_FUNC_ATTRIBUTE_MAX = 16
};
enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9,
  hipFuncAttributeClusterDimMustBeSet = 10, hipFuncAttributeRequiredClusterWidth = 11,
  hipFuncAttributeRequiredClusterHeight = 12, hipFuncAttributeRequiredClusterDepth = 13,
  hipFuncAttributeNonPortableClusterSizeAllowed = 14, hipFuncAttributeClusterSchedulingPolicyPreference = 15,
  hipFuncAttributeMax = 16
};
enum hipDriverProcAddressQueryResult {
  HIP_GET_PROC_ADDRESS_SUCCESS = 0, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
};
enum hipFuncCache_t {
  hipFuncCachePreferNone = 0, hipFuncCachePreferShared = 1, hipFuncCachePreferL1 = 2, hipFuncCachePreferEqual = 3
};
enum hipSharedMemConfig {
  hipSharedMemBankSizeDefault = 0, hipSharedMemBankSizeFourByte = 1, hipSharedMemBankSizeEightByte = 2
};
enum hipLimit_t {
  hipLimitStackSize = 0, hipLimitPrintfFifoSize = 1, hipLimitMallocHeapSize = 2, hipExtLimitScratchMin = 4096,
  hipExtLimitScratchMax = 4097, hipExtLimitScratchCurrent = 4098, hipLimitRange = 4099
};
enum hipMemoryType {
  hipMemoryTypeUnregistered = 0, hipMemoryTypeHost = 1, hipMemoryTypeDevice = 2, hipMemoryTypeManaged = 3,
  hipMemoryTypeArray = 10, hipMemoryTypeUnified = 11
};
enum hipComputeMode {
  hipComputeModeDefault = 0, hipComputeModeExclusive = 1, hipComputeModeProhibited = 2,
  hipComputeModeExclusiveProcess = 3
};
enum hipPointer_attribute {
  HIP_POINTER_ATTRIBUTE_CONTEXT = 1, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER =
  3, HIP_POINTER_ATTRIBUTE_HOST_POINTER = 4, HIP_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
  HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6, HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7, HIP_POINTER_ATTRIBUTE_IS_MANAGED =
  8, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE = 10,
  HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12, HIP_POINTER_ATTRIBUTE_MAPPED
  = 13, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
  HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17
};
enum hipChannelFormatKind {
  hipChannelFormatKindSigned = 0, hipChannelFormatKindUnsigned = 1, hipChannelFormatKindFloat = 2,
  hipChannelFormatKindNone = 3
};
enum hipMemoryAdvise {
  hipMemAdviseSetReadMostly = 1, hipMemAdviseUnsetReadMostly = 2, hipMemAdviseSetPreferredLocation = 3,
  hipMemAdviseUnsetPreferredLocation = 4, hipMemAdviseSetAccessedBy = 5, hipMemAdviseUnsetAccessedBy = 6,
  hipMemAdviseSetCoarseGrain = 100, hipMemAdviseUnsetCoarseGrain = 101
};
enum hipMemRangeAttribute {
  hipMemRangeAttributeReadMostly = 1, hipMemRangeAttributePreferredLocation = 2, hipMemRangeAttributeAccessedBy =
  3, hipMemRangeAttributeLastPrefetchLocation = 4, hipMemRangeAttributeCoherencyMode = 100
};
enum hipMemRangeCoherencyMode {
  hipMemRangeCoherencyModeFineGrain = 0, hipMemRangeCoherencyModeCoarseGrain = 1,
  hipMemRangeCoherencyModeIndeterminate = 2
};
enum hipMemPoolAttr {
  hipMemPoolReuseFollowEventDependencies = 1, hipMemPoolReuseAllowOpportunistic = 2,
  hipMemPoolReuseAllowInternalDependencies = 3, hipMemPoolAttrReleaseThreshold = 4,
  hipMemPoolAttrReservedMemCurrent = 5, hipMemPoolAttrReservedMemHigh = 6, hipMemPoolAttrUsedMemCurrent = 7,
  hipMemPoolAttrUsedMemHigh = 8
};
enum hipMemAllocationType {
  hipMemAllocationTypeInvalid = 0, hipMemAllocationTypePinned = 1, hipMemAllocationTypeManaged = 2,
  hipMemAllocationTypeUncached = 1073741824, hipMemAllocationTypeMax = 2147483647
};
enum hipMemAllocationHandleType {
  hipMemHandleTypeNone = 0, hipMemHandleTypePosixFileDescriptor = 1, hipMemHandleTypeWin32 = 2,
  hipMemHandleTypeWin32Kmt = 4, hipMemHandleTypeFabric = 8
};
enum hipMemLocationType {
  hipMemLocationTypeInvalid = 0, hipMemLocationTypeNone = 0, hipMemLocationTypeDevice = 1, hipMemLocationTypeHost
  = 2, hipMemLocationTypeHostNuma = 3, hipMemLocationTypeHostNumaCurrent = 4
};
enum hipMemAccessFlags {
  hipMemAccessFlagsProtNone = 0, hipMemAccessFlagsProtRead = 1, hipMemAccessFlagsProtReadWrite = 3
};
enum hipStreamBatchMemOpType {
  hipStreamMemOpWaitValue32 = 1, hipStreamMemOpWriteValue32 = 2, hipStreamMemOpFlushRemoteWrites = 3,
  hipStreamMemOpWaitValue64 = 4, hipStreamMemOpWriteValue64 = 5, hipStreamMemOpBarrier = 6
};
enum hipAccessProperty {
  hipAccessPropertyNormal = 0, hipAccessPropertyStreaming = 1, hipAccessPropertyPersisting = 2
};
enum hipSynchronizationPolicy {
  hipSyncPolicyAuto = 1, hipSyncPolicySpin = 2, hipSyncPolicyYield = 3, hipSyncPolicyBlockingSync = 4
};
enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal = 0, hipStreamCaptureModeThreadLocal = 1, hipStreamCaptureModeRelaxed = 2
};
enum hipStreamCaptureStatus {
  hipStreamCaptureStatusNone = 0, hipStreamCaptureStatusActive = 1, hipStreamCaptureStatusInvalidated = 2
};
enum hipDeviceP2PAttr {
  hipDevP2PAttrPerformanceRank = 0, hipDevP2PAttrAccessSupported = 1, hipDevP2PAttrNativeAtomicSupported = 2,
  hipDevP2PAttrHipArrayAccessSupported = 3
};
enum hipLibraryOption {
  hipLibraryHostUniversalFunctionAndDataTable = 0, hipLibraryBinaryIsPreserved = 1
};
enum hipJitOption {
  hipJitOptionMaxRegisters = 0, hipJitOptionThreadsPerBlock = 1, hipJitOptionWallTime = 2,
  hipJitOptionInfoLogBuffer = 3, hipJitOptionInfoLogBufferSizeBytes = 4, hipJitOptionErrorLogBuffer = 5,
  hipJitOptionErrorLogBufferSizeBytes = 6, hipJitOptionOptimizationLevel = 7, hipJitOptionTargetFromContext = 8,
  hipJitOptionTarget = 9, hipJitOptionFallbackStrategy = 10, hipJitOptionGenerateDebugInfo = 11,
  hipJitOptionLogVerbose = 12, hipJitOptionGenerateLineInfo = 13, hipJitOptionCacheMode = 14, hipJitOptionSm3xOpt
  = 15, hipJitOptionFastCompile = 16, hipJitOptionGlobalSymbolNames = 17, hipJitOptionGlobalSymbolAddresses = 18,
  hipJitOptionGlobalSymbolCount = 19, hipJitOptionLto = 20, hipJitOptionFtz = 21, hipJitOptionPrecDiv = 22,
  hipJitOptionPrecSqrt = 23, hipJitOptionFma = 24, hipJitOptionPositionIndependentCode = 25,
  hipJitOptionMinCTAPerSM = 26, hipJitOptionMaxThreadsPerBlock = 27, hipJitOptionOverrideDirectiveValues = 28,
  hipJitOptionNumOptions = 29, hipJitOptionIRtoISAOptExt = 10000, hipJitOptionIRtoISAOptCountExt = 10001
};
enum hipLaunchAttributeID {
  hipLaunchAttributeIgnore = 0, hipLaunchAttributeAccessPolicyWindow = 1, hipLaunchAttributeCooperative = 2,
  hipLaunchAttributeSynchronizationPolicy = 3, hipLaunchAttributeClusterDimension = 4,
  hipLaunchAttributeClusterSchedulingPolicyPreference = 5, hipLaunchAttributePriority = 8,
  hipLaunchAttributeMemSyncDomainMap = 9, hipLaunchAttributeMemSyncDomain = 10,
  hipLaunchAttributeExtDynDataPrefetch = 1024, hipLaunchAttributeMax = 1025
};
enum hipArray_Format {
  HIP_AD_FORMAT_UNSIGNED_INT8 = 1, HIP_AD_FORMAT_UNSIGNED_INT16 = 2, HIP_AD_FORMAT_UNSIGNED_INT32 = 3,
  HIP_AD_FORMAT_SIGNED_INT8 = 8, HIP_AD_FORMAT_SIGNED_INT16 = 9, HIP_AD_FORMAT_SIGNED_INT32 = 10,
  HIP_AD_FORMAT_HALF = 16, HIP_AD_FORMAT_FLOAT = 32
};
