// Libraries of kernels, and launches in HIP's other forms: with attributes, for several devices, and with arguments that
// the compiler converts.
#pragma once
#include <tuple>
#include <utility>

#include "structures.h"

typedef struct HIP_LAUNCH_CONFIG_st {
  unsigned int gridDimX, gridDimY, gridDimZ;
  unsigned int blockDimX, blockDimY, blockDimZ;
  unsigned int sharedMemBytes;
  hipStream_t hStream;
  hipLaunchAttribute* attrs;
  unsigned int numAttrs;
} HIP_LAUNCH_CONFIG;
typedef struct hipLaunchParams_t {
  void* func;
  dim3 gridDim;
  dim3 blockDim;
  void** args;
  size_t sharedMem;
  hipStream_t stream;
} hipLaunchParams;
typedef struct hipFunctionLaunchParams_t {
  hipFunction_t function;
  unsigned int gridDimX, gridDimY, gridDimZ;
  unsigned int blockDimX, blockDimY, blockDimZ;
  unsigned int sharedMemBytes;
  hipStream_t hStream;
  void** kernelParams;
} hipFunctionLaunchParams;

extern "C" {
hipError_t hipLibraryLoadData(hipLibrary_t* library, const void* image, enum hipJitOption** jit_options,
                              void** jit_values, unsigned int jit_count, enum hipLibraryOption** options,
                              void** values, unsigned int count);
hipError_t hipLibraryLoadFromFile(hipLibrary_t* library, const char* path, enum hipJitOption** jit_options,
                                  void** jit_values, unsigned int jit_count, enum hipLibraryOption** options,
                                  void** values, unsigned int count);
hipError_t hipLibraryUnload(hipLibrary_t library);
hipError_t hipLibraryGetKernel(hipKernel_t* kernel, hipLibrary_t library, const char* name);
hipError_t hipLibraryGetKernelCount(unsigned int* count, hipLibrary_t library);
hipError_t hipLibraryEnumerateKernels(hipKernel_t* kernels, unsigned int count, hipLibrary_t library);
hipError_t hipLibraryGetGlobal(void** pointer, size_t* bytes, hipLibrary_t library, const char* name);
hipError_t hipLibraryGetManaged(void** pointer, size_t* bytes, hipLibrary_t library, const char* name);
hipError_t hipKernelGetFunction(hipFunction_t* function, hipKernel_t kernel);
hipError_t hipKernelGetLibrary(hipLibrary_t* library, hipKernel_t kernel);
hipError_t hipKernelGetName(const char** name, hipKernel_t kernel);
hipError_t hipKernelGetParamInfo(hipKernel_t kernel, size_t index, size_t* offset, size_t* bytes);
hipError_t hipKernelGetAttribute(int* value, enum hipFunction_attribute attribute, hipKernel_t kernel,
                                 hipDevice_t device);
hipError_t hipKernelSetAttribute(enum hipFunction_attribute attribute, int value, hipKernel_t kernel,
                                 hipDevice_t device);
hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* configuration, hipFunction_t function, void** parameters,
                                void** extra);
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams* launches, unsigned int count,
                                                       unsigned int flags);
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* launches, int count, unsigned int flags);
hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* launches, int count, unsigned int flags);
hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t module);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function,
                                                                       int block_threads, size_t dynamic_shared_bytes,
                                                                       unsigned int flags);
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                            size_t dynamic_shared_bytes, int limit,
                                                            unsigned int flags);
const char* hipKernelNameRef(const hipFunction_t function);
const char* hipKernelNameRefByPtr(const void* function, hipStream_t stream);
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);
hipError_t hipSetupArgument(const void* argument, size_t bytes, size_t offset);
hipError_t hipLaunchByPtr(const void* function);
}

// The addresses of a tuple's values from `index` on. (Programs may be C++11: no std::apply, no fold.)
template <size_t index, size_t count>
struct __gpulab_addresses__ {
  template <typename Values>
  static void take(Values& values, void** places) {
    places[index] = const_cast<void*>(static_cast<const volatile void*>(&std::get<index>(values)));
    __gpulab_addresses__<index + 1, count>::take(values, places);
  }
};
template <size_t count>
struct __gpulab_addresses__<count, count> {
  template <typename Values>
  static void take(Values&, void**) {}
};

// A kernel's arguments, converted to its parameters, and an address of each.
template <typename... Parameters>
class __gpulab_arguments__ {
  std::tuple<Parameters...> values_;
  void* addresses_[sizeof...(Parameters) + 1] = {};

 public:
  template <typename... Arguments>
  explicit __gpulab_arguments__(Arguments&&... arguments) : values_(std::forward<Arguments>(arguments)...) {
    __gpulab_addresses__<0, sizeof...(Parameters)>::take(values_, addresses_);
  }
  void** addresses() { return addresses_; }
};

template <typename... Parameters, typename... Arguments>
static inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                                           Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
  __gpulab_arguments__<Parameters...> values(std::forward<Arguments>(arguments)...);
  return hipLaunchKernelExC(configuration, reinterpret_cast<const void*>(kernel), values.addresses());
}
template <typename F>
static inline hipError_t hipLaunchKernel(F function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                         hipStream_t stream) {
  return hipLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes, stream);
}
template <typename F>
static inline hipError_t hipExtLaunchKernel(F function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                            hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags) {
  return hipExtLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes, stream,
                            start, stop, flags);
}
template <typename F>
static inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, F* function) {
  return hipFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <typename F>
static inline hipError_t hipFuncSetAttribute(F* function, hipFuncAttribute attribute, int value) {
  return hipFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}

// The largest block whose dynamic LDS depends on its size: sizes from the largest down, in waves.
template <typename SharedBytes, typename F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, F function,
                                                                                SharedBytes shared_bytes, int limit = 0,
                                                                                unsigned int flags = 0) {
  if (!grid || !block) return hipErrorInvalidValue;
  int device{}, wave{}, units{}, most_resident{};
  hipFuncAttributes attributes;
  hipError_t error = hipGetDevice(&device);
  if (!error) error = hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, device);
  if (!error) error = hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
  if (!error) error = hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(function));
  if (error) return error;
  int largest = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < largest) largest = limit;
  *grid = *block = 0;
  for (int size = largest; size > 0; size = (size - 1) / wave * wave) {
    int blocks{};
    error = hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, reinterpret_cast<const void*>(function), size, static_cast<size_t>(shared_bytes(size)), flags);
    if (error) return error;
    if (blocks * size > most_resident) most_resident = blocks * size, *block = size, *grid = blocks * units;
  }
  return hipSuccess;
}
template <typename SharedBytes, typename F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F function,
                                                                       SharedBytes shared_bytes, int limit = 0) {
  return hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, function, shared_bytes, limit);
}
template <typename F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, F function,
                                                                    size_t dynamic_shared_bytes = 0, int limit = 0,
                                                                    unsigned int flags = 0) {
  return flags & ~1u ? hipErrorInvalidValue
                     : hipOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void*>(function),
                                                         dynamic_shared_bytes, limit);
}
