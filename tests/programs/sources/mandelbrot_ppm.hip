// The Mandelbrot set as a picture file (PPM), a surface with a pitch, checked against the host's computation.
// OUT: P6 96 64 255
// OUT: 18432 bytes of picture are right
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
#include <fstream>
#include <string>

struct Colour {
  unsigned char r, g, b;
};
__host__ __device__ int escape(float cx, float cy, int most) {
  float x = 0, y = 0;
  int i = 0;
  for (; i < most && x * x + y * y < 4.0f; ++i) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  return i;
}
__host__ __device__ Colour colour(int n) {
  return {static_cast<unsigned char>(n * 5), static_cast<unsigned char>(n * 3), static_cast<unsigned char>(255 - n)};
}
__global__ void mandelbrot(unsigned char* out, size_t pitch, int width, int height) {
#pragma clang fp contract(off)
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  reinterpret_cast<Colour*>(out + y * pitch)[x] = colour(escape(x * 0.03125f - 2.0f, y * 0.03125f - 1.0f, 50));
}

int main() {
  const int width = 96, height = 64;
  unsigned char* device;
  size_t pitch;
  CHECK(hipMallocPitch(&device, &pitch, width * sizeof(Colour), height));
  mandelbrot<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(device, pitch, width, height);
  std::vector<Colour> host(width * height);
  CHECK(hipMemcpy2D(host.data(), width * sizeof(Colour), device, pitch, width * sizeof(Colour), height,
                    hipMemcpyDeviceToHost));
  CHECK(hipFree(device));
  {
    std::ofstream file("mandelbrot.ppm", std::ios::binary);
    file << "P6 " << width << " " << height << " 255\n";
    file.write(reinterpret_cast<char*>(host.data()), host.size() * sizeof(Colour));
  }
  std::ifstream file("mandelbrot.ppm", std::ios::binary);
  std::string head;
  std::getline(file, head);
  std::puts(head.c_str());
  int bytes = 0, wrong = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      Colour found;
      file.read(reinterpret_cast<char*>(&found), sizeof found);
      bytes += file.gcount();
      Colour expected = colour(escape(x * 0.03125f - 2.0f, y * 0.03125f - 1.0f, 50));
      wrong += found.r != expected.r || found.g != expected.g || found.b != expected.b;
    }
  if (wrong > width * height / 100) return 1;  // fused multiply-adds may move a point across the edge
  std::printf("%d bytes of picture are right\n", bytes);
}
