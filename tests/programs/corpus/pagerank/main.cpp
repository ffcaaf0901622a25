#include <hip/hip_runtime.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// PageRank by pull (CSR of incoming edges) and by push (atomicAdd)

#define checkHipErrors(val) check_((val), #val, __FILE__, __LINE__)

template <typename T> void check_(T result, char const *const func, const char *const file, int const line) {
  if (result) {
    fprintf(stderr, "HIP error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result),
            hipGetErrorName(result), func);
    exit(EXIT_FAILURE);
  }
}

__global__ void pull(const int *in_row, const int *in_col, const float *contrib, float *rank, float base, float damping, int n) {
  // one wavefront for each vertex
  int lane = threadIdx.x % warpSize;
  int v = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  if (v >= n) return;
  float sum = 0.0f;
  for (int e = in_row[v] + lane; e < in_row[v + 1]; e += warpSize) sum += contrib[in_col[e]];
  for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down(sum, offset);
  if (lane == 0) rank[v] = base + damping * sum;
}

__global__ void contributions(const float *rank, const int *out_degree, float *contrib, double *dangling, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  if (out_degree[v] == 0) {
    contrib[v] = 0.0f;
    atomicAdd(dangling, (double)rank[v]);
  } else {
    contrib[v] = rank[v] / out_degree[v];
  }
}

__global__ void push(const int *src, const int *dst, const float *contrib, float *sum, int m) {
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += gridDim.x * blockDim.x)
    atomicAdd(&sum[dst[e]], contrib[src[e]]);
}

__global__ void finish(float *sum, float base, float damping, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) sum[v] = base + damping * sum[v];
}

__global__ void l1(const float *a, const float *b, float *result, int n) {
  extern __shared__ float cache[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cache[threadIdx.x] = i < n ? fabsf(a[i] - b[i]) : 0.0f;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  if (!threadIdx.x) atomicAdd(result, cache[0]);
}

static void usage(const char *name) {
  printf("Usage: %s [-n vertices] [-e edges per vertex] [-i iterations] [-d damping]\n", name);
}

int main(int argc, char **argv) {
  int n = 3000, per = 8, iterations = 15, opt;
  float damping = 0.85f;
  while ((opt = getopt(argc, argv, "n:e:i:d:h")) != -1) {
    switch (opt) {
      case 'n': n = atoi(optarg); break;
      case 'e': per = atoi(optarg); break;
      case 'i': iterations = atoi(optarg); break;
      case 'd': damping = strtof(optarg, NULL); break;
      case 'h': usage(argv[0]); return 0;
      default: usage(argv[0]); return 1;
    }
  }
  int m = n * per;
  int *src = (int *)malloc(m * sizeof(int)), *dst = (int *)malloc(m * sizeof(int));
  int *degree = (int *)calloc(n, sizeof(int)), *row = (int *)calloc(n + 1, sizeof(int)), *col = (int *)malloc(m * sizeof(int));
  srand(42);
  for (int e = 0; e < m; e++) {
    do src[e] = rand() % n; while (src[e] % 10 == 3);             // every tenth has no outgoing edges
    dst[e] = (int)((double)n * pow(rand() / (RAND_MAX + 1.0), 3));   // popular ones in front
    degree[src[e]]++;
    row[dst[e] + 1]++;
  }
  for (int v = 0; v < n; v++) row[v + 1] += row[v];
  int *fill = (int *)malloc(n * sizeof(int));
  for (int v = 0; v < n; v++) fill[v] = row[v];
  for (int e = 0; e < m; e++) col[fill[dst[e]]++] = src[e];

  int *d_src, *d_dst, *d_degree, *d_row, *d_col;
  float *d_rank, *d_next, *d_contrib, *d_error;
  double *d_dangling;
  checkHipErrors(hipMalloc((void **)&d_src, m * sizeof(int)));
  checkHipErrors(hipMalloc((void **)&d_dst, m * sizeof(int)));
  checkHipErrors(hipMalloc((void **)&d_degree, n * sizeof(int)));
  checkHipErrors(hipMalloc((void **)&d_row, (n + 1) * sizeof(int)));
  checkHipErrors(hipMalloc((void **)&d_col, m * sizeof(int)));
  checkHipErrors(hipMalloc((void **)&d_rank, n * sizeof(float)));
  checkHipErrors(hipMalloc((void **)&d_next, n * sizeof(float)));
  checkHipErrors(hipMalloc((void **)&d_contrib, n * sizeof(float)));
  checkHipErrors(hipMalloc((void **)&d_error, sizeof(float)));
  checkHipErrors(hipMalloc((void **)&d_dangling, sizeof(double)));
  checkHipErrors(hipMemcpy(d_src, src, m * sizeof(int), hipMemcpyHostToDevice));
  checkHipErrors(hipMemcpy(d_dst, dst, m * sizeof(int), hipMemcpyHostToDevice));
  checkHipErrors(hipMemcpy(d_degree, degree, n * sizeof(int), hipMemcpyHostToDevice));
  checkHipErrors(hipMemcpy(d_row, row, (n + 1) * sizeof(int), hipMemcpyHostToDevice));
  checkHipErrors(hipMemcpy(d_col, col, m * sizeof(int), hipMemcpyHostToDevice));

  hipDeviceProp_t prop;
  checkHipErrors(hipGetDeviceProperties(&prop, 0));
  printf("%s, wavefronts of %d\n", prop.name, prop.warpSize);

  double *ref = (double *)malloc(n * sizeof(double)), *next = (double *)malloc(n * sizeof(double));
  for (int v = 0; v < n; v++) ref[v] = 1.0 / n;
  for (int it = 0; it < iterations; it++) {
    double dangling = 0;
    for (int v = 0; v < n; v++) {
      next[v] = 0;
      if (!degree[v]) dangling += ref[v];
    }
    for (int e = 0; e < m; e++) next[dst[e]] += ref[src[e]] / degree[src[e]];
    for (int v = 0; v < n; v++) ref[v] = (1 - damping) / n + damping * (dangling / n + next[v]);
  }

  float *rank = (float *)malloc(n * sizeof(float));
  int failures = 0;
  for (int version = 0; version < 2; version++) {
    for (int v = 0; v < n; v++) rank[v] = 1.0f / n;
    checkHipErrors(hipMemcpy(d_rank, rank, n * sizeof(float), hipMemcpyHostToDevice));
    float error = 0;
    for (int it = 0; it < iterations; it++) {
      double dangling = 0;
      checkHipErrors(hipMemset(d_dangling, 0, sizeof(double)));
      hipLaunchKernelGGL(contributions, (n + 255) / 256, 256, 0, 0, d_rank, d_degree, d_contrib, d_dangling, n);
      checkHipErrors(hipMemcpy(&dangling, d_dangling, sizeof(double), hipMemcpyDeviceToHost));
      float base = (1 - damping) / n + damping * dangling / n;
      if (version == 0) {
        int per_block = 256 / prop.warpSize;
        hipLaunchKernelGGL(pull, (n + per_block - 1) / per_block, 256, 0, 0, d_row, d_col, d_contrib, d_next, base, damping, n);
      } else {
        checkHipErrors(hipMemset(d_next, 0, n * sizeof(float)));
        hipLaunchKernelGGL(push, 32, 256, 0, 0, d_src, d_dst, d_contrib, d_next, m);
        hipLaunchKernelGGL(finish, (n + 255) / 256, 256, 0, 0, d_next, base, damping, n);
      }
      checkHipErrors(hipMemset(d_error, 0, sizeof(float)));
      hipLaunchKernelGGL(l1, (n + 127) / 128, 128, 128 * sizeof(float), 0, d_rank, d_next, d_error, n);
      checkHipErrors(hipMemcpy(&error, d_error, sizeof(float), hipMemcpyDeviceToHost));
      float *t = d_rank;
      d_rank = d_next;
      d_next = t;
    }
    checkHipErrors(hipMemcpy(rank, d_rank, n * sizeof(float), hipMemcpyDeviceToHost));
    double worst = 0, total = 0;
    for (int v = 0; v < n; v++) {
      double relative = fabs(rank[v] - ref[v]) / ref[v];
      if (relative > worst) worst = relative;
      total += rank[v];
    }
    printf("%s: L1 change %g, sum %.6f, largest relative error %.2e\n", version ? "push" : "pull", error, total, worst);
    if (worst > 2e-5 || fabs(total - 1) > 1e-4) failures++;
  }
  checkHipErrors(hipDeviceReset());
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures;
}
