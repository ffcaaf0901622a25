// hiprtc: a kernel's text compiled while the program runs, an error with its log, a launch through the module calls.
// OUT: the log names the mistake
// OUT: 10 20 30 40
// OUT: 1 kernel, scale, of 2 arguments: 100 200 300 400
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)
#include <hip/hiprtc.h>
#include <string>

#define RTC(call)                                                            \
  do {                                                                       \
    hiprtcResult result = (call);                                            \
    if (result != HIPRTC_SUCCESS) {                                          \
      std::fprintf(stderr, "%d: %s\n", __LINE__, hiprtcGetErrorString(result)); \
      std::exit(1);                                                          \
    }                                                                        \
  } while (0)

int main() {
  hiprtcProgram program;
  RTC(hiprtcCreateProgram(&program, "extern \"C\" __global__ void k() { mistake; }", "bad.hip", 0, nullptr, nullptr));
  if (hiprtcCompileProgram(program, 0, nullptr) != HIPRTC_ERROR_COMPILATION) return 1;
  size_t size = 0;
  RTC(hiprtcGetProgramLogSize(program, &size));
  std::string log(size, '\0');
  RTC(hiprtcGetProgramLog(program, log.data()));
  if (log.find("mistake") != std::string::npos) std::puts("the log names the mistake");
  RTC(hiprtcDestroyProgram(&program));
  const char* source = "extern \"C\" __global__ void scale(int* x, int factor) { x[threadIdx.x] *= factor * TEN; }";
  RTC(hiprtcCreateProgram(&program, source, "scale.hip", 0, nullptr, nullptr));
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  std::string arch = std::string("--gpu-architecture=") + properties.gcnArchName;
  const char* options[] = {arch.c_str(), "-DTEN=10"};
  RTC(hiprtcCompileProgram(program, 2, options));
  RTC(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC(hiprtcGetCode(program, code.data()));
  RTC(hiprtcDestroyProgram(&program));
  hipModule_t module;
  hipFunction_t function;
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&function, module, "scale"));
  int host[4] = {1, 2, 3, 4}, factor = 1, *x;
  CHECK(hipMalloc(&x, sizeof host));
  CHECK(hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice));
  void* arguments[] = {&x, &factor};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost));
  std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
  CHECK(hipModuleUnload(module));
  hipLibrary_t library;
  hipKernel_t kernel;
  unsigned int count = 0;
  const char* name;
  size_t offset, bytes, arguments_of_it = 0;
  CHECK(hipLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(hipLibraryGetKernelCount(&count, library));
  CHECK(hipLibraryGetKernel(&kernel, library, "scale"));
  CHECK(hipKernelGetName(&name, kernel));
  while (hipKernelGetParamInfo(kernel, arguments_of_it, &offset, &bytes) == hipSuccess) ++arguments_of_it;
  (void)hipGetLastError();
  CHECK(hipKernelGetFunction(&function, kernel));
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost));
  std::printf("%u kernel, %s, of %zu arguments: %d %d %d %d\n", count, name, arguments_of_it, host[0], host[1], host[2], host[3]);
  CHECK(hipLibraryUnload(library));
}
