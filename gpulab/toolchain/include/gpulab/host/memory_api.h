// More of HIP's interface on memory: copies between devices and batches of copies, pools, virtual memory management, managed
// memory, processes.
// Part of runtime_api.h.
#pragma once
#include "structures.h"

enum hipMemAllocationGranularity_flags {
  hipMemAllocationGranularityMinimum = 0, hipMemAllocationGranularityRecommended = 1
};

typedef struct ihipMemGenericAllocationHandle* hipMemGenericAllocationHandle_t;

typedef struct hipMemcpy3DPeerParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  int srcDevice;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  int dstDevice;
  hipExtent extent;
} hipMemcpy3DPeerParms;

enum hipMemcpyFlags {
  hipMemcpyFlagDefault = 0, hipMemcpyFlagPreferOverlapWithCompute = 1, hipMemcpyFlagExtPreferCE = 256,
  hipMemcpyFlagExtOpSwap = 512, hipMemcpyFlagExtOpIndirectSrc = 1024, hipMemcpyFlagExtOpIndirectDst = 2048
};
enum hipMemcpySrcAccessOrder {
  hipMemcpySrcAccessOrderInvalid = 0, hipMemcpySrcAccessOrderStream = 1, hipMemcpySrcAccessOrderDuringApiCall = 2,
  hipMemcpySrcAccessOrderAny = 3, hipMemcpySrcAccessOrderMax = 2147483647
};
enum hipMemcpy3DOperandType {
  hipMemcpyOperandTypePointer = 1, hipMemcpyOperandTypeArray = 2, hipMemcpyOperandTypeMax = 2147483647
};
typedef struct hipMemcpyAttributes {
  enum hipMemcpySrcAccessOrder srcAccessOrder;
  hipMemLocation srcLocHint, dstLocHint;
  unsigned int flags;
} hipMemcpyAttributes;
typedef struct hipOffset3D {
  size_t x, y, z;
} hipOffset3D;
typedef struct hipMemcpy3DOperand {
  enum hipMemcpy3DOperandType type;
  union {
    struct {
      void* ptr;
      size_t rowLength, layerHeight;
      hipMemLocation locHint;
    } ptr;
    struct {
      hipArray_t array;
      hipOffset3D offset;
    } array;
  } op;
} hipMemcpy3DOperand;
typedef struct hipMemcpy3DBatchOp {
  hipMemcpy3DOperand src, dst;
  hipExtent extent;
  enum hipMemcpySrcAccessOrder srcAccessOrder;
  unsigned int flags;
} hipMemcpy3DBatchOp;

typedef struct hipMemPoolPtrExportData {
  unsigned char reserved[64];
} hipMemPoolPtrExportData;

typedef struct hipMemAllocationProp {
  hipMemAllocationType type;
  union {
    hipMemAllocationHandleType requestedHandleType;
    hipMemAllocationHandleType requestedHandleTypes;
  };
  hipMemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
  } allocFlags;
} hipMemAllocationProp;

typedef struct hipIpcMemHandle_st {
  char reserved[64];
} hipIpcMemHandle_t;
typedef struct hipIpcEventHandle_st {
  char reserved[64];
} hipIpcEventHandle_t;

#define hipMallocSignalMemory 0x2
#define hipDeviceMallocContiguous 0x4
#define hipIpcMemLazyEnablePeerAccess 0x01

extern "C" {
// copies and fillings
hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms* parameters);
hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms* parameters, hipStream_t stream = nullptr);
hipError_t hipMemcpyBatchAsync(void** targets, void** sources, size_t* sizes, size_t count,
                               hipMemcpyAttributes* attributes, size_t* attribute_indices, size_t attribute_count,
                               size_t* failed, hipStream_t stream = nullptr);
hipError_t hipMemcpy3DBatchAsync(size_t count, struct hipMemcpy3DBatchOp* copies, size_t* failed, unsigned long long flags,
                                 hipStream_t stream = nullptr);
hipError_t hipMemsetD2D8(hipDeviceptr_t target, size_t pitch, unsigned char value, size_t width, size_t height);
hipError_t hipMemsetD2D8Async(hipDeviceptr_t target, size_t pitch, unsigned char value, size_t width, size_t height,
                              hipStream_t stream = nullptr);
hipError_t hipMemsetD2D16(hipDeviceptr_t target, size_t pitch, unsigned short value, size_t width, size_t height);
hipError_t hipMemsetD2D16Async(hipDeviceptr_t target, size_t pitch, unsigned short value, size_t width, size_t height,
                               hipStream_t stream = nullptr);
hipError_t hipMemsetD2D32(hipDeviceptr_t target, size_t pitch, unsigned int value, size_t width, size_t height);
hipError_t hipMemsetD2D32Async(hipDeviceptr_t target, size_t pitch, unsigned int value, size_t width, size_t height,
                               hipStream_t stream = nullptr);

// pointers
hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t pointer);
hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer);

// managed memory
hipError_t hipMemRangeGetAttribute(void* data, size_t data_size, hipMemRangeAttribute attribute, const void* pointer,
                                   size_t count);
hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes, hipMemRangeAttribute* attributes,
                                    size_t attribute_count, const void* pointer, size_t count);
hipError_t hipMemAdvise_v2(const void* pointer, size_t count, hipMemoryAdvise advice, hipMemLocation location);
hipError_t hipMemPrefetchAsync_v2(const void* pointer, size_t count, hipMemLocation location, unsigned int flags,
                                  hipStream_t stream = nullptr);

// pools
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties);
hipError_t hipMemPoolDestroy(hipMemPool_t pool);
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* descriptions, size_t count);
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location);
hipError_t hipMemPoolExportToShareableHandle(void* handle, hipMemPool_t pool, enum hipMemAllocationHandleType type,
                                             unsigned int flags);
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t* pool, void* handle, enum hipMemAllocationHandleType type,
                                               unsigned int flags);
hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData* data, void* pointer);
hipError_t hipMemPoolImportPointer(void** pointer, hipMemPool_t pool, hipMemPoolPtrExportData* data);
hipError_t hipMemGetDefaultMemPool(hipMemPool_t* pool, hipMemLocation* location, hipMemAllocationType type);
hipError_t hipMemGetMemPool(hipMemPool_t* pool, hipMemLocation* location, hipMemAllocationType type);
hipError_t hipMemSetMemPool(hipMemLocation* location, hipMemAllocationType type, hipMemPool_t pool);

// virtual memory management
hipError_t hipMemAddressReserve(void** pointer, size_t size, size_t alignment, void* address, unsigned long long flags);
hipError_t hipMemAddressFree(void* pointer, size_t size);
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size, const hipMemAllocationProp* properties,
                        unsigned long long flags);
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
hipError_t hipMemMap(void* pointer, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags);
hipError_t hipMemUnmap(void* pointer, size_t size);
hipError_t hipMemSetAccess(void* pointer, size_t size, const hipMemAccessDesc* descriptions, size_t count);
hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer);
hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* properties,
                                          hipMemAllocationGranularity_flags option);
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* properties,
                                                   hipMemGenericAllocationHandle_t handle);
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* pointer);
hipError_t hipMemExportToShareableHandle(void* result, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags);
hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* handle, void* given,
                                           hipMemAllocationHandleType type);

// several processes
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer);
hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned int flags);
hipError_t hipIpcCloseMemHandle(void* pointer);
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event);
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle);
}
