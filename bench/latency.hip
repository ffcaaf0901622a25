// What a whole program waits for: medians of 501 launches, copies of 4 bytes, and nodes of graphs, in microseconds.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#define CHECK(call) do { if ((call) != hipSuccess) { std::printf("%s failed\n", #call); return 1; } } while (0)

__global__ void add(int* x) { x[threadIdx.x] += 1; }

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

static double median(const std::function<void()>& action) {
  std::vector<double> times;
  for (int i = 0; i < 501; i++) {
    auto start = std::chrono::steady_clock::now();
    action();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[250];
}

int main() {
  int *device, host = 7;
  float *x;
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t ten;
  CHECK(hipMalloc(&device, 256));
  CHECK(hipMemset(device, 0, 256));
  CHECK(hipMalloc(&x, 8192));
  CHECK(hipMemset(x, 0, 8192));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  for (int i = 0; i < 10; i++) saxpy<<<4, 256, 0, stream>>>(1024, 2.0f, x, x + 1024);
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&ten, graph, nullptr, nullptr, 0));
  bool failed = false;
  auto launch = [&] { add<<<1, 64>>>(device); failed |= hipGetLastError() != hipSuccess; };
  auto launch_and_wait = [&] { launch(); failed |= hipDeviceSynchronize() != hipSuccess; };
  auto four = [&] { saxpy<<<4, 256>>>(1024, 2.0f, x, x + 1024); failed |= hipGetLastError() != hipSuccess; };
  auto nodes = [&] { failed |= hipGraphLaunch(ten, stream) != hipSuccess; };
  auto copy = [&] { failed |= hipMemcpy(device, &host, 4, hipMemcpyHostToDevice) != hipSuccess; };
  launch_and_wait();
  nodes();
  double launches = median(launch), waits = median(launch_and_wait), copies = median(copy);
  double fours = median(four), node = median(nodes) / 10;
  if (failed) return 1;
  std::printf("%.2f %.2f %.2f %.2f %.2f\n", launches, fours, waits, node, copies);
}
