// What a whole program waits for: medians of 501 launches and copies of 4 bytes, in microseconds.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#define CHECK(call) do { if ((call) != hipSuccess) { std::printf("%s failed\n", #call); return 1; } } while (0)

__global__ void add(int* x) { x[threadIdx.x] += 1; }

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
  CHECK(hipMalloc(&device, 256));
  CHECK(hipMemset(device, 0, 256));
  bool failed = false;
  auto launch = [&] { add<<<1, 64>>>(device); failed |= hipGetLastError() != hipSuccess; };
  auto launch_and_wait = [&] { launch(); failed |= hipDeviceSynchronize() != hipSuccess; };
  auto copy = [&] { failed |= hipMemcpy(device, &host, 4, hipMemcpyHostToDevice) != hipSuccess; };
  launch_and_wait();
  double launches = median(launch), waits = median(launch_and_wait), copies = median(copy);
  if (failed) return 1;
  std::printf("%.2f %.2f %.2f\n", launches, waits, copies);
}
