// Sorting and reducing with Thrust and CUB.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <cub/cub.cuh>
#include <cstdio>

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

__global__ void block_sum(const int* in, int* out) {
  typedef cub::BlockReduce<int, 128> BlockReduce;
  __shared__ typename BlockReduce::TempStorage storage;
  int total = BlockReduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

int main() {
  thrust::device_vector<int> values(1024);
  for (int i = 0; i < 1024; ++i) values[i] = (i * 7919) % 1021;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  thrust::sort(thrust::cuda::par.on(stream), values.begin(), values.end());
  int odd = thrust::count_if(thrust::device, values.begin(), values.end(), Odd());
  void* temporary = nullptr;
  size_t bytes = 0;
  int* in = thrust::raw_pointer_cast(values.data());
  int* out;
  cudaMalloc(&out, 8 * sizeof(int));
  cub::DeviceReduce::Sum(temporary, bytes, in, out, 1024, stream);
  cudaMalloc(&temporary, bytes);
  cub::DeviceReduce::Sum(temporary, bytes, in, out, 1024, stream);
  block_sum<<<8, 128, 0, stream>>>(in, out);
  cudaStreamSynchronize(stream);
  printf("%d\n", odd);
  cudaFree(temporary);
  cudaFree(out);
  return 0;
}
