// Conway's game in pitched memory, with 2D copies.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void generation(const unsigned char* in, unsigned char* out, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) alive += in[((y + dy + height) % height) * pitch + (x + dx + width) % width];
  out[y * pitch + x] = alive == 3 || (alive == 2 && in[y * pitch + x]);
}

int main() {
  const int width = 33, height = 17;
  unsigned char board[height][width] = {};
  board[1][2] = board[2][3] = board[3][1] = board[3][2] = board[3][3] = 1;  // a glider
  board[10][20] = board[10][21] = board[10][22] = 1;                        // a blinker
  unsigned char *a, *b;
  size_t pitch;
  cudaMallocPitch((void**)&a, &pitch, width, height);
  cudaMallocPitch((void**)&b, &pitch, width, height);
  cudaMemcpy2D(a, pitch, board, width, width, height, cudaMemcpyHostToDevice);
  dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  for (int i = 0; i < 9; ++i) {
    generation<<<grid, block>>>(a, b, pitch, width, height);
    unsigned char* swap = a;
    a = b;
    b = swap;
  }
  cudaMemcpy2D(board, width, a, pitch, width, height, cudaMemcpyDeviceToHost);
  int alive = 0, where = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (board[y][x]) ++alive, where += y * width + x;
  printf("%d %d\n", alive, where);
  cudaFree(a);
  cudaFree(b);
  return 0;
}
