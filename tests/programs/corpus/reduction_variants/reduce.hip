// Seven reductions, after the well-known series of slides; the block size is a template parameter.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>
namespace cg = cooperative_groups;

#define CHECK(x) do { hipError_t e__ = (x); if (e__ != hipSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, hipGetErrorString(e__)); exit(1); } } while (0)

template <class T> struct SharedMemory {
  __device__ inline operator T*() { extern __shared__ int __smem[]; return (T*)__smem; }
};

template <class T> __global__ void interleaved(const T* in, T* out, unsigned n) {
  T* s = SharedMemory<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

template <class T> __global__ void sequential(const T* in, T* out, unsigned n) {
  T* s = SharedMemory<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  T sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  s[t] = sum;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] = sum = sum + s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum;
}

template <class T, unsigned Block> __global__ void unrolled(const T* in, T* out, unsigned n) {
  T* s = SharedMemory<T>();
  unsigned t = threadIdx.x;
  T sum = 0;
  for (unsigned i = blockIdx.x * Block * 2 + t; i < n; i += gridDim.x * Block * 2) {
    sum += in[i];
    if (i + Block < n) sum += in[i + Block];
  }
  s[t] = sum;
  __syncthreads();
  if (Block >= 512) { if (t < 256) s[t] = sum = sum + s[t + 256]; __syncthreads(); }
  if (Block >= 256) { if (t < 128) s[t] = sum = sum + s[t + 128]; __syncthreads(); }
  if (Block >= 128) { if (t < 64) s[t] = sum = sum + s[t + 64]; __syncthreads(); }
  if (t < 32) {
    if (Block >= 64) sum += s[t + 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down(sum, d, 32);
  }
  if (t == 0) out[blockIdx.x] = sum;
}

template <class T> __global__ void groups(const T* in, T* out, unsigned n) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  T* s = SharedMemory<T>();
  T sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + block.thread_rank(); i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (unsigned d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
  if (tile.thread_rank() == 0) s[block.thread_rank() / 16] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    for (unsigned k = 1; k < block.size() / 16; k++) sum += s[k];
    out[blockIdx.x] = sum;
  }
}

template <class T> __global__ void one_pass(const T* in, T* out, unsigned n, unsigned* tickets, T* result) {
  __shared__ bool last;
  T* s = SharedMemory<T>();
  T sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int round = 0; round < 2; round++) {
    s[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
      if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
      __syncthreads();
    }
    if (round == 1) { if (threadIdx.x == 0) *result = s[0]; return; }
    if (threadIdx.x == 0) {
      out[blockIdx.x] = s[0];
      __threadfence();
      last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += *(volatile T*)&out[i];
  }
}

template <class T> __global__ void waves(const T* in, T* result, unsigned n) {
  T sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
#pragma unroll
  for (int m = warpSize >> 1; m > 0; m >>= 1) sum += __shfl_xor(sum, m);
  if ((threadIdx.x & (warpSize - 1)) == 0) atomicAdd(result, sum);
}

template <class T> int run(const char* type, unsigned n) {
  std::vector<T> h(n);
  T want = 0;
  for (unsigned i = 0; i < n; i++) want += h[i] = (T)((i * 7919u) % 256) - (T)100;    // whole numbers: exact in each order
  T *in, *out, *result;
  unsigned* tickets;
  const unsigned block = 256, blocks = 16;
  CHECK(hipMalloc(&in, n * sizeof(T)));
  CHECK(hipMalloc(&out, (n / block + 1) * sizeof(T)));
  CHECK(hipMalloc(&result, sizeof(T)));
  CHECK(hipMalloc(&tickets, sizeof(unsigned)));
  CHECK(hipMemset(tickets, 0, sizeof(unsigned)));
  CHECK(hipMemcpy(in, h.data(), n * sizeof(T), hipMemcpyHostToDevice));
  int failed = 0;
  for (int version = 0; version < 7; version++) {
    unsigned parts = 0;
    T got = 0;
    CHECK(hipMemset(result, 0, sizeof(T)));
    switch (version) {
      case 0: interleaved<T><<<parts = (n + block - 1) / block, block, block * sizeof(T)>>>(in, out, n); break;
      case 1: sequential<T><<<parts = (n + 2 * block - 1) / (2 * block), block, block * sizeof(T)>>>(in, out, n); break;
      case 2: unrolled<T, 128><<<parts = blocks, 128, 128 * sizeof(T)>>>(in, out, n); break;
      case 3: unrolled<T, 512><<<parts = blocks, 512, 512 * sizeof(T)>>>(in, out, n); break;
      case 4: groups<T><<<parts = blocks, block, block / 16 * sizeof(T)>>>(in, out, n); break;
      case 5: one_pass<T><<<blocks, block, block * sizeof(T)>>>(in, out, n, tickets, result); break;
      case 6: waves<T><<<blocks, block>>>(in, result, n); break;
    }
    CHECK(hipGetLastError());
    if (parts) {
      std::vector<T> p(parts);
      CHECK(hipMemcpy(p.data(), out, parts * sizeof(T), hipMemcpyDeviceToHost));
      for (T v : p) got += v;
    } else {
      CHECK(hipMemcpy(&got, result, sizeof(T), hipMemcpyDeviceToHost));
    }
    if (got != want) { printf("%s, version %d: %g, should be %g\n", type, version, (double)got, (double)want); failed++; }
  }
  CHECK(hipFree(in)); CHECK(hipFree(out)); CHECK(hipFree(result)); CHECK(hipFree(tickets));
  printf("%s: %u elements, %d of 7 wrong\n", type, n, failed);
  return failed;
}

int main(int argc, char** argv) {
  const unsigned n = argc > 1 ? strtoul(argv[1], NULL, 0) : 50001;
  int failed = run<int>("int", n) + run<float>("float", n) + run<double>("double", n) + run<unsigned long long>("ull", n);
  printf(failed ? "FAILED\n" : "PASSED\n");
  return failed;
}
