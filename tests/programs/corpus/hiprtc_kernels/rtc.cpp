// Kernels from text at run time: options, a template by its name expression, a header as text, an error's log
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <iostream>
#include <string>
#include <vector>

#define CHECK_HIP(x) { hipError_t r = (x); if (r != hipSuccess) { std::cerr << #x << ": " << hipGetErrorString(r) << std::endl; return 1; } }
#define CHECK_RTC(x) { hiprtcResult r = (x); if (r != HIPRTC_SUCCESS) { std::cerr << #x << ": " << hiprtcGetErrorString(r) << std::endl; return 1; } }

static constexpr auto source = R"(
#include "operation.h"
extern "C" __global__ void saxpy(float a, float* x, float* y, float* out, size_t n)
{
    size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n) out[tid] = operation(a, x[tid], y[tid]) + OFFSET;
}
template <typename T, int N> __global__ void power(T* data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T r = 1;
    for (int k = 0; k < N; ++k) r *= data[i];
    data[i] = r;
}
__device__ int bias = 5;
)";
static constexpr auto header = "__device__ inline float operation(float a, float x, float y) { return a * x + y; }\n";

int main() {
  hipDeviceProp_t props;
  CHECK_HIP(hipGetDeviceProperties(&props, 0));
  const std::string arch = std::string("--gpu-architecture=") + props.gcnArchName;
  hiprtcProgram program;
  const char *headers[] = {header}, *names[] = {"operation.h"};
  CHECK_RTC(hiprtcCreateProgram(&program, source, "saxpy.hip", 1, headers, names));
  const std::string expression = "power<long, 3>";
  CHECK_RTC(hiprtcAddNameExpression(program, expression.c_str()));
  const char* options[] = {arch.c_str(), "-DOFFSET=0.5f", "-O3"};
  hiprtcResult result = hiprtcCompileProgram(program, 3, options);
  size_t log_size;
  CHECK_RTC(hiprtcGetProgramLogSize(program, &log_size));
  if (log_size > 1) {
    std::string log(log_size, '\0');
    CHECK_RTC(hiprtcGetProgramLog(program, &log[0]));
    std::cout << log << '\n';
  }
  CHECK_RTC(result);
  size_t code_size;
  CHECK_RTC(hiprtcGetCodeSize(program, &code_size));
  std::vector<char> code(code_size);
  CHECK_RTC(hiprtcGetCode(program, code.data()));
  const char* lowered;
  CHECK_RTC(hiprtcGetLoweredName(program, expression.c_str(), &lowered));
  const std::string power_name = lowered;
  CHECK_RTC(hiprtcDestroyProgram(&program));

  hipModule_t module;
  hipFunction_t saxpy, power;
  CHECK_HIP(hipModuleLoadData(&module, code.data()));
  CHECK_HIP(hipModuleGetFunction(&saxpy, module, "saxpy"));
  CHECK_HIP(hipModuleGetFunction(&power, module, power_name.c_str()));
  const size_t n = 1000;
  std::vector<float> x(n), y(n), out(n);
  std::vector<long> l(n);
  for (size_t i = 0; i < n; ++i) { x[i] = float(i); y[i] = float(n - i); l[i] = long(i) - 500; }
  float *dx, *dy, *dout, a = 2;
  long* dl;
  CHECK_HIP(hipMalloc(&dx, n * 4)); CHECK_HIP(hipMalloc(&dy, n * 4)); CHECK_HIP(hipMalloc(&dout, n * 4)); CHECK_HIP(hipMalloc(&dl, n * 8));
  CHECK_HIP(hipMemcpy(dx, x.data(), n * 4, hipMemcpyHostToDevice));
  CHECK_HIP(hipMemcpy(dy, y.data(), n * 4, hipMemcpyHostToDevice));
  CHECK_HIP(hipMemcpy(dl, l.data(), n * 8, hipMemcpyHostToDevice));
  struct { float a; float *x, *y, *out; size_t n; } args{a, dx, dy, dout, n};
  auto size = sizeof(args);
  void* config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  CHECK_HIP(hipModuleLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, nullptr, config));
  int count = n;
  void* params[] = {&dl, &count};
  CHECK_HIP(hipModuleLaunchKernel(power, (n + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
  CHECK_HIP(hipMemcpy(out.data(), dout, n * 4, hipMemcpyDeviceToHost));
  std::vector<long> cubes(n);
  CHECK_HIP(hipMemcpy(cubes.data(), dl, n * 8, hipMemcpyDeviceToHost));
  int errors = 0;
  for (size_t i = 0; i < n; ++i) errors += out[i] != a * x[i] + y[i] + 0.5f || cubes[i] != l[i] * l[i] * l[i];
  hipDeviceptr_t bias;
  size_t bias_size;
  CHECK_HIP(hipModuleGetGlobal(&bias, &bias_size, module, "bias"));
  int value = 0;
  CHECK_HIP(hipMemcpyDtoH(&value, bias, sizeof value));
  errors += value != 5 || bias_size != 4;
  CHECK_HIP(hipFree(dx)); CHECK_HIP(hipFree(dy)); CHECK_HIP(hipFree(dout)); CHECK_HIP(hipFree(dl));
  CHECK_HIP(hipModuleUnload(module));

  CHECK_RTC(hiprtcCreateProgram(&program, "__global__ void broken() { return 1 }", "broken.hip", 0, nullptr, nullptr));
  result = hiprtcCompileProgram(program, 1, options);
  CHECK_RTC(hiprtcGetProgramLogSize(program, &log_size));
  std::string log(log_size, '\0');
  CHECK_RTC(hiprtcGetProgramLog(program, &log[0]));
  CHECK_RTC(hiprtcDestroyProgram(&program));
  const bool noticed = result == HIPRTC_ERROR_COMPILATION && log.find("error") != std::string::npos;
  std::cout << code_size << " bytes of code, " << errors << " errors; a mistake is " << (noticed ? "" : "NOT ") << "noticed\n";
  std::cout << (errors == 0 && noticed ? "PASSED" : "FAILED") << std::endl;
  return errors == 0 && noticed ? 0 : 1;
}
