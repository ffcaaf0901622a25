// bitonic sort of key/value pairs: shared memory for small strides, global memory for large ones
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include "hip/hip_runtime.h"

typedef unsigned int uint;
#define SHARED_SIZE_LIMIT 512U

#define HIP_CALL(call)                                                            \
  if ((call) != hipSuccess) {                                                     \
    printf("%s failed at line %d\n", #call, __LINE__);                            \
    exit(1);                                                                      \
  }

__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}

__global__ void bitonicSortShared(uint *key, uint *val) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  key += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  val += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x] = key[0];
  s_val[threadIdx.x] = val[0];
  s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] = key[SHARED_SIZE_LIMIT / 2];
  s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] = val[SHARED_SIZE_LIMIT / 2];
  for (uint size = 2; size < SHARED_SIZE_LIMIT; size <<= 1) {
    uint ddd = (threadIdx.x & (size / 2)) != 0;
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  uint ddd = blockIdx.x & 1;
  for (uint stride = SHARED_SIZE_LIMIT / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
  }
  __syncthreads();
  key[0] = s_key[threadIdx.x];
  val[0] = s_val[threadIdx.x];
  key[SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
  val[SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}

__global__ void bitonicMergeGlobal(uint *key, uint *val, uint n, uint size, uint stride, uint dir) {
  uint global_comparatorI = blockIdx.x * blockDim.x + threadIdx.x;
  uint comparatorI = global_comparatorI & (n / 2 - 1);
  uint ddd = dir ^ ((comparatorI & (size / 2)) != 0);
  uint pos = 2 * global_comparatorI - (global_comparatorI & (stride - 1));
  uint keyA = key[pos], valA = val[pos], keyB = key[pos + stride], valB = val[pos + stride];
  Comparator(keyA, valA, keyB, valB, ddd);
  key[pos] = keyA; val[pos] = valA;
  key[pos + stride] = keyB; val[pos + stride] = valB;
}

__global__ void bitonicMergeShared(uint *key, uint *val, uint n, uint size, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  key += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  val += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x] = key[0];
  s_val[threadIdx.x] = val[0];
  s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] = key[SHARED_SIZE_LIMIT / 2];
  s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] = val[SHARED_SIZE_LIMIT / 2];
  uint comparatorI = (blockIdx.x * blockDim.x + threadIdx.x) & (n / 2 - 1);
  uint ddd = dir ^ ((comparatorI & (size / 2)) != 0);
  for (uint stride = SHARED_SIZE_LIMIT / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
  }
  __syncthreads();
  key[0] = s_key[threadIdx.x];
  val[0] = s_val[threadIdx.x];
  key[SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
  val[SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}

static void bitonicSort(uint *key, uint *val, uint n, uint dir) {
  bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(key, val);
  for (uint size = 2 * SHARED_SIZE_LIMIT; size <= n; size <<= 1)
    for (unsigned stride = size / 2; stride > 0; stride >>= 1)
      if (stride >= SHARED_SIZE_LIMIT) {
        bitonicMergeGlobal<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(key, val, n, size, stride, dir);
      } else {
        bitonicMergeShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(key, val, n, size, dir);
        break;
      }
}

int main(int argc, char **argv) {
  uint log2n = 14, numKeys = 1000;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--log2n") && i + 1 < argc) log2n = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--keys") && i + 1 < argc) numKeys = atoi(argv[++i]);
    else { printf("usage: %s [--log2n N] [--keys K]\n", argv[0]); return 1; }
  }
  const uint N = 1u << log2n;
  if (N < SHARED_SIZE_LIMIT) { printf("too small\n"); return 1; }
  uint *h_key = (uint *)malloc(N * sizeof(uint)), *h_val = (uint *)malloc(N * sizeof(uint));
  uint *h_outKey = (uint *)malloc(N * sizeof(uint)), *h_outVal = (uint *)malloc(N * sizeof(uint));
  srand(2001);
  for (uint i = 0; i < N; i++) { h_key[i] = rand() % numKeys; h_val[i] = i; }
  uint *d_key, *d_val;
  HIP_CALL(hipMalloc((void **)&d_key, N * sizeof(uint)));
  HIP_CALL(hipMalloc((void **)&d_val, N * sizeof(uint)));
  int flag = 1;
  for (uint dir = 0; dir < 2; dir++) {
    HIP_CALL(hipMemcpy(d_key, h_key, N * sizeof(uint), hipMemcpyHostToDevice));
    HIP_CALL(hipMemcpy(d_val, h_val, N * sizeof(uint), hipMemcpyHostToDevice));
    bitonicSort(d_key, d_val, N, dir);
    HIP_CALL(hipDeviceSynchronize());
    HIP_CALL(hipMemcpy(h_outKey, d_key, N * sizeof(uint), hipMemcpyDeviceToHost));
    HIP_CALL(hipMemcpy(h_outVal, d_val, N * sizeof(uint), hipMemcpyDeviceToHost));
    uint *sorted = (uint *)malloc(N * sizeof(uint));
    memcpy(sorted, h_key, N * sizeof(uint));
    std::sort(sorted, sorted + N);
    if (!dir) std::reverse(sorted, sorted + N);
    bool keys_ok = memcmp(sorted, h_outKey, N * sizeof(uint)) == 0, values_ok = true;
    char *seen = (char *)calloc(N, 1);
    for (uint i = 0; i < N; i++) {
      if (h_outVal[i] >= N || seen[h_outVal[i]]++ || h_key[h_outVal[i]] != h_outKey[i]) { values_ok = false; break; }
    }
    printf("dir %u: keys %s, values %s\n", dir, keys_ok ? "OK" : "***NOT sorted***", values_ok ? "OK" : "***wrong***");
    flag = flag && keys_ok && values_ok;
    free(sorted);
    free(seen);
  }
  HIP_CALL(hipFree(d_key));
  HIP_CALL(hipFree(d_val));
  printf(flag ? "PASS\n" : "FAIL\n");
  return !flag;
}
