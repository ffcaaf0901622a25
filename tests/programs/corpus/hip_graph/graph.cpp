// HIP graphs: a chain of kernels captured from streams (fork and join), one made of nodes by hand; update and relaunch
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(condition) { const hipError_t error = condition; if (error != hipSuccess) { std::printf("error %s at line %d\n", hipGetErrorString(error), __LINE__); std::exit(1); } }

__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void scale(float a, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

static void increment(void* counter) { ++*static_cast<int*>(counter); }

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10000, launches = 5;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n), y(n, 1.0f), got(n);
  for (int i = 0; i < n; ++i) x[i] = float(i % 64);
  float *dx, *dy;
  HIP_CHECK(hipMalloc(&dx, bytes));
  HIP_CHECK(hipMalloc(&dy, bytes));
  hipStream_t main_stream, side;
  hipEvent_t fork, join;
  HIP_CHECK(hipStreamCreate(&main_stream));
  HIP_CHECK(hipStreamCreate(&side));
  HIP_CHECK(hipEventCreate(&fork));
  HIP_CHECK(hipEventCreate(&join));
  const dim3 block(256), grid((n + 255) / 256);
  int calls = 0;

  HIP_CHECK(hipMemcpy(dy, y.data(), bytes, hipMemcpyHostToDevice));
  hipGraph_t graph;
  hipGraphExec_t exec;
  HIP_CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeGlobal));
  HIP_CHECK(hipEventRecord(fork, main_stream));
  HIP_CHECK(hipStreamWaitEvent(side, fork, 0));
  HIP_CHECK(hipMemcpyAsync(dx, x.data(), bytes, hipMemcpyHostToDevice, side));
  scale<<<grid, block, 0, side>>>(0.5f, dx, n);
  scale<<<grid, block, 0, main_stream>>>(2.0f, dy, n);
  HIP_CHECK(hipEventRecord(join, side));
  HIP_CHECK(hipStreamWaitEvent(main_stream, join, 0));
  axpy<<<grid, block, 0, main_stream>>>(3.0f, dx, dy, n);
  HIP_CHECK(hipLaunchHostFunc(main_stream, increment, &calls));
  HIP_CHECK(hipMemcpyAsync(got.data(), dy, bytes, hipMemcpyDeviceToHost, main_stream));
  HIP_CHECK(hipStreamEndCapture(main_stream, &graph));
  size_t nodes = 0;
  HIP_CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  HIP_CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  if (calls != 0) { std::printf("a captured function was called\nFAILED\n"); return 1; }
  for (int l = 0; l < launches; ++l) HIP_CHECK(hipGraphLaunch(exec, main_stream));
  HIP_CHECK(hipStreamSynchronize(main_stream));
  int wrong = 0;
  for (int l = 0; l < launches; ++l) for (int i = 0; i < n; ++i) y[i] = 3.0f * (0.5f * x[i]) + 2.0f * y[i];
  for (int i = 0; i < n; ++i) wrong += got[i] != y[i];
  std::printf("captured: %zu nodes, %d host calls, %d wrong\n", nodes, calls, wrong);
  bool good = wrong == 0 && calls == launches && nodes == 6;

  // by hand: memset -> kernel -> copy, then other parameters
  hipGraph_t made;
  hipGraphExec_t made_exec;
  hipGraphNode_t set_node, kernel_node, copy_node;
  HIP_CHECK(hipGraphCreate(&made, 0));
  hipMemsetParams set{};
  set.dst = dy;
  set.value = 0;
  set.elementSize = 4;
  set.width = n;
  set.height = 1;
  HIP_CHECK(hipGraphAddMemsetNode(&set_node, made, nullptr, 0, &set));
  float a = 4.0f;
  const float* source = dx;
  int count = n;
  void* args[] = {&a, &source, &dy, &count};
  hipKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(axpy);
  parameters.gridDim = grid;
  parameters.blockDim = block;
  parameters.kernelParams = args;
  HIP_CHECK(hipGraphAddKernelNode(&kernel_node, made, &set_node, 1, &parameters));
  HIP_CHECK(hipGraphAddMemcpyNode1D(&copy_node, made, &kernel_node, 1, got.data(), dy, bytes, hipMemcpyDeviceToHost));
  HIP_CHECK(hipGraphInstantiate(&made_exec, made, nullptr, nullptr, 0));
  for (int round = 0; round < 2; ++round) {
    HIP_CHECK(hipGraphLaunch(made_exec, main_stream));
    HIP_CHECK(hipStreamSynchronize(main_stream));
    wrong = 0;
    for (int i = 0; i < n; ++i) wrong += got[i] != (round ? -8.0f : 4.0f) * 0.5f * x[i];
    std::printf("by hand, round %d: %d wrong\n", round, wrong);
    good = good && wrong == 0;
    a = -8.0f;
    HIP_CHECK(hipGraphExecKernelNodeSetParams(made_exec, kernel_node, &parameters));
  }
  HIP_CHECK(hipGraphExecDestroy(exec)); HIP_CHECK(hipGraphDestroy(graph));
  HIP_CHECK(hipGraphExecDestroy(made_exec)); HIP_CHECK(hipGraphDestroy(made));
  HIP_CHECK(hipEventDestroy(fork)); HIP_CHECK(hipEventDestroy(join));
  HIP_CHECK(hipStreamDestroy(main_stream)); HIP_CHECK(hipStreamDestroy(side));
  HIP_CHECK(hipFree(dx)); HIP_CHECK(hipFree(dy));
  std::printf(good ? "PASSED\n" : "FAILED\n");
  return good ? 0 : 1;
}
