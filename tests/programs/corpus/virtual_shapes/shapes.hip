// Virtual functions, function pointers and recursion on the device; placement new; printf from a kernel; std::variant's
// cousin by hand; lambdas as kernel arguments
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#define CHECK_HIP(x) if (hipError_t e = (x); e != hipSuccess) { std::fprintf(stderr, "%s\n", hipGetErrorString(e)); std::exit(1); }

class Shape {
 public:
  __host__ __device__ virtual double area() const = 0;
  __host__ __device__ virtual int corners() const { return 0; }
  __host__ __device__ virtual ~Shape() {}
};
class Circle : public Shape {
  double r_;
 public:
  __host__ __device__ explicit Circle(double r) : r_(r) {}
  __host__ __device__ double area() const override { return 3.0 * r_ * r_; }
};
class Rectangle : public Shape {
 protected:
  double a_, b_;
 public:
  __host__ __device__ Rectangle(double a, double b) : a_(a), b_(b) {}
  __host__ __device__ double area() const override { return a_ * b_; }
  __host__ __device__ int corners() const override { return 4; }
};
class Frame final : public Rectangle {
 public:
  __host__ __device__ Frame(double a, double b) : Rectangle(a, b) {}
  __host__ __device__ double area() const override { return Rectangle::area() - (a_ - 1) * (b_ - 1); }
};

__host__ __device__ inline Shape* make(int i, void* memory) {
  switch (i % 3) {
    case 0: return new (memory) Circle(i);
    case 1: return new (memory) Rectangle(i, 2);
    default: return new (memory) Frame(i, i + 1);
  }
}

__global__ void build(Shape** shapes, char* memory, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) shapes[i] = make(i, memory + i * 32);
}
__global__ void measure(Shape* const* shapes, double* areas, int* corners, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  areas[i] = shapes[i]->area();
  corners[i] = shapes[i]->corners();
}
__global__ void destroy(Shape** shapes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) shapes[i]->~Shape();
  if (i == 0) printf("%d shapes are gone (%s)\n", n, "device");
}

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ int greatest(int a, int b) { return b == 0 ? a : greatest(b, a % b); }
__device__ Operation table[3] = {plus, times, greatest};

__global__ void apply(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i % 3](i, 36) + (i < 4 ? ackermann(2, i) : 0);
}

template <typename F> __global__ void for_each(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 200, block = 64, grid = (n + block - 1) / block;
  Shape** shapes;
  char* memory;
  double* areas;
  int* corners;
  CHECK_HIP(hipMalloc(&shapes, n * sizeof(Shape*)));
  CHECK_HIP(hipMalloc(&memory, n * 32));
  CHECK_HIP(hipMalloc(&areas, n * sizeof(double)));
  CHECK_HIP(hipMalloc(&corners, n * sizeof(int)));
  build<<<grid, block>>>(shapes, memory, n);
  measure<<<grid, block>>>(shapes, areas, corners, n);
  destroy<<<grid, block>>>(shapes, n);
  CHECK_HIP(hipDeviceSynchronize());
  std::vector<double> a(n);
  std::vector<int> c(n), o(n);
  CHECK_HIP(hipMemcpy(a.data(), areas, n * sizeof(double), hipMemcpyDeviceToHost));
  CHECK_HIP(hipMemcpy(c.data(), corners, n * sizeof(int), hipMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    alignas(16) char place[32];
    Shape* s = make(i, place);
    wrong += a[i] != s->area() || c[i] != s->corners();
    s->~Shape();
  }
  apply<<<grid, block>>>(corners, n);
  CHECK_HIP(hipMemcpy(o.data(), corners, n * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    int x = i, y = 36;
    while (y) { int t = x % y; x = y; y = t; }
    const int want = (i % 3 == 0 ? i + 36 : i % 3 == 1 ? i * 36 : x) + (i < 4 ? 2 * i + 3 : 0);
    if (o[i] != want) { ++wrong; std::printf("%d: %d, should be %d\n", i, o[i], want); }
  }
  const double factor = 0.5;
  for_each<<<grid, block>>>(n, [=] __device__(int i) { areas[i] = factor * i * i; });
  CHECK_HIP(hipMemcpy(a.data(), areas, n * sizeof(double), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) wrong += a[i] != 0.5 * i * i;
  CHECK_HIP(hipFree(shapes)); CHECK_HIP(hipFree(memory)); CHECK_HIP(hipFree(areas)); CHECK_HIP(hipFree(corners));
  std::printf("%d wrong\n%s\n", wrong, wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
