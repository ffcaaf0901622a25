// A graph node by node: two filters of one signal side by side, then their difference, a memset, copies and a host function.
// OUT: nodes 8, edges 8, roots 2
// OUT: launch 1: 0 wrong, host function called 1 times
// OUT: launch 2: 0 wrong, host function called 2 times
// OUT: types: memset kernel copy host
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    hipError_t error = (call);                                                                   \
    if (error != hipSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));         \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

__global__ void smooth(int n, int radius, const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int d = -radius; d <= radius; ++d) sum += in[min(max(i + d, 0), n - 1)];
  out[i] = sum / (2 * radius + 1);
}

__global__ void difference(int n, const float* a, const float* b, float* out, unsigned* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] - b[i];
  if (fabsf(out[i]) > 0.25f) atomicAdd(count, 1u);
}

struct Answer {
  int calls;
  const unsigned* count;
  unsigned seen;
};

void take(void* data) {
  Answer* answer = static_cast<Answer*>(data);
  ++answer->calls;
  answer->seen = *answer->count;
}

float smoothed(const std::vector<float>& in, int i, int radius) {
  float sum = 0;
  const int n = static_cast<int>(in.size());
  for (int d = -radius; d <= radius; ++d) sum += in[std::min(std::max(i + d, 0), n - 1)];
  return sum / (2 * radius + 1);
}

hipKernelNodeParams kernel(void* function, int n, void** arguments) {
  hipKernelNodeParams p = {};
  p.func = function;
  p.gridDim = dim3((n + 255) / 256);
  p.blockDim = dim3(256);
  p.kernelParams = arguments;
  return p;
}

int main() {
  int n = 5000;
  std::vector<float> in(n), out(n);
  unsigned count = 0, *device_count;
  float *device_in, *narrow, *wide, *device_out;
  for (float** pointer : {&device_in, &narrow, &wide, &device_out}) CHECK(hipMalloc(pointer, n * sizeof(float)));
  CHECK(hipMalloc(&device_count, sizeof *device_count));

  hipGraph_t graph;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t copy_in, clear, left, right, subtract, copy_out, copy_count, host;
  CHECK(hipGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, device_in, in.data(), n * sizeof(float),
                                hipMemcpyHostToDevice));
  hipMemsetParams zero = {};
  zero.dst = device_count, zero.elementSize = 4, zero.width = 1, zero.height = 1;
  CHECK(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
  int radius = 1;
  void* for_left[] = {&n, &radius, &device_in, &narrow};
  hipKernelNodeParams p = kernel(reinterpret_cast<void*>(smooth), n, for_left);
  CHECK(hipGraphAddKernelNode(&left, graph, &copy_in, 1, &p));
  radius = 8;  // the left node has its own copy of 1
  void* for_right[] = {&n, &radius, &device_in, &wide};
  p = kernel(reinterpret_cast<void*>(smooth), n, for_right);
  CHECK(hipGraphAddKernelNode(&right, graph, &copy_in, 1, &p));
  void* for_both[] = {&n, &narrow, &wide, &device_out, &device_count};
  p = kernel(reinterpret_cast<void*>(difference), n, for_both);
  const hipGraphNode_t before[] = {left, right, clear};
  CHECK(hipGraphAddKernelNode(&subtract, graph, before, 3, &p));
  CHECK(hipGraphAddMemcpyNode1D(&copy_out, graph, &subtract, 1, out.data(), device_out, n * sizeof(float),
                                hipMemcpyDeviceToHost));
  CHECK(hipGraphAddMemcpyNode1D(&copy_count, graph, &subtract, 1, &count, device_count, sizeof count,
                                hipMemcpyDeviceToHost));
  Answer answer = {0, &count, 0};
  hipHostNodeParams call = {take, &answer};
  CHECK(hipGraphAddHostNode(&host, graph, &copy_count, 1, &call));

  size_t nodes = 0, edges = 0, roots = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  CHECK(hipGraphGetRootNodes(graph, nullptr, &roots));
  std::printf("nodes %zu, edges %zu, roots %zu\n", nodes, edges, roots);

  hipGraphExec_t executable;
  CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  for (int launch = 1; launch <= 2; ++launch) {
    for (int i = 0; i < n; ++i) in[i] = std::sin(0.01f * i * launch) + (i % 97 == 0 ? 2.0f : 0.0f);
    CHECK(hipGraphLaunch(executable, stream));
    CHECK(hipStreamSynchronize(stream));
    int wrong = 0;
    unsigned expected = 0;
    for (int i = 0; i < n; ++i) {
      const float value = smoothed(in, i, 1) - smoothed(in, i, 8);
      wrong += std::fabs(out[i] - value) > 1e-5f;
      expected += std::fabs(out[i]) > 0.25f;
    }
    wrong += answer.seen != expected || expected == 0;
    std::printf("launch %d: %d wrong, host function called %d times\n", launch, wrong, answer.calls);
  }
  hipGraphNodeType types[4];
  int place = 0;
  for (hipGraphNode_t node : {clear, left, copy_in, host}) CHECK(hipGraphNodeGetType(node, &types[place++]));
  std::printf("types: %s %s %s %s\n", types[0] == hipGraphNodeTypeMemset ? "memset" : "?",
              types[1] == hipGraphNodeTypeKernel ? "kernel" : "?", types[2] == hipGraphNodeTypeMemcpy ? "copy" : "?",
              types[3] == hipGraphNodeTypeHost ? "host" : "?");
  CHECK(hipGraphExecDestroy(executable));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  for (float* pointer : {device_in, narrow, wide, device_out}) CHECK(hipFree(pointer));
  CHECK(hipFree(device_count));
  return 0;
}
