#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaMemcpy hipMemcpy
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaGetLastError hipGetLastError
#define cudaGetErrorString hipGetErrorString
#define cudaError_t hipError_t
#define cudaSuccess hipSuccess
#else
#include <cuda_runtime.h>
#endif
#define LIMIT -999
#define BLOCK_SIZE 16
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <sys/time.h>

static int blosum[8][8] = {
    {4, -1, -2, -2, 0, -1, -1, 0}, {-1, 5, 0, -2, -3, 1, 0, -2}, {-2, 0, 6, 1, -3, 0, 0, 0}, {-2, -2, 1, 6, -3, 0, 2, -1},
    {0, -3, -3, -3, 9, -3, -4, -3}, {-1, 1, 0, 0, -3, 5, 2, -2}, {-1, 0, 0, 2, -4, 2, 5, -2}, {0, -2, 0, -1, -3, -2, -2, 6}};

static void check(const char *where) {
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
    exit(-1);
  }
}

__device__ __host__ int maximum(int a, int b, int c) {
  int k = a <= b ? b : a;
  return k <= c ? c : k;
}

/* one block of the matrix on an anti-diagonal of blocks */
__device__ void do_block(const int *reference, int *itemsets, int cols, int penalty, int bx, int by) {
  int tx = threadIdx.x;
  int index = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx + (cols + 1);
  int index_n = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx + 1;
  int index_w = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols;
  int index_nw = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx;
  __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
  __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
  if (tx == 0) temp[tx][0] = itemsets[index_nw];
  for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = reference[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = itemsets[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = itemsets[index_n];
  __syncthreads();
  for (int m = 0; m < BLOCK_SIZE; m++) {
    if (tx <= m) {
      int x = tx + 1, y = m - tx + 1;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
    if (tx <= m) {
      int x = tx + BLOCK_SIZE - m, y = BLOCK_SIZE - tx;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < BLOCK_SIZE; ty++) itemsets[index + ty * cols] = temp[ty + 1][tx + 1];
}

__global__ void needle_1(int *reference, int *itemsets, int cols, int penalty, int i) {
  do_block(reference, itemsets, cols, penalty, blockIdx.x, i - 1 - blockIdx.x);
}

__global__ void needle_2(int *reference, int *itemsets, int cols, int penalty, int i, int block_width) {
  int bx = blockIdx.x;
  do_block(reference, itemsets, cols, penalty, bx + block_width - i, block_width - bx - 1);
}

int main(int argc, char **argv) {
  int rows = 256, penalty = 10;
  if (argc == 3) {
    rows = atoi(argv[1]);
    penalty = atoi(argv[2]);
  } else if (argc != 1) {
    fprintf(stderr, "Usage: %s <max_rows/max_cols> <penalty>\n", argv[0]);
    exit(1);
  }
  if (rows % 16 != 0) {
    fprintf(stderr, "The dimension value must be a multiple of 16\n");
    exit(1);
  }
  int cols = rows + 1, size;
  rows++;
  size = rows * cols;
  int *reference = (int *)malloc(size * sizeof(int)), *input = (int *)calloc(size, sizeof(int));
  int *output = (int *)malloc(size * sizeof(int)), *expected = (int *)malloc(size * sizeof(int));
  memset(reference, 0, size * sizeof(int));
  srand(7);
  int *sa = (int *)malloc(rows * sizeof(int)), *sb = (int *)malloc(cols * sizeof(int));
  for (int i = 1; i < rows; i++) sa[i] = rand() % 8;
  for (int j = 1; j < cols; j++) sb[j] = j % 5 ? sa[j] : rand() % 8;
  for (int i = 1; i < rows; i++)
    for (int j = 1; j < cols; j++) reference[i * cols + j] = blosum[sa[i]][sb[j]];
  for (int i = 1; i < rows; i++) input[i * cols] = -i * penalty;
  for (int j = 1; j < cols; j++) input[j] = -j * penalty;
  memcpy(expected, input, size * sizeof(int));
  for (int i = 1; i < rows; i++)
    for (int j = 1; j < cols; j++)
      expected[i * cols + j] = maximum(expected[(i - 1) * cols + j - 1] + reference[i * cols + j], expected[i * cols + j - 1] - penalty,
                                       expected[(i - 1) * cols + j] - penalty);
  int *d_ref, *d_items;
  cudaMalloc((void **)&d_ref, sizeof(int) * size);
  cudaMalloc((void **)&d_items, sizeof(int) * size);
  cudaMemcpy(d_ref, reference, sizeof(int) * size, cudaMemcpyHostToDevice);
  cudaMemcpy(d_items, input, sizeof(int) * size, cudaMemcpyHostToDevice);
  check("setup");
  dim3 dimGrid;
  dim3 dimBlock(BLOCK_SIZE, 1);
  int block_width = (cols - 1) / BLOCK_SIZE;
  printf("Processing top-left matrix\n");
  for (int i = 1; i <= block_width; i++) {
    dimGrid.x = i;
    dimGrid.y = 1;
    needle_1<<<dimGrid, dimBlock>>>(d_ref, d_items, cols, penalty, i);
  }
  printf("Processing bottom-right matrix\n");
  for (int i = block_width - 1; i >= 1; i--) {
    dimGrid.x = i;
    dimGrid.y = 1;
    needle_2<<<dimGrid, dimBlock>>>(d_ref, d_items, cols, penalty, i, block_width);
  }
  cudaDeviceSynchronize();
  check("kernels");
  cudaMemcpy(output, d_items, sizeof(int) * size, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int k = 0; k < size; k++) wrong += output[k] != expected[k];
  /* trace back: the path's score must add up */
  int i = rows - 1, j = cols - 1, sum = 0, gaps = 0;
  while (i > 0 || j > 0) {
    int here = output[i * cols + j];
    if (i > 0 && j > 0 && here == output[(i - 1) * cols + j - 1] + reference[i * cols + j]) sum += reference[i-- * cols + j--];
    else if (j > 0 && here == output[i * cols + j - 1] - penalty) { sum -= penalty; gaps++; j--; }
    else if (i > 0 && here == output[(i - 1) * cols + j] - penalty) { sum -= penalty; gaps++; i--; }
    else { wrong++; break; }
  }
  printf("score %d, path %d with %d gaps, %d wrong cells\n", output[size - 1], sum, gaps, wrong);
  cudaFree(d_ref);
  cudaFree(d_items);
  if (wrong || sum != output[size - 1]) { printf("FAILED\n"); return 1; }
  printf("PASSED\n");
  return 0;
}
