// Conway's game of life on a torus: two buffers that change places; a glider walks.
// OUT: generation 0
// OUT: .#......
// OUT: ..#.....
// OUT: ###.....
// OUT: generation 32: the glider is back
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

__global__ void step(const unsigned char* now, unsigned char* next, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int around = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) around += now[(y + dy + h) % h * w + (x + dx + w) % w];
  next[y * w + x] = around == 3 || (around == 2 && now[y * w + x]);
}

int main() {
  const int w = 8, h = 8;
  std::vector<unsigned char> board(w * h), end(w * h);
  for (int at : {1, w + 2, 2 * w, 2 * w + 1, 2 * w + 2}) board[at] = 1;
  std::puts("generation 0");
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < w; ++x) std::putchar(board[y * w + x] ? '#' : '.');
    std::putchar('\n');
  }
  unsigned char* boards[2];
  for (auto& each : boards) CHECK(hipMalloc(&each, w * h));
  CHECK(hipMemcpy(boards[0], board.data(), w * h, hipMemcpyHostToDevice));
  for (int g = 0; g < 32; ++g) step<<<dim3(2, 2), dim3(4, 4)>>>(boards[g % 2], boards[1 - g % 2], w, h);
  CHECK(hipMemcpy(end.data(), boards[0], w * h, hipMemcpyDeviceToHost));
  if (end != board) return 1;
  std::puts("generation 32: the glider is back");
}
