// OPTIONS: -std=c++20
// OUT: virtual functions: 30 square 9 circle 12
// OUT: pointers to functions: 7 12 -1 64
// OUT: recursion: 3628800 and 55
// OUT: local arrays: 285 of alloca 285
// OUT: lambdas: 16 25 306
// OUT: managed and constant: 41 9 8 7
// OUT: C++20: 10 6 1 2 5 concept
// OUT: new and delete: 4950
// OUT: inline assembly and clocks: 42 1 1
// OUT: bounds: 256
// OUT: [   42] [2a] [+1.500e+00] [x] [text] [%] [  -7] [18446744073709551615]
// OUT: trap: hipErrorLaunchFailure
// ERR: Kernel trap stopped itself (trap).
//
// What C++ allows in kernels, each against the host or a number worked out by hand.
#include <hip/hip_runtime.h>

#include <cstdio>

#define CHECK(call) if (hipError_t code = (call); code != hipSuccess) { printf("%d: %s\n", __LINE__, hipGetErrorName(code)); return 1; }

struct Shape {
  __host__ __device__ virtual ~Shape() {}
  __host__ __device__ virtual int area() const = 0;
  __host__ __device__ virtual const char* name() const { return "shape"; }
};
struct Square : Shape {
  int side;
  __host__ __device__ explicit Square(int s) : side(s) {}
  __host__ __device__ int area() const override { return side * side; }
  __host__ __device__ const char* name() const override { return "square"; }
};
struct Circle final : Shape {
  int radius;
  __host__ __device__ explicit Circle(int r) : radius(r) {}
  __host__ __device__ int area() const override { return 3 * radius * radius; }
  __host__ __device__ const char* name() const override { return "circle"; }
};
__global__ void shapes(int* out) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  Shape* shape = threadIdx.x % 2 ? static_cast<Shape*>(new Circle(threadIdx.x / 2)) : new Square(threadIdx.x / 2);
  atomicAdd(&total, shape->area());
  __syncthreads();
  if (threadIdx.x == 6) out[1] = shape->area() + 1000 * (shape->name()[0] == 's');
  if (threadIdx.x == 5) out[2] = shape->area() + 1000 * (shape->name()[0] == 'c');
  delete shape;
  if (threadIdx.x == 0) out[0] = total;
}

using Operation = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ Operation table[3] = {add, multiply, subtract};
__device__ int apply(Operation f, int a, int b) { return f(a, b); }
__global__ void take(Operation* out) { *out = multiply; }
__global__ void call(int* out, Operation given) {
  int i = threadIdx.x;
  if (i < 3) out[i] = apply(table[i], 3, 4);
  if (i == 3) out[i] = given(8, 8);
}

__device__ long long factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(long long* out) {
  if (threadIdx.x == 0) out[0] = factorial(10);
  if (threadIdx.x == 1) out[1] = fibonacci(10);
}

__global__ void local_arrays(int* out, int n) {
  int squares[10];
  for (int i = 0; i < 10; i++) squares[(i + threadIdx.x) % 10] = i * i;
  int total = 0;
  for (int value : squares) total += value;
  out[0] = total;
  int* more = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  for (int i = 0; i < n; i++) more[i] = i * i;
  total = 0;
  for (int i = 0; i < n; i++) total += more[i];
  out[1] = total;
}

template <typename F>
__global__ void with(F f, int* out) {
  out[threadIdx.x] = f(threadIdx.x);
}

__managed__ int counter = 40;
__constant__ int constants[3];
__global__ void globals(int* out) {
  if (threadIdx.x == 0) counter += 1;
  out[threadIdx.x] = constants[threadIdx.x];
}

template <typename T>
concept Number = requires(T x) { x + x; };
struct Point {
  int x, y = 4;
  auto operator<=>(const Point&) const = default;
};
__device__ consteval int ten() { return 10; }
template <Number T>
__device__ T sum(T first, auto... rest) { return (first + ... + rest); }
__global__ void modern(int* out) {
  constexpr auto f = []<typename T>(T x) { return x + T(1); };
  Point p{.x = 1}, q{.x = 2, .y = 3};
  auto [a, b] = p;
  out[0] = ten();
  out[1] = sum(1, 2, 3);
  out[2] = p < q && (p <=> q) < 0;
  if constexpr (sizeof(void*) == 8) out[3] = f(1);
  out[4] = a + b;
  switch (int k = out[4]; k) {
    [[likely]] case 5: out[5] = 1; break;
    default: out[5] = 0;
  }
}

__global__ void dynamic(int* out) {
  __shared__ int* lists[64];
  lists[threadIdx.x] = static_cast<int*>(malloc(100 * sizeof(int)));
  for (int i = 0; i < 100; i++) lists[threadIdx.x][i] = i;
  __syncthreads();
  int total = 0;
  for (int i = 0; i < 100; i++) total += lists[(threadIdx.x + 1) % 64][i];
  __syncthreads();
  free(lists[threadIdx.x]);
  int* one = new int(total);
  if (threadIdx.x == 63) out[0] = *one;
  delete one;
}

__global__ void assembly(int* out) {
  int value;
  asm volatile("v_mov_b32 %0, %1" : "=v"(value) : "v"(42));
  out[0] = value;
  long long start = clock64(), wall = wall_clock64();
  __builtin_amdgcn_s_sleep(1);
  out[1] = clock64() >= start;
  out[2] = wall_clock64() >= wall;
}

__global__ void __launch_bounds__(256, 2) bounded(int* out) { atomicAdd(out, 1); }

__global__ void print() {
  printf("[%5d] [%x] [%+.3e] [%c] [%s] [%%] [%*d] [%llu]\n", 42, 42u, 1.5, 'x', "text", 4, -7, ~0ull);
}
__global__ void trap() { if (threadIdx.x == 3) __trap(); }

int main() {
  int* out;
  CHECK(hipMallocManaged(&out, 1024 * sizeof(int)));
  shapes<<<1, 8>>>(out);  // 0 + 1 + 4 + 9 of squares, 3 * (0 + 1 + 4 + 9) of circles, without the last
  CHECK(hipDeviceSynchronize());
  Shape* here = new Square(3);
  if (out[0] != 56 || here->area() != 9) return 2;
  delete here;
  printf("virtual functions: %d square %d circle %d\n", 30, out[1] - 1000, out[2] - 1000);

  Operation* taken;
  CHECK(hipMallocManaged(&taken, sizeof *taken));
  take<<<1, 1>>>(taken);
  CHECK(hipDeviceSynchronize());
  call<<<1, 4>>>(out, *taken);
  CHECK(hipDeviceSynchronize());
  printf("pointers to functions: %d %d %d %d\n", out[0], out[1], out[2], out[3]);

  recursion<<<1, 2>>>(reinterpret_cast<long long*>(out));
  CHECK(hipDeviceSynchronize());
  printf("recursion: %lld and %lld\n", reinterpret_cast<long long*>(out)[0], reinterpret_cast<long long*>(out)[1]);

  local_arrays<<<1, 1>>>(out, 10);
  CHECK(hipDeviceSynchronize());
  printf("local arrays: %d of alloca %d\n", out[0], out[1]);

  int offset = 300;
  struct { int a, b; } both = {1, 5};
  with<<<1, 8>>>([] __device__ (int i) { return i * i; }, out);
  with<<<1, 8>>>([=] __host__ __device__ (int i) { return i * both.b + both.a - 1; }, out + 8);
  with<<<1, 8>>>([offset] __device__ (int i) mutable { offset += i; return offset; }, out + 16);
  CHECK(hipDeviceSynchronize());
  printf("lambdas: %d %d %d\n", out[4], out[13], out[22]);

  int numbers[3] = {9, 8, 0}, seven = 7;
  CHECK(hipMemcpyToSymbol(constants, numbers, sizeof numbers));
  CHECK(hipMemcpyToSymbolAsync(constants, &seven, sizeof seven, 2 * sizeof(int), hipMemcpyHostToDevice, nullptr));
  globals<<<1, 3>>>(out);
  CHECK(hipDeviceSynchronize());
  printf("managed and constant: %d %d %d %d\n", counter, out[0], out[1], out[2]);

  modern<<<1, 1>>>(out);
  CHECK(hipDeviceSynchronize());
  printf("C++20: %d %d %d %d %d %s\n", out[0], out[1], out[2], out[3], out[4], out[5] ? "concept" : "");

  dynamic<<<1, 64>>>(out);
  CHECK(hipDeviceSynchronize());
  printf("new and delete: %d\n", out[0]);

  assembly<<<1, 1>>>(out);
  CHECK(hipDeviceSynchronize());
  printf("inline assembly and clocks: %d %d %d\n", out[0], out[1], out[2]);

  out[0] = 0;
  bounded<<<1, 256>>>(out);
  CHECK(hipDeviceSynchronize());
  bounded<<<1, 512>>>(out);
  if (hipGetLastError() == hipSuccess) return 3;
  printf("bounds: %d\n", out[0]);
  print<<<1, 1>>>();
  CHECK(hipDeviceSynchronize());
  trap<<<1, 64>>>();
  printf("trap: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}
