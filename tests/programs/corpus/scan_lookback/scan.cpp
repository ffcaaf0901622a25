// Single-pass prefix sum with decoupled look-back: tiles take numbers in order of their start, publish their total,
// and walk backwards over the tiles before them. Also as stream compaction.
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call) if (hipError_t e = (call)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, hipGetErrorString(e)); std::exit(1); }

constexpr int THREADS = 128, ITEMS = 4, TILE = THREADS * ITEMS;
enum : std::uint64_t { INVALID = 0, AGGREGATE = 1ull << 62, PREFIX = 2ull << 62, MASK = (1ull << 62) - 1 };

__device__ std::uint32_t block_scan(std::uint32_t v, std::uint32_t& total) {
  __shared__ std::uint32_t s[THREADS];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 1; d < THREADS; d *= 2) {
    std::uint32_t o = int(threadIdx.x) >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += o;
    __syncthreads();
  }
  total = s[THREADS - 1];
  std::uint32_t r = s[threadIdx.x] - v;
  __syncthreads();
  return r;
}

template <class Value, class Sink>
__device__ void scan_tile(Value value, Sink sink, std::uint64_t* states, unsigned* next, int n) {
  __shared__ int tile;
  __shared__ std::uint64_t before;
  if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
  __syncthreads();
  const int first = tile * TILE + threadIdx.x * ITEMS;
  std::uint32_t items[ITEMS], sum = 0, total;
  for (int k = 0; k < ITEMS; ++k) sum += items[k] = first + k < n ? value(first + k) : 0;
  const std::uint32_t mine = block_scan(sum, total);
  if (threadIdx.x == 0) {
    std::uint64_t prefix = 0;
    if (tile > 0) {
      __hip_atomic_store(&states[tile], AGGREGATE | total, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
      for (int t = tile - 1;;) {
        const std::uint64_t state = __hip_atomic_load(&states[t], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
        if ((state & ~MASK) == INVALID) { __builtin_amdgcn_s_sleep(2); continue; }
        prefix += state & MASK;
        if ((state & ~MASK) == PREFIX) break;
        --t;
      }
    }
    __hip_atomic_store(&states[tile], PREFIX | (prefix + total), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    before = prefix;
  }
  __syncthreads();
  std::uint64_t at = before + mine;
  for (int k = 0; k < ITEMS; ++k) {
    if (first + k < n) sink(first + k, at, items[k]);
    at += items[k];
  }
}

__global__ void exclusive_scan(const std::uint32_t* in, std::uint64_t* out, std::uint64_t* states, unsigned* next, int n) {
  scan_tile([=](int i) { return in[i]; }, [=](int i, std::uint64_t at, std::uint32_t) { out[i] = at; }, states, next, n);
}

__global__ void compact(const std::uint32_t* in, std::uint32_t* out, std::uint64_t* states, unsigned* next, int n, std::uint32_t modulus) {
  scan_tile([=](int i) -> std::uint32_t { return in[i] % modulus == 0; },
            [=](int i, std::uint64_t at, std::uint32_t kept) { if (kept) out[at] = in[i]; }, states, next, n);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 30000, tiles = (n + TILE - 1) / TILE;
  std::vector<std::uint32_t> h(n), kept;
  std::vector<std::uint64_t> got(n), want(n);
  std::uint64_t sum = 0;
  for (int i = 0; i < n; ++i) { h[i] = (i * 2654435761u) >> 12; want[i] = sum; sum += h[i]; if (h[i] % 7 == 0) kept.push_back(h[i]); }
  std::uint32_t *in, *out32; std::uint64_t *out, *states; unsigned* next;
  TRY(hipMalloc(&in, n * 4)); TRY(hipMalloc(&out32, n * 4)); TRY(hipMalloc(&out, n * 8)); TRY(hipMalloc(&states, tiles * 8)); TRY(hipMalloc(&next, 4));
  TRY(hipMemcpy(in, h.data(), n * 4, hipMemcpyHostToDevice));
  TRY(hipMemset(states, 0, tiles * 8)); TRY(hipMemset(next, 0, 4));
  exclusive_scan<<<tiles, THREADS>>>(in, out, states, next, n);
  TRY(hipGetLastError());
  TRY(hipMemcpy(got.data(), out, n * 8, hipMemcpyDeviceToHost));
  std::uint64_t last;
  TRY(hipMemcpy(&last, states + tiles - 1, 8, hipMemcpyDeviceToHost));
  bool good = got == want && last == (PREFIX | sum);
  std::printf("scan of %d in %d tiles: %s, total %llu\n", n, tiles, good ? "right" : "WRONG", (unsigned long long)(last & MASK));
  TRY(hipMemset(states, 0, tiles * 8)); TRY(hipMemset(next, 0, 4));
  compact<<<tiles, THREADS>>>(in, out32, states, next, n, 7);
  TRY(hipGetLastError());
  TRY(hipMemcpy(&last, states + tiles - 1, 8, hipMemcpyDeviceToHost));
  std::vector<std::uint32_t> few(last & MASK);
  TRY(hipMemcpy(few.data(), out32, few.size() * 4, hipMemcpyDeviceToHost));
  const bool same = few == kept;
  std::printf("compaction: %zu kept, %s\n", few.size(), same ? "right" : "WRONG");
  TRY(hipFree(in)); TRY(hipFree(out32)); TRY(hipFree(out)); TRY(hipFree(states)); TRY(hipFree(next));
  std::puts(good && same ? "PASS" : "FAIL");
  return good && same ? 0 : 1;
}
