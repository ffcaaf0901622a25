// A captured step of a time loop: two streams that part and join, memory of the graph's own, launched fifty times.
// OUT: captured: status 0 before, 1 during, 0 after
// OUT: hipMalloc during the capture: operation not permitted when stream is capturing
// OUT: the end of that capture: operation failed due to a previous error during capture
// OUT: nodes 7: kernel allocation memset kernel kernel kernel free
// OUT: fifty steps: 0 wrong
// ERR: hipMalloc returned hipErrorStreamCaptureUnsupported: a stream is being captured
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

constexpr int N = 4096;
constexpr float DT = 0.01f;

__global__ void push(float* x, const float* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += DT * v[i];
}
__global__ void spring(const float* x, float* force) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  force[i] -= x[i];
}
__global__ void drag(const float* v, float* loss) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  loss[i] = 0.1f * v[i];
}
__global__ void kick(float* v, const float* force, const float* loss) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] += DT * (force[i] - loss[i]);
}

int status(hipStream_t stream) {
  hipStreamCaptureStatus found;
  CHECK(hipStreamIsCapturing(stream, &found));
  return found;
}

int main() {
  std::vector<float> x(N), v(N, 0.0f), got(N);
  for (int i = 0; i < N; ++i) x[i] = std::cos(0.003f * i);
  float *device_x, *device_v, *loss;
  for (float** pointer : {&device_x, &device_v, &loss}) CHECK(hipMalloc(pointer, N * sizeof(float)));
  CHECK(hipMemcpy(device_x, x.data(), N * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(device_v, v.data(), N * sizeof(float), hipMemcpyHostToDevice));
  hipStream_t main_stream, side;
  hipEvent_t fork, join;
  CHECK(hipStreamCreate(&main_stream));
  CHECK(hipStreamCreate(&side));
  CHECK(hipEventCreate(&fork));
  CHECK(hipEventCreate(&join));
  const int before = status(main_stream);

  CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeGlobal));
  void* nothing;
  const hipError_t refused = hipMalloc(&nothing, 64);
  hipGraph_t graph;
  const hipError_t invalid = hipStreamEndCapture(main_stream, &graph);
  (void)hipGetLastError();

  CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeGlobal));
  const int during = status(main_stream);
  push<<<N / 256, 256, 0, main_stream>>>(device_x, device_v);
  CHECK(hipEventRecord(fork, main_stream));
  CHECK(hipStreamWaitEvent(side, fork, 0));
  float* force;
  CHECK(hipMallocAsync(&force, N * sizeof(float), main_stream));
  CHECK(hipMemsetAsync(force, 0, N * sizeof(float), main_stream));
  spring<<<N / 256, 256, 0, main_stream>>>(device_x, force);
  drag<<<N / 256, 256, 0, side>>>(device_v, loss);
  CHECK(hipEventRecord(join, side));
  CHECK(hipStreamWaitEvent(main_stream, join, 0));
  kick<<<N / 256, 256, 0, main_stream>>>(device_v, force, loss);
  CHECK(hipFreeAsync(force, main_stream));
  CHECK(hipStreamEndCapture(main_stream, &graph));
  std::printf("captured: status %d before, %d during, %d after\n", before, during, status(main_stream));
  std::printf("hipMalloc during the capture: %s\n", hipGetErrorString(refused));
  std::printf("the end of that capture: %s\n", hipGetErrorString(invalid));

  size_t count = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  std::vector<hipGraphNode_t> nodes(count);
  CHECK(hipGraphGetNodes(graph, nodes.data(), &count));
  std::printf("nodes %zu:", count);
  for (hipGraphNode_t node : nodes) {
    hipGraphNodeType type;
    CHECK(hipGraphNodeGetType(node, &type));
    std::printf(" %s", type == hipGraphNodeTypeKernel     ? "kernel"
                       : type == hipGraphNodeTypeMemset   ? "memset"
                       : type == hipGraphNodeTypeMemAlloc ? "allocation"
                       : type == hipGraphNodeTypeMemFree  ? "free"
                                                          : "?");
  }
  std::printf("\n");

  hipGraphExec_t step;
  CHECK(hipGraphInstantiate(&step, graph, nullptr, nullptr, 0));
  for (int t = 0; t < 50; ++t) CHECK(hipGraphLaunch(step, main_stream));
  CHECK(hipMemcpyAsync(got.data(), device_x, N * sizeof(float), hipMemcpyDeviceToHost, main_stream));
  CHECK(hipStreamSynchronize(main_stream));
  int wrong = 0;
  for (int i = 0; i < N; ++i) {
    for (int t = 0; t < 50; ++t) {
      x[i] += DT * v[i];
      v[i] += DT * (-x[i] - 0.1f * v[i]);
    }
    wrong += std::fabs(got[i] - x[i]) > 1e-5f;
  }
  std::printf("fifty steps: %d wrong\n", wrong);
  CHECK(hipGraphExecDestroy(step));
  CHECK(hipGraphDestroy(graph));
  return 0;
}
