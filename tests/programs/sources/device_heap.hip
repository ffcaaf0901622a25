// new, delete and malloc in kernels; virtual functions of objects that the device made.
// The heap's limit: 2 GiB of a TiB that is asked for, and what is asked for later.
// OUT: areas 12 and 9 from the device
// OUT: limit 8 MiB: 7 arrays
// OUT: limit 2048 MiB: 100 arrays
// OUT: limit 4 MiB: 0 arrays
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

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Rectangle : Shape {
  float w, h;
  __device__ Rectangle(float w, float h) : w(w), h(h) {}
  __device__ float area() const override { return w * h; }
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float side) : side(side) {}
  __device__ float area() const override { return side * side; }
};

__global__ void make(Shape** shapes) {
  shapes[0] = new Rectangle(3, 4);
  shapes[1] = new Square(3);
}
__global__ void measure(Shape** shapes, float* areas) { areas[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void destroy(Shape** shapes) { delete shapes[threadIdx.x]; }

__global__ void arrays(int most, int* count) {
  *count = 0;
  while (*count < most) {
    char* made = static_cast<char*>(malloc((1 << 20) - 16));
    if (!made) break;
    made[(1 << 20) - 17] = 1;
    ++*count;
  }
}

int main() {
  Shape** shapes;
  float *areas, host[2];
  CHECK(hipMalloc(&shapes, 2 * sizeof(Shape*)));
  CHECK(hipMalloc(&areas, sizeof host));
  make<<<1, 1>>>(shapes);
  measure<<<1, 2>>>(shapes, areas);
  destroy<<<1, 2>>>(shapes);
  CHECK(hipMemcpy(host, areas, sizeof host, hipMemcpyDeviceToHost));
  std::printf("areas %g and %g from the device\n", host[0], host[1]);
  int *count, found;
  CHECK(hipMalloc(&count, sizeof(int)));
  for (size_t limit : {size_t(0), size_t(1) << 40, size_t(4) << 20}) {
    if (limit) CHECK(hipDeviceSetLimit(hipLimitMallocHeapSize, limit));
    CHECK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
    arrays<<<1, 1>>>(100, count);
    CHECK(hipMemcpy(&found, count, sizeof found, hipMemcpyDeviceToHost));
    std::printf("limit %zu MiB: %d arrays\n", limit >> 20, found);
  }
}
