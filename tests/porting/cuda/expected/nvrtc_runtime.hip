// Compiles a kernel while it runs.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <cstdio>
#include <string>

static const char* source = R"(
extern "C" __global__ void fill(int* data, int value) { data[threadIdx.x] = value; /* cudaMalloc stays */ }
)";

int main() {
  hiprtcProgram program;
  hiprtcCreateProgram(&program, source, "fill.cu", 0, nullptr, nullptr);
  const char* options[] = {"--std=c++17"};
  if (hiprtcCompileProgram(program, 1, options) != HIPRTC_SUCCESS) {
    size_t size;
    hiprtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    hiprtcGetProgramLog(program, &log[0]);
    fprintf(stderr, "%s\n", log.c_str());
    return 1;
  }
  size_t size;
  hiprtcGetCodeSize(program, &size);
  std::string code(size, '\0');
  hiprtcGetCode(program, &code[0]);
  hiprtcDestroyProgram(&program);
  hipDevice_t device;
  hipCtx_t context;
  hipModule_t module;
  hipFunction_t kernel;
  hipDeviceptr_t data;
  hipInit(0);
  hipDeviceGet(&device, 0);
  hipDevicePrimaryCtxRetain(&context, device);
  hipCtxSetCurrent(context);
  if (hipModuleLoadData(&module, code.data()) != hipSuccess) return 2;
  hipModuleGetFunction(&kernel, module, "fill");
  hipMalloc(&data, 64 * sizeof(int));
  int value = 11, host[64];
  void* arguments[] = {&data, &value};
  hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  hipMemcpyDtoH(host, data, sizeof(host));
  printf("%d\n", host[63]);
  return 0;
}
