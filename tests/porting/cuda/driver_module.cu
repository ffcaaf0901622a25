// The driver API: a context, a module from a file, a launch with an array of arguments.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                        \
  do {                                                     \
    CUresult result = (call);                              \
    if (result != CUDA_SUCCESS) {                          \
      const char* text = nullptr;                          \
      cuGetErrorName(result, &text);                       \
      fprintf(stderr, "%s\n", text ? text : "unknown");    \
      exit(1);                                             \
    }                                                      \
  } while (0)

int main(int argc, char** argv) {
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr buffer;
  CUstream stream;
  CHECK(cuDeviceGet(&device, 0));
  char name[100];
  int units = 0;
  CHECK(cuDeviceGetName(name, sizeof(name), device));
  CHECK(cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  if (argc < 2) {
    printf("%s\n", units > 0 ? "a device" : "no units");
    return 0;
  }
  CHECK(cuCtxCreate(&context, 0, device));
  CHECK(cuModuleLoad(&module, argv[1]));
  CHECK(cuModuleGetFunction(&kernel, module, "fill"));
  CHECK(cuMemAlloc(&buffer, 256 * sizeof(int)));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  int value = 7, host[256];
  void* arguments[] = {&buffer, &value};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemcpyDtoH(host, buffer, sizeof(host)));
  CHECK(cuMemFree(buffer));
  CHECK(cuModuleUnload(module));
  CHECK(cuCtxDestroy(context));
  printf("%d\n", host[255]);
  return 0;
}
