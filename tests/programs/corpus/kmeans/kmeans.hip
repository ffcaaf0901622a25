// k-means (Lloyd) with k-means++ style seeding on the host; assignment and accumulation fused, centres in LDS.
#include <hip/hip_runtime.h>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#define cudaCheck(e) do { if ((e) != hipSuccess) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)

template <int D>
__global__ void assign(const float *__restrict__ points, const float *__restrict__ centres, int *membership, float *sums, int *counts,
                       int *changed, double *inertia, int n, int k) {
  extern __shared__ char raw[];
  float *c = reinterpret_cast<float *>(raw), *s = c + k * D;
  int *m = reinterpret_cast<int *>(s + k * D);
  for (int i = threadIdx.x; i < k * D; i += blockDim.x) { c[i] = centres[i]; s[i] = 0; }
  for (int i = threadIdx.x; i < k; i += blockDim.x) m[i] = 0;
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  int moved = 0;
  double cost = 0;
  if (p < n) {
    float x[D];
    for (int d = 0; d < D; ++d) x[d] = points[d * n + p];      // features are rows
    int best = 0;
    float least = FLT_MAX;
    for (int j = 0; j < k; ++j) {
      float dist = 0;
      for (int d = 0; d < D; ++d) dist += (x[d] - c[j * D + d]) * (x[d] - c[j * D + d]);
      if (dist < least) { least = dist; best = j; }
    }
    moved = membership[p] != best;
    membership[p] = best;
    cost = least;
    for (int d = 0; d < D; ++d) atomicAdd(&s[best * D + d], x[d]);
    atomicAdd(&m[best], 1);
  }
  const int any = __syncthreads_count(moved);
  if (threadIdx.x == 0 && any) atomicAdd(changed, any);
  atomicAdd(inertia, cost);
  for (int i = threadIdx.x; i < k * D; i += blockDim.x) unsafeAtomicAdd(&sums[i], s[i]);
  for (int i = threadIdx.x; i < k; i += blockDim.x) atomicAdd(&counts[i], m[i]);
}

template <int D> __global__ void update(float *centres, const float *sums, const int *counts, int k) {
  const int i = threadIdx.x;
  if (i < k * D && counts[i / D] > 0) centres[i] = sums[i] / counts[i / D];
}

int main(int argc, char **argv) {
  constexpr int D = 4;
  const int n = argc > 1 ? atoi(argv[1]) : 4000, k = 7, most = 30;
  std::default_random_engine gen(17);
  std::normal_distribution<float> normal(0, 0.6f);
  std::uniform_real_distribution<float> uniform(-10, 10);
  std::vector<float> truth(k * D), points(n * D), start(k * D);
  for (auto &t : truth) t = uniform(gen);
  for (int p = 0; p < n; ++p)
    for (int d = 0; d < D; ++d) points[d * n + p] = truth[p % k * D + d] + normal(gen);
  // seeds: each the farthest point from those before
  std::vector<float> nearest(n, FLT_MAX);
  int seed = 0;
  for (int j = 0; j < k; ++j) {
    for (int d = 0; d < D; ++d) start[j * D + d] = points[d * n + seed];
    int far = 0;
    for (int p = 0; p < n; ++p) {
      float s = 0;
      for (int d = 0; d < D; ++d) s += powf(points[d * n + p] - start[j * D + d], 2);
      nearest[p] = fminf(nearest[p], s);
      if (nearest[p] > nearest[far]) far = p;
    }
    seed = far;
  }
  float *d_points, *d_centres, *d_sums;
  int *d_member, *d_counts, *d_changed;
  double *d_inertia, inertia = 0;
  cudaCheck(hipMalloc(&d_points, points.size() * sizeof(float)));
  cudaCheck(hipMalloc(&d_centres, k * D * sizeof(float)));
  cudaCheck(hipMalloc(&d_sums, k * D * sizeof(float)));
  cudaCheck(hipMalloc(&d_member, n * sizeof(int)));
  cudaCheck(hipMalloc(&d_counts, k * sizeof(int)));
  cudaCheck(hipMalloc(&d_changed, sizeof(int)));
  cudaCheck(hipMalloc(&d_inertia, sizeof(double)));
  cudaCheck(hipMemcpy(d_points, points.data(), points.size() * sizeof(float), hipMemcpyHostToDevice));
  cudaCheck(hipMemcpy(d_centres, start.data(), k * D * sizeof(float), hipMemcpyHostToDevice));
  cudaCheck(hipMemset(d_member, 0xff, n * sizeof(int)));
  int changed = 1, iterations = 0;
  while (changed && iterations < most) {
    cudaCheck(hipMemset(d_sums, 0, k * D * sizeof(float)));
    cudaCheck(hipMemset(d_counts, 0, k * sizeof(int)));
    cudaCheck(hipMemset(d_changed, 0, sizeof(int)));
    cudaCheck(hipMemset(d_inertia, 0, sizeof(double)));
    assign<D><<<(n + 255) / 256, 256, 2 * k * D * sizeof(float) + k * sizeof(int)>>>(d_points, d_centres, d_member, d_sums, d_counts, d_changed, d_inertia, n, k);
    update<D><<<1, 64>>>(d_centres, d_sums, d_counts, k);
    cudaCheck(hipGetLastError());
    cudaCheck(hipMemcpy(&changed, d_changed, sizeof(int), hipMemcpyDeviceToHost));
    ++iterations;
  }
  std::vector<int> member(n), counts(k);
  std::vector<float> centres(k * D);
  cudaCheck(hipMemcpy(member.data(), d_member, n * sizeof(int), hipMemcpyDeviceToHost));
  cudaCheck(hipMemcpy(counts.data(), d_counts, k * sizeof(int), hipMemcpyDeviceToHost));
  cudaCheck(hipMemcpy(centres.data(), d_centres, k * D * sizeof(float), hipMemcpyDeviceToHost));
  cudaCheck(hipMemcpy(&inertia, d_inertia, sizeof(double), hipMemcpyDeviceToHost));
  // a fixed point: members belong to the nearest centre, centres are means
  int wrong = 0;
  std::vector<double> mean(k * D, 0.0);
  std::vector<int> count(k, 0);
  double cost = 0, off = 0;
  for (int p = 0; p < n; ++p) {
    double least = 1e300;
    int best = 0;
    for (int j = 0; j < k; ++j) {
      double s = 0;
      for (int d = 0; d < D; ++d) s += pow(points[d * n + p] - centres[j * D + d], 2);
      if (s < least) { least = s; best = j; }
    }
    wrong += best != member[p];
    cost += least;
    ++count[member[p]];
    for (int d = 0; d < D; ++d) mean[member[p] * D + d] += points[d * n + p];
  }
  for (int i = 0; i < k * D; ++i) off = fmax(off, fabs(mean[i] / count[i / D] - centres[i]));
  printf("%d points, %d iterations, inertia %.3f (host %.3f), %d wrong members, centres off by %.2e\n", n, iterations, inertia, cost, wrong, off);
  for (void *p : {(void *)d_points, (void *)d_centres, (void *)d_sums, (void *)d_member, (void *)d_counts, (void *)d_changed, (void *)d_inertia}) cudaCheck(hipFree(p));
  const bool good = !wrong && !changed && count == counts && off < 1e-4 && fabs(inertia - cost) < 1e-4 * cost && iterations > 1;
  printf("%s\n", good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
