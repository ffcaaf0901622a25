// Triangle counting on an undirected graph: edges directed from low to high degree, sorted adjacency lists,
// one intersection per edge by binary search or merge; a bitmap version in shared memory.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#define HIP_ASSERT(x) do { hipError_t err__ = (x); if (err__ != hipSuccess) { \
    fprintf(stderr, "hip error: '%s'\n", hipGetErrorString(err__)); exit(1); } } while(0)

typedef unsigned long long ull;

__device__ __forceinline__ bool contains(const int* a, int lo, int hi, int x)
{
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        int y = __ldg(a + mid);
        if (y == x) return true;
        if (y < x) lo = mid + 1; else hi = mid;
    }
    return false;
}

__global__ void tc_binary(const int* __restrict__ row, const int* __restrict__ col, const int* __restrict__ src, int m, ull* total)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int found = 0;
    if (e < m) {
        int u = src[e], v = col[e];
        int ub = row[u], ue = row[u + 1], vb = row[v], ve = row[v + 1];
        if (ue - ub > ve - vb) { int t = ub; ub = vb; vb = t; t = ue; ue = ve; ve = t; }
        for (int i = ub; i < ue; ++i) found += contains(col, vb, ve, col[i]);
    }
    // ballot-based would be exact only for 0/1: use a wave reduction
    for (int d = warpSize >> 1; d; d >>= 1) found += __shfl_xor(found, d);
    if ((threadIdx.x & (warpSize - 1)) == 0 && found) atomicAdd(total, (ull)found);
}

__global__ void tc_merge(const int* row, const int* col, const int* src, int m, ull* total)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += blockDim.x * gridDim.x) {
        int i = row[src[e]], ie = row[src[e] + 1], j = row[col[e]], je = row[col[e] + 1];
        unsigned c = 0;
        while (i < ie && j < je) {
            int d = col[i] - col[j];
            c += d == 0;
            i += d <= 0;
            j += d >= 0;
        }
        if (c) atomicAdd(total, (ull)c);
    }
}

__global__ void tc_bitmap(const int* row, const int* col, int n, int words, ull* total)
{
    extern __shared__ unsigned bits[];
    unsigned count = 0;
    for (int u = blockIdx.x; u < n; u += gridDim.x) {
        for (int w = threadIdx.x; w < words; w += blockDim.x) bits[w] = 0u;
        __syncthreads();
        for (int i = row[u] + threadIdx.x; i < row[u + 1]; i += blockDim.x) atomicOr(&bits[col[i] >> 5], 1u << (col[i] & 31));
        __syncthreads();
        for (int i = row[u]; i < row[u + 1]; ++i) {
            int v = col[i];
            for (int j = row[v] + threadIdx.x; j < row[v + 1]; j += blockDim.x) count += (bits[col[j] >> 5] >> (col[j] & 31)) & 1;
        }
        __syncthreads();
    }
    __shared__ unsigned block_total;
    if (threadIdx.x == 0) block_total = 0;
    __syncthreads();
    atomicAdd(&block_total, count);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, (ull)block_total);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1500;
    const int want = argc > 2 ? atoi(argv[2]) : 12 * n;
    std::set<std::pair<int, int>> edges;
    unsigned x = 88172645u;
    auto next = [&x] { x ^= x << 13; x ^= x >> 17; x ^= x << 5; return x; };
    while ((int)edges.size() < want) {
        int a = next() % n, b = (a + 1 + (int)(next() % (next() & 1 ? 20 : n - 1))) % n;
        if (a != b) edges.insert(std::make_pair(std::min(a, b), std::max(a, b)));
    }
    std::vector<int> degree(n, 0);
    for (auto& e : edges) { degree[e.first]++; degree[e.second]++; }
    std::vector<std::vector<int>> adjacency(n), full(n);
    for (auto& e : edges) {
        int a = e.first, b = e.second;
        full[a].push_back(b); full[b].push_back(a);
        if (degree[a] > degree[b] || (degree[a] == degree[b] && a > b)) std::swap(a, b);
        adjacency[a].push_back(b);
    }
    std::vector<int> row(1, 0), col, src;
    for (int v = 0; v < n; ++v) {
        std::sort(adjacency[v].begin(), adjacency[v].end());
        for (int w : adjacency[v]) { col.push_back(w); src.push_back(v); }
        row.push_back((int)col.size());
    }
    // host: another method (all neighbours of each vertex, each triangle found six times)
    ull expected = 0;
    for (auto& f : full) std::sort(f.begin(), f.end());
    for (int v = 0; v < n; ++v)
        for (int a : full[v])
            for (int b : full[v])
                if (a < b && std::binary_search(full[a].begin(), full[a].end(), b)) ++expected;
    expected /= 3;

    int *d_row, *d_col, *d_src, m = (int)col.size();
    ull* d_total;
    HIP_ASSERT(hipMalloc((void**)&d_row, row.size() * sizeof(int)));
    HIP_ASSERT(hipMalloc((void**)&d_col, m * sizeof(int)));
    HIP_ASSERT(hipMalloc((void**)&d_src, m * sizeof(int)));
    HIP_ASSERT(hipMalloc((void**)&d_total, 3 * sizeof(ull)));
    HIP_ASSERT(hipMemcpy(d_row, row.data(), row.size() * sizeof(int), hipMemcpyHostToDevice));
    HIP_ASSERT(hipMemcpy(d_col, col.data(), m * sizeof(int), hipMemcpyHostToDevice));
    HIP_ASSERT(hipMemcpy(d_src, src.data(), m * sizeof(int), hipMemcpyHostToDevice));
    HIP_ASSERT(hipMemset(d_total, 0, 3 * sizeof(ull)));
    const int words = (n + 31) / 32;
    hipLaunchKernelGGL(tc_binary, dim3((m + 255) / 256), dim3(256), 0, 0, d_row, d_col, d_src, m, d_total);
    hipLaunchKernelGGL(tc_merge, dim3(60), dim3(64), 0, 0, d_row, d_col, d_src, m, d_total + 1);
    hipLaunchKernelGGL(tc_bitmap, dim3(24), dim3(128), words * sizeof(unsigned), 0, d_row, d_col, n, words, d_total + 2);
    HIP_ASSERT(hipGetLastError());
    ull got[3];
    HIP_ASSERT(hipMemcpy(got, d_total, sizeof got, hipMemcpyDeviceToHost));
    printf("%d vertices, %d edges: %llu triangles; device: %llu %llu %llu\n", n, m, expected, got[0], got[1], got[2]);
    hipFree(d_row); hipFree(d_col); hipFree(d_src); hipFree(d_total);
    for (int i = 0; i < 3; ++i)
        if (got[i] != expected) { puts("FAILED"); return 1; }
    puts("PASSED!");
    return 0;
}
