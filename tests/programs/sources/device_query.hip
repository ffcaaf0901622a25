// What hipGetDeviceProperties and hipDeviceGetAttribute say of each device.
// OUT[gfx942]: device 0: gfx942, wavefronts of 64
// OUT[gfx1100]: device 0: gfx1100, wavefronts of 32
// OUT: the attributes agree with the properties
#include <hip/hip_runtime.h>

#include <cstring>
#include <iostream>
#include <string>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

int main() {
  int count = 0;
  CHECK(hipGetDeviceCount(&count));
  if (count < 1) return 2;
  hipDeviceProp_t prop;
  CHECK(hipGetDeviceProperties(&prop, 0));
  std::string arch = prop.gcnArchName;
  std::cout << "device 0: " << arch.substr(0, arch.find(':')) << ", wavefronts of " << prop.warpSize << "\n";
  struct {
    hipDeviceAttribute_t attribute;
    int expected;
  } pairs[] = {
      {hipDeviceAttributeWarpSize, prop.warpSize},
      {hipDeviceAttributeMaxThreadsPerBlock, prop.maxThreadsPerBlock},
      {hipDeviceAttributeMultiprocessorCount, prop.multiProcessorCount},
      {hipDeviceAttributeMaxSharedMemoryPerBlock, static_cast<int>(prop.sharedMemPerBlock)},
      {hipDeviceAttributeComputeCapabilityMajor, prop.major},
      {hipDeviceAttributeMaxGridDimX, prop.maxGridSize[0]},
      {hipDeviceAttributeL2CacheSize, prop.l2CacheSize},
      {hipDeviceAttributeClockRate, prop.clockRate},
  };
  for (auto& pair : pairs) {
    int value = -1;
    CHECK(hipDeviceGetAttribute(&value, pair.attribute, 0));
    if (value != pair.expected) {
      std::cout << "attribute " << pair.attribute << " is " << value << ", not " << pair.expected << "\n";
      return 1;
    }
  }
  size_t free_bytes = 0, total = 0;
  CHECK(hipMemGetInfo(&free_bytes, &total));
  char name[256];
  CHECK(hipDeviceGetName(name, sizeof name, 0));
  if (total != prop.totalGlobalMem || free_bytes > total || std::strcmp(name, prop.name) != 0) return 1;
  if (!prop.arch.hasDoubles || !prop.arch.hasWarpShuffle) return 1;
  int driver = 0, runtime = 0;
  CHECK(hipDriverGetVersion(&driver));
  CHECK(hipRuntimeGetVersion(&runtime));
  if (driver <= 0 || runtime < 60000000) return 1;
  std::cout << "the attributes agree with the properties\n";
}
