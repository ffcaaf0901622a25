// Copies and kernels in several streams, timed with events.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void scale(float* data, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

static void CUDART_CB done(cudaStream_t stream, cudaError_t status, void* user) {
  if (status == cudaSuccess) ++*static_cast<int*>(user);
}

int main() {
  const int parts = 3, n = 3 * 400;
  float *host, *device;
  cudaMallocHost((void**)&host, n * sizeof(float));
  cudaMalloc((void**)&device, n * sizeof(float));
  for (int i = 0; i < n; ++i) host[i] = 1.0f * i;
  cudaStream_t stream[parts];
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&stop, cudaEventBlockingSync);
  for (int s = 0; s < parts; ++s) cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking);
  cudaEventRecord(start, 0);
  int size = n / parts, finished = 0;
  for (int s = 0; s < parts; ++s) {
    int offset = s * size;
    cudaMemcpyAsync(device + offset, host + offset, size * sizeof(float), cudaMemcpyHostToDevice, stream[s]);
    scale<<<(size + 127) / 128, 128, 0, stream[s]>>>(device + offset, s + 1.0f, size);
    cudaMemcpyAsync(host + offset, device + offset, size * sizeof(float), cudaMemcpyDeviceToHost, stream[s]);
    cudaStreamAddCallback(stream[s], done, &finished, 0);
  }
  for (int s = 0; s < parts; ++s) cudaStreamSynchronize(stream[s]);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float milliseconds = -1.0f;
  cudaEventElapsedTime(&milliseconds, start, stop);
  printf("%g %g %g %s %d\n", host[1], host[size + 1], host[2 * size + 1], milliseconds >= 0 ? "timed" : "no", finished);
  for (int s = 0; s < parts; ++s) cudaStreamDestroy(stream[s]);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFreeHost(host);
  cudaFree(device);
  return 0;
}
