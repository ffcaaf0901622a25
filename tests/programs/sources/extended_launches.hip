// Launches in HIP's other forms, and each thread's own default stream.
// OPTIONS: -fgpu-default-stream=per-thread
// OUT: hipExtLaunchKernelGGL: 3, some time 1
// OUT: hipExtModuleLaunchKernel: 5
// OUT: hipLaunchKernelExC: 12
// OUT: hipLaunchKernelEx: 20
// OUT: hipLaunchByPtr: 21
// OUT: kernel of the name add: 1
// OUT: values in memory: 77, waited 0
// OUT: block of half the threads: 512, each whole number of waves tried once: 1
// OUT: sizes of blocks that are tried: as wanted
// OUT: too much LDS: 0 blocks of 0, flags: 1 0 1, no place: 1 1
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    hipError_t error = (call);                                                                   \
    if (error != hipSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));         \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

__global__ void add(int* x, int much) {
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *x += much;
}

int value(int* x) {
  int got = 0;
  CHECK(hipMemcpyAsync(&got, x, sizeof got, hipMemcpyDeviceToHost, 0));
  CHECK(hipStreamSynchronize(0));
  return got;
}

int main() {
  int* x;
  CHECK(hipMalloc(&x, 2 * sizeof *x));
  CHECK(hipMemsetAsync(x, 0, 2 * sizeof *x, 0));
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  hipExtLaunchKernelGGL(add, dim3(4), dim3(64), 0, 0, start, stop, 0, x, 3);
  CHECK(hipGetLastError());
  CHECK(hipEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  std::printf("hipExtLaunchKernelGGL: %d, some time %d\n", value(x), milliseconds > 0);

  hipFunction_t function;
  CHECK(hipGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  int much = 2;
  void* arguments[] = {&x, &much};
  CHECK(hipExtModuleLaunchKernel(function, 256, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
  CHECK(hipDeviceSynchronize());
  std::printf("hipExtModuleLaunchKernel: %d\n", value(x));

  hipLaunchAttribute cooperative = {};
  cooperative.id = hipLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  hipLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(4), configuration.blockDim = dim3(64);
  configuration.attrs = &cooperative, configuration.numAttrs = 1;
  much = 7;
  CHECK(hipLaunchKernelExC(&configuration, reinterpret_cast<const void*>(add), arguments));
  CHECK(hipDeviceSynchronize());
  std::printf("hipLaunchKernelExC: %d\n", value(x));
  CHECK(hipLaunchKernelEx(&configuration, add, x, 8.0));  // converted to the kernel's int
  CHECK(hipDeviceSynchronize());
  std::printf("hipLaunchKernelEx: %d\n", value(x));

  much = 1;
  CHECK(hipConfigureCall(dim3(1), dim3(1), 0, nullptr));
  CHECK(hipSetupArgument(&x, sizeof x, 0));
  CHECK(hipSetupArgument(&much, sizeof much, sizeof x));
  CHECK(hipLaunchByPtr(reinterpret_cast<const void*>(add)));
  CHECK(hipDeviceSynchronize());
  std::printf("hipLaunchByPtr: %d\n", value(x));
  std::printf("kernel of the name add: %d\n", std::strstr(hipKernelNameRef(function), "add") != nullptr);

  hipStreamBatchMemOpParams operations[2] = {};
  operations[0].writeValue = {hipStreamMemOpWriteValue32, x + 1, {77}, 0, nullptr};
  operations[1].waitValue = {hipStreamMemOpWaitValue32, x + 1, {70}, hipStreamWaitValueGte, nullptr};
  CHECK(hipStreamBatchMemOp(0, 2, operations, 0));
  std::printf("values in memory: %d, waited %d\n", value(x + 1),
              hipStreamWaitValue32(0, x + 1, 77, hipStreamWaitValueEq));
  int grid = 0, block = 0, wave = 0, tried = 0;
  CHECK(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0));
  CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMem(
      &grid, &block, add, [&](int threads) { return ++tried, threads * 2; }, 512));
  std::printf("block of half the threads: %d, each whole number of waves tried once: %d\n", block, tried * wave == 512);
  // the limit, then every whole number of waves below it
  int units = 0, blocks = 0;
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  for (int limit : {200, wave + 1, wave, 1, 0, 5000}) {
    std::vector<int> tried_sizes, wanted = {limit == 0 || limit > 1024 ? 1024 : limit};
    for (int size = 1024; size > 0; size -= wave)
      if (size < wanted[0]) wanted.push_back(size);
    CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, add, [&](int threads) { return tried_sizes.push_back(threads), 0; }, limit));
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, block, 0));
    if (tried_sizes != wanted || grid != blocks * units) std::printf("another grid for %d: %d of %d\n", limit, grid, block);
  }
  std::printf("sizes of blocks that are tried: as wanted\n");
  CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, add, [](int) { return 1 << 20; }));
  const auto none = [](int) { return 0; };
  std::printf("too much LDS: %d blocks of %d, flags: %d %d %d, no place: %d %d\n", grid, block,
              hipOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, add, 0, 0, 2) == hipErrorInvalidValue,
              hipOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, add, 0, 0, 1),
              hipOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, add, 0, 0, 3) == hipErrorInvalidValue,
              hipOccupancyMaxPotentialBlockSizeVariableSMem(nullptr, &block, add, none) == hipErrorInvalidValue,
              hipOccupancyMaxPotentialBlockSizeVariableSMem(&grid, nullptr, add, none) == hipErrorInvalidValue);
  CHECK(hipFree(x));
  return 0;
}
