// A transpose through LDS in three dimensions of blocks, with hipMemcpy2D and hipMemcpy3D around it.
// OUT: transposed 3 slices of 48 x 80
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

constexpr int tile = 16;
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float t[tile][tile + 1];
  in += blockIdx.z * rows * columns;
  out += blockIdx.z * rows * columns;
  int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  if (x < columns && y < rows) t[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  int tx = blockIdx.y * tile + threadIdx.x, ty = blockIdx.x * tile + threadIdx.y;
  if (tx < rows && ty < columns) out[ty * rows + tx] = t[threadIdx.x][threadIdx.y];
}

int main() {
  const int rows = 48, columns = 80, slices = 3, n = rows * columns * slices;
  std::vector<float> host(n), found(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  float *in, *out;
  CHECK(hipMalloc(&in, n * sizeof(float)));
  CHECK(hipMalloc(&out, n * sizeof(float)));
  CHECK(hipMemset(out, 0, n * sizeof(float)));
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(host.data(), columns * sizeof(float), columns, rows);
  copy.dstPtr = make_hipPitchedPtr(in, columns * sizeof(float), columns, rows);
  copy.extent = make_hipExtent(columns * sizeof(float), rows, slices);
  copy.kind = hipMemcpyHostToDevice;
  CHECK(hipMemcpy3D(&copy));
  transpose<<<dim3(columns / tile, rows / tile, slices), dim3(tile, tile)>>>(in, out, rows, columns);
  for (int s = 0; s < slices; ++s)
    CHECK(hipMemcpy2D(&found[s * rows * columns], rows * sizeof(float), out + s * rows * columns, rows * sizeof(float),
                      rows * sizeof(float), columns, hipMemcpyDeviceToHost));
  for (int s = 0; s < slices; ++s)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        if (found[(s * columns + x) * rows + y] != host[(s * rows + y) * columns + x]) return 1;
  std::printf("transposed %d slices of %d x %d\n", slices, rows, columns);
}
