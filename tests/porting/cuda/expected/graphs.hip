// A graph captured from a stream, and launched several times.
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void increment(int* data, int n) {
  int i = threadIdx.x;
  if (i < n) ++data[i];
}

int main() {
  const int n = 32;
  int *data, host[n] = {};
  hipMalloc(&data, sizeof(host));
  hipMemset(data, 0, sizeof(host));
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipGraph_t graph;
  hipGraphExec_t instance;
  hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
  for (int i = 0; i < 3; ++i) increment<<<1, n, 0, stream>>>(data, n);
  hipStreamEndCapture(stream, &graph);
  hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 5; ++i) hipGraphLaunch(instance, stream);
  hipStreamSynchronize(stream);
  hipMemcpy(host, data, sizeof(host), hipMemcpyDeviceToHost);
  printf("%d\n", host[n - 1]);
  size_t nodes = 0;
  hipGraphGetNodes(graph, nullptr, &nodes);
  hipGraphExecDestroy(instance);
  hipGraphDestroy(graph);
  hipStreamDestroy(stream);
  hipFree(data);
  return nodes == 3 ? 0 : 1;
}
