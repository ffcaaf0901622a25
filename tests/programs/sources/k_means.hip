// k-means clustering: assignment in one kernel, sums by atomics, new centres on the host until nothing changes.
// OUT: 3 clusters of 200 points each
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
#include <array>

__global__ void assign(const float2* points, int n, const float2* centres, int k, int* owner, float2* sums, int* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  float least = 1e30f;
  for (int c = 0; c < k; ++c) {
    float2 d = points[i] - centres[c];
    float distance = d.x * d.x + d.y * d.y;
    if (distance < least) least = distance, best = c;
  }
  owner[i] = best;
  atomicAdd(&sums[best].x, points[i].x);
  atomicAdd(&sums[best].y, points[i].y);
  atomicAdd(&counts[best], 1);
}

int main() {
  const int n = 600, k = 3;
  const std::array<float2, k> middle = {make_float2(0, 0), make_float2(10, 0), make_float2(5, 9)};
  std::vector<float2> points(n), centres = {make_float2(1, 1), make_float2(6, 1), make_float2(6, 5)};
  for (int i = 0; i < n; ++i)
    points[i] = middle[i % k] + make_float2((i * 37 % 101 - 50) * 0.02f, (i * 53 % 97 - 48) * 0.02f);
  float2 *dp, *dc, *ds;
  int *owner, *counts;
  CHECK(hipMalloc(&dp, n * sizeof(float2)));
  CHECK(hipMalloc(&dc, k * sizeof(float2)));
  CHECK(hipMallocManaged(&ds, k * sizeof(float2)));
  CHECK(hipMallocManaged(&counts, k * sizeof(int)));
  CHECK(hipMalloc(&owner, n * sizeof(int)));
  CHECK(hipMemcpy(dp, points.data(), n * sizeof(float2), hipMemcpyHostToDevice));
  for (int round = 0; round < 20; ++round) {
    for (int c = 0; c < k; ++c) ds[c] = make_float2(0, 0), counts[c] = 0;
    CHECK(hipMemcpy(dc, centres.data(), k * sizeof(float2), hipMemcpyHostToDevice));
    assign<<<(n + 63) / 64, 64>>>(dp, n, dc, k, owner, ds, counts);
    CHECK(hipDeviceSynchronize());
    bool same = true;
    for (int c = 0; c < k; ++c) {
      float2 next = counts[c] ? ds[c] / static_cast<float>(counts[c]) : centres[c];
      same = same && next.x == centres[c].x && next.y == centres[c].y;
      centres[c] = next;
    }
    if (same) break;
  }
  std::vector<int> found(n);
  CHECK(hipMemcpy(found.data(), owner, n * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (found[i] != found[i % k] || (i < k && counts[found[i]] != n / k)) return 1;
  std::printf("%d clusters of %d points each\n", k, n / k);
}
