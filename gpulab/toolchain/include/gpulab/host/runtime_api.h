// HIP's runtime interface as host code sees it: the calls that gpulab's virtual library implements, by HIP's names and
// with HIP's default arguments; below them the C++ forms. Everything else of a whole program is in hip/hip_runtime.h.
#pragma once
#include "per_thread.h"
#include "structures.h"
#include "texture_api.h"
#include "memory_api.h"

extern "C" {
// versions and errors
hipError_t hipInit(unsigned int flags);
hipError_t hipDriverGetVersion(int* version);
hipError_t hipRuntimeGetVersion(int* version);
hipError_t hipGetLastError(void);
hipError_t hipExtGetLastError(void);
hipError_t hipPeekAtLastError(void);
const char* hipGetErrorName(hipError_t error);
const char* hipGetErrorString(hipError_t error);
hipError_t hipDrvGetErrorName(hipError_t error, const char** text);
hipError_t hipDrvGetErrorString(hipError_t error, const char** text);

// devices
hipError_t hipGetDeviceCount(int* count);
hipError_t hipSetDevice(int device);
hipError_t hipSetValidDevices(int* devices, int count);
hipError_t hipGetDevice(int* device);
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device);
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal);
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device);
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device);
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device);
hipError_t hipDeviceGetPCIBusId(char* bus_id, int length, int device);
hipError_t hipDeviceGetByPCIBusId(int* device, const char* bus_id);
hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device);
hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int source, int target);
hipError_t hipDeviceGetLimit(size_t* value, enum hipLimit_t limit);
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value);
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* configuration);
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t configuration);
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* configuration);
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig configuration);
hipError_t hipGetDeviceFlags(unsigned int* flags);
hipError_t hipSetDeviceFlags(unsigned flags);
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest);
hipError_t hipExtGetLinkTypeAndHopCount(int first, int second, uint32_t* link, uint32_t* hops);
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags);
hipError_t hipDeviceDisablePeerAccess(int peer);

// memory
hipError_t hipMalloc(void** pointer, size_t bytes);
hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned int flags);
hipError_t hipFree(void* pointer);
hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned int flags);
hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned int flags);
hipError_t hipMallocHost(void** pointer, size_t bytes);
hipError_t hipMemAllocHost(void** pointer, size_t bytes);
hipError_t hipHostFree(void* pointer);
hipError_t hipFreeHost(void* pointer);
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int flags);
hipError_t hipHostGetFlags(unsigned int* flags, void* pointer);
hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned int flags);
hipError_t hipHostUnregister(void* pointer);
hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned int flags = hipMemAttachGlobal);
hipError_t hipMemAdvise(const void* pointer, size_t count, hipMemoryAdvise advice, int device);
hipError_t hipMemPrefetchAsync(const void* pointer, size_t count, int device, hipStream_t stream = nullptr);
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t length = 0,
                                   unsigned int flags = hipMemAttachSingle);
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int element_bytes);
hipError_t hipMalloc3D(hipPitchedPtr* pitched, hipExtent extent);
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream);
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device);
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool);
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device);
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep);
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value);
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value);
hipError_t hipMemGetInfo(size_t* free, size_t* total);
hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes);
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer);
hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer);
hipError_t hipMemcpy(void* target, const void* source, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyWithStream(void* target, const void* source, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyHtoD(hipDeviceptr_t target, const void* source, size_t bytes);
hipError_t hipMemcpyDtoH(void* target, hipDeviceptr_t source, size_t bytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t target, const void* source, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void* target, hipDeviceptr_t source, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyAsync(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream = nullptr);
hipError_t hipMemcpyPeer(void* target, int target_device, const void* source, int source_device, size_t bytes);
hipError_t hipMemcpyPeerAsync(void* target, int target_device, const void* source, int source_device, size_t bytes,
                              hipStream_t stream = nullptr);
hipError_t hipMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                       size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                            size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters);
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream = nullptr);
hipError_t hipMemset(void* target, int value, size_t bytes);
hipError_t hipMemsetAsync(void* target, int value, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemsetD8(hipDeviceptr_t target, unsigned char value, size_t count);
hipError_t hipMemsetD8Async(hipDeviceptr_t target, unsigned char value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemsetD16(hipDeviceptr_t target, unsigned short value, size_t count);
hipError_t hipMemsetD16Async(hipDeviceptr_t target, unsigned short value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemsetD32(hipDeviceptr_t target, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t target, int value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemset2D(void* target, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream = nullptr);
hipError_t hipMemset3D(hipPitchedPtr target, int value, hipExtent extent);
hipError_t hipMemset3DAsync(hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream = nullptr);
hipError_t hipGetSymbolAddress(void** pointer, const void* symbol);
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol);
hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset = 0,
                             hipMemcpyKind kind = hipMemcpyHostToDevice);
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset = 0,
                               hipMemcpyKind kind = hipMemcpyDeviceToHost);
hipError_t hipMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream = nullptr);

// streams and events
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags);
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority);
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t words, const uint32_t* mask);
hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t words, uint32_t* mask);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags = 0);
hipError_t hipStreamWriteValue32(hipStream_t stream, void* target, uint32_t value, unsigned int flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void* target, uint64_t value, unsigned int flags);
hipError_t hipStreamWaitValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned int flags,
                                uint32_t mask = 0xFFFFFFFF);
hipError_t hipStreamWaitValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned int flags,
                                uint64_t mask = 0xFFFFFFFFFFFFFFFF);
hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams* operations,
                               unsigned int flags);
hipError_t hipStreamSetAttribute(hipStream_t stream, hipStreamAttrID attribute, const hipStreamAttrValue* value);
hipError_t hipStreamGetAttribute(hipStream_t stream, hipStreamAttrID attribute, hipStreamAttrValue* value);
hipError_t hipStreamCopyAttributes(hipStream_t target, hipStream_t source);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags);
hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* id);
hipError_t hipStreamGetPriority(hipStream_t stream, int* priority);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data, unsigned int flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data);
int hipGetStreamDeviceId(hipStream_t stream);
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream = nullptr, unsigned int flags = 0);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

// modules
hipError_t hipModuleLoad(hipModule_t* module, const char* file);
hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int count, hipJitOption* options,
                               void** values);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int shared_bytes, hipStream_t stream, void** parameters, void** extra);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared_bytes, hipStream_t stream,
                                            void** parameters);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block_threads,
                                                              size_t dynamic_shared_bytes);
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                   size_t dynamic_shared_bytes, int limit);

// kernels by their name in the source
hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                           hipStream_t stream = nullptr);
hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags);
hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int shared_bytes, hipStream_t stream);
hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* configuration, const void* function, void** arguments);
hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol);
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function);
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function);
hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value);
hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t configuration);
hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig configuration);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_threads,
                                                        size_t dynamic_shared_bytes);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_threads,
                                                                 size_t dynamic_shared_bytes,
                                                                 unsigned int flags = hipOccupancyDefault);
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function, size_t dynamic_shared_bytes,
                                             int limit);
hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int block_threads);

// contexts
hipError_t hipCtxCreate(hipCtx_t* context, unsigned int flags, hipDevice_t device);
hipError_t hipCtxDestroy(hipCtx_t context);
hipError_t hipCtxPopCurrent(hipCtx_t* context);
hipError_t hipCtxPushCurrent(hipCtx_t context);
hipError_t hipCtxSetCurrent(hipCtx_t context);
hipError_t hipCtxGetCurrent(hipCtx_t* context);
hipError_t hipCtxGetDevice(hipDevice_t* device);
hipError_t hipCtxSynchronize(void);
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device);
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device);
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device);
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active);
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags);
hipError_t hipCtxGetApiVersion(hipCtx_t context, unsigned int* version);
hipError_t hipCtxGetFlags(unsigned int* flags);
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config);
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config);
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config);
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config);
hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned int flags);
hipError_t hipCtxDisablePeerAccess(hipCtx_t peer);

// functions by name; what only a profiler hears of, and HIP's reference has answer hipErrorNotSupported
hipError_t hipGetProcAddress(const char* symbol, void** function, int version, uint64_t flags,
                             hipDriverProcAddressQueryResult* status);
hipError_t hipProfilerStart(void);
hipError_t hipProfilerStop(void);

// what Clang calls for <<<>>>
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream);
}
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipChooseDevice hipChooseDeviceR0600

// Typed forms: hipMalloc(&x, bytes) with a float* x, symbols by reference, kernels by name.
template <typename T>
static inline hipError_t hipMalloc(T** pointer, size_t bytes) {
  return hipMalloc((void**)pointer, bytes);
}
template <typename T>
static inline hipError_t hipMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return hipMallocPitch((void**)pointer, pitch, width, height);
}
template <typename T>
static inline hipError_t hipHostMalloc(T** pointer, size_t bytes, unsigned int flags = hipHostMallocDefault) {
  return hipHostMalloc((void**)pointer, bytes, flags);
}
template <typename T>
static inline hipError_t hipHostAlloc(T** pointer, size_t bytes, unsigned int flags = hipHostAllocDefault) {
  return hipHostAlloc((void**)pointer, bytes, flags);
}
template <typename T>
static inline hipError_t hipMallocManaged(T** pointer, size_t bytes, unsigned int flags = hipMemAttachGlobal) {
  return hipMallocManaged((void**)pointer, bytes, flags);
}
template <typename T>
static inline hipError_t hipMallocAsync(T** pointer, size_t bytes, hipStream_t stream) {
  return hipMallocAsync((void**)pointer, bytes, stream);
}
template <typename T>
static inline hipError_t hipMallocFromPoolAsync(T** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return hipMallocFromPoolAsync((void**)pointer, bytes, pool, stream);
}
static inline hipError_t hipMallocAsync(void** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return hipMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <typename T>
static inline hipError_t hipMallocAsync(T** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return hipMallocFromPoolAsync((void**)pointer, bytes, pool, stream);
}
template <typename T>
static inline hipError_t hipGetSymbolAddress(void** pointer, const T& symbol) {
  return hipGetSymbolAddress(pointer, reinterpret_cast<const void*>(&symbol));
}
template <typename T>
static inline hipError_t hipGetSymbolSize(size_t* bytes, const T& symbol) {
  return hipGetSymbolSize(bytes, reinterpret_cast<const void*>(&symbol));
}
template <typename T>
static inline hipError_t hipMemcpyToSymbol(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyHostToDevice) {
  return hipMemcpyToSymbol(reinterpret_cast<const void*>(&symbol), source, bytes, offset, kind);
}
template <typename T>
static inline hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes, size_t offset,
                                                hipMemcpyKind kind, hipStream_t stream = nullptr) {
  return hipMemcpyToSymbolAsync(reinterpret_cast<const void*>(&symbol), source, bytes, offset, kind, stream);
}
template <typename T>
static inline hipError_t hipMemcpyFromSymbol(void* target, const T& symbol, size_t bytes, size_t offset = 0,
                                             hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  return hipMemcpyFromSymbol(target, reinterpret_cast<const void*>(&symbol), bytes, offset, kind);
}
template <typename T>
static inline hipError_t hipMemcpyFromSymbolAsync(void* target, const T& symbol, size_t bytes, size_t offset,
                                                  hipMemcpyKind kind, hipStream_t stream = nullptr) {
  return hipMemcpyFromSymbolAsync(target, reinterpret_cast<const void*>(&symbol), bytes, offset, kind, stream);
}
template <typename F>
static inline hipError_t hipLaunchCooperativeKernel(F function, dim3 grid, dim3 block, void** arguments,
                                                    unsigned int shared_bytes, hipStream_t stream) {
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes,
                                    stream);
}
template <typename F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F function, int block_threads,
                                                                      size_t dynamic_shared_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(function), block_threads,
                                                      dynamic_shared_bytes);
}
template <typename F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F function,
                                                                               int block_threads,
                                                                               size_t dynamic_shared_bytes,
                                                                               unsigned int flags) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(function),
                                                               block_threads, dynamic_shared_bytes, flags);
}
template <typename F>
static inline hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, F function, int blocks,
                                                                  int block_threads) {
  return hipOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void*>(function), blocks,
                                                  block_threads);
}
template <typename F>
static inline hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, F function,
                                                           size_t dynamic_shared_bytes = 0, int limit = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void*>(function), dynamic_shared_bytes,
                                           limit);
}

#include "graphs.h"
#include "launches.h"

// A launch in one expression, as HIP's documentation writes it.
#define __GPULAB_LAUNCH__(kernel, grid, block, shared_bytes, stream, ...) \
  do {                                                                    \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__);   \
  } while (0)
#define hipLaunchKernelGGL(kernel, ...) __GPULAB_LAUNCH__((kernel), __VA_ARGS__)
