// Sorting and reducing with Thrust and CUB.
#include <hip/hip_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/system/hip/execution_policy.h>
#include <hipcub/hipcub.hpp>
#include <cstdio>

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

__global__ void block_sum(const int* in, int* out) {
  typedef hipcub::BlockReduce<int, 128> BlockReduce;
  __shared__ typename BlockReduce::TempStorage storage;
  int total = BlockReduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

int main() {
  thrust::device_vector<int> values(1024);
  for (int i = 0; i < 1024; ++i) values[i] = (i * 7919) % 1021;
  hipStream_t stream;
  hipStreamCreate(&stream);
  thrust::sort(thrust::hip::par.on(stream), values.begin(), values.end());
  int odd = thrust::count_if(thrust::device, values.begin(), values.end(), Odd());
  void* temporary = nullptr;
  size_t bytes = 0;
  int* in = thrust::raw_pointer_cast(values.data());
  int* out;
  hipMalloc(&out, 8 * sizeof(int));
  hipcub::DeviceReduce::Sum(temporary, bytes, in, out, 1024, stream);
  hipMalloc(&temporary, bytes);
  hipcub::DeviceReduce::Sum(temporary, bytes, in, out, 1024, stream);
  block_sum<<<8, 128, 0, stream>>>(in, out);
  hipStreamSynchronize(stream);
  printf("%d\n", odd);
  hipFree(temporary);
  hipFree(out);
  return 0;
}
