// Compiles a kernel while it runs.
#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <string>

static const char* source = R"(
extern "C" __global__ void fill(int* data, int value) { data[threadIdx.x] = value; /* cudaMalloc stays */ }
)";

int main() {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "fill.cu", 0, nullptr, nullptr);
  const char* options[] = {"--std=c++17"};
  if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) {
    size_t size;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, &log[0]);
    fprintf(stderr, "%s\n", log.c_str());
    return 1;
  }
  size_t size;
  nvrtcGetPTXSize(program, &size);
  std::string code(size, '\0');
  nvrtcGetPTX(program, &code[0]);
  nvrtcDestroyProgram(&program);
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr data;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  if (cuModuleLoadData(&module, code.data()) != CUDA_SUCCESS) return 2;
  cuModuleGetFunction(&kernel, module, "fill");
  cuMemAlloc(&data, 64 * sizeof(int));
  int value = 11, host[64];
  void* arguments[] = {&data, &value};
  cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemcpyDtoH(host, data, sizeof(host));
  printf("%d\n", host[63]);
  return 0;
}
