// A graph captured from a stream, and launched several times.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void increment(int* data, int n) {
  int i = threadIdx.x;
  if (i < n) ++data[i];
}

int main() {
  const int n = 32;
  int *data, host[n] = {};
  cudaMalloc(&data, sizeof(host));
  cudaMemset(data, 0, sizeof(host));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 3; ++i) increment<<<1, n, 0, stream>>>(data, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&instance, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 5; ++i) cudaGraphLaunch(instance, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d\n", host[n - 1]);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphExecDestroy(instance);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(data);
  return nodes == 3 ? 0 : 1;
}
