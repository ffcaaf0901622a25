// Prefix sums of a block in shared memory, up and down the tree, with padding against bank conflicts.
#include <cuda_runtime.h>
#include <cstdio>

#define LOG_BANKS 5
#define PLACE(i) ((i) + ((i) >> LOG_BANKS))

template <int N>
__global__ void scan(const int* in, int* out) {
  extern __shared__ int tree[];
  int t = threadIdx.x, offset = 1;
  tree[PLACE(t)] = in[t];
  tree[PLACE(t + N / 2)] = in[t + N / 2];
  for (int d = N / 2; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) tree[PLACE(offset * (2 * t + 2) - 1)] += tree[PLACE(offset * (2 * t + 1) - 1)];
  }
  if (t == 0) tree[PLACE(N - 1)] = 0;
  for (int d = 1; d < N; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int left = PLACE(offset * (2 * t + 1) - 1), right = PLACE(offset * (2 * t + 2) - 1);
      int moved = tree[left];
      tree[left] = tree[right];
      tree[right] += moved;
    }
  }
  __syncthreads();
  out[t] = tree[PLACE(t)];
  out[t + N / 2] = tree[PLACE(t + N / 2)];
}

int main() {
  const int n = 256;
  int in[n], out[n], *din, *dout;
  for (int i = 0; i < n; ++i) in[i] = i % 10;
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, sizeof(out));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  scan<n><<<1, n / 2, (n + n / 32) * sizeof(int)>>>(din, dout);
  cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", out[1], out[100], out[n - 1]);
  return 0;
}
