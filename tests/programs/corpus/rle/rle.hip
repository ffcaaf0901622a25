// Run-length encoding: heads, scan (three kernels), scatter; decoding by a binary search per element
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define HIP_TRY(x) if (hipError_t e_ = (x)) return fprintf(stderr, "%s: %s\n", #x, hipGetErrorString(e_)), 1

constexpr int B = 256;

__global__ void heads(const char* in, unsigned* flags, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n) flags[i] = i == 0 || in[i] != in[i - 1];
}

// inclusive scan of each block with wave shuffles; the block's total goes to sums
__global__ void scan_blocks(unsigned* data, unsigned* sums, int n) {
  __shared__ unsigned wave_sums[B / 32];
  const int i = blockIdx.x * B + threadIdx.x, lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = B / warpSize;
  unsigned v = i < n ? data[i] : 0;
  for (int d = 1; d < warpSize; d *= 2) {
    unsigned o = __shfl_up(v, d);
    if (lane >= d) v += o;
  }
  if (lane == warpSize - 1) wave_sums[wave] = v;
  __syncthreads();
  if (wave == 0) {
    unsigned w = lane < waves ? wave_sums[lane] : 0;
    for (int d = 1; d < waves; d *= 2) {
      unsigned o = __shfl_up(w, d);
      if (lane >= d) w += o;
    }
    if (lane < waves) wave_sums[lane] = w;
  }
  __syncthreads();
  if (wave > 0) v += wave_sums[wave - 1];
  if (i < n) data[i] = v;
  if (threadIdx.x == B - 1 && sums) sums[blockIdx.x] = v;
}

__global__ void add_offsets(unsigned* data, const unsigned* sums, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (blockIdx.x > 0 && i < n) data[i] += sums[blockIdx.x - 1];
}

__global__ void write_runs(const char* in, const unsigned* position, char* symbols, unsigned* starts, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i >= n) return;
  if (i == 0 || position[i] != position[i - 1]) {
    symbols[position[i] - 1] = in[i];
    starts[position[i] - 1] = i;
  }
}

__global__ void decode(const char* symbols, const unsigned* starts, unsigned runs, char* out, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i >= n) return;
  unsigned lo = 0, hi = runs;
  while (hi - lo > 1) {
    unsigned mid = lo + (hi - lo) / 2;
    if (starts[mid] <= (unsigned)i) lo = mid; else hi = mid;
  }
  out[i] = symbols[lo];
}

static void scan(unsigned* d, int n) {
  const int blocks = (n + B - 1) / B;
  unsigned* sums = nullptr;
  if (blocks > 1 && hipMalloc(&sums, blocks * sizeof(unsigned)) != hipSuccess) abort();
  scan_blocks<<<blocks, B>>>(d, sums, n);
  if (blocks > 1) {
    scan(sums, blocks);
    add_offsets<<<blocks, B>>>(d, sums, n);
    if (hipFree(sums) != hipSuccess) abort();
  }
}

static int test(const std::string& text, const char* name) {
  const int n = (int)text.size();
  char *in, *symbols, *out;
  unsigned *position, *starts, runs = 0;
  HIP_TRY(hipMalloc(&in, n)); HIP_TRY(hipMalloc(&symbols, n)); HIP_TRY(hipMalloc(&out, n));
  HIP_TRY(hipMalloc(&position, n * sizeof(unsigned))); HIP_TRY(hipMalloc(&starts, n * sizeof(unsigned)));
  HIP_TRY(hipMemcpy(in, text.data(), n, hipMemcpyHostToDevice));
  const int blocks = (n + B - 1) / B;
  heads<<<blocks, B>>>(in, position, n);
  scan(position, n);
  write_runs<<<blocks, B>>>(in, position, symbols, starts, n);
  HIP_TRY(hipMemcpy(&runs, position + n - 1, sizeof runs, hipMemcpyDeviceToHost));
  decode<<<blocks, B>>>(symbols, starts, runs, out, n);
  HIP_TRY(hipGetLastError());
  std::string s(runs, '\0'), back(n, '\0');
  std::vector<unsigned> st(runs + 1, n);
  HIP_TRY(hipMemcpy(&s[0], symbols, runs, hipMemcpyDeviceToHost));
  HIP_TRY(hipMemcpy(st.data(), starts, runs * sizeof(unsigned), hipMemcpyDeviceToHost));
  HIP_TRY(hipMemcpy(&back[0], out, n, hipMemcpyDeviceToHost));
  HIP_TRY(hipFree(in)); HIP_TRY(hipFree(symbols)); HIP_TRY(hipFree(out)); HIP_TRY(hipFree(position)); HIP_TRY(hipFree(starts));
  unsigned r = 0, errors = 0;
  for (int i = 0; i < n; ++r) {
    int j = i;
    while (j < n && text[j] == text[i]) ++j;
    if (r >= runs || s[r] != text[i] || st[r] != (unsigned)i || st[r + 1] - st[r] != unsigned(j - i)) ++errors;
    i = j;
  }
  errors += r != runs;
  errors += back != text;
  printf("%-10s %8d symbols in %6u runs: %s\n", name, n, runs, errors ? "WRONG" : "ok");
  return errors != 0;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 70000;
  std::string runs, random, equal(n / 3, 'z');
  unsigned s = 1;
  while ((int)runs.size() < n) { s = s * 69069 + 1; runs.append(1 + (s >> 20) % 50, char('a' + (s >> 28))); }
  for (int i = 0; i < n / 2 + 1; ++i) { s = s * 69069 + 1; random += char(s >> 24); }
  int failed = test(runs, "runs") + test(random, "random") + test(equal, "equal") + test("q", "one") + test(std::string(256, 'x') + "y", "257");
  puts(failed ? "FAILED" : "PASSED");
  return failed;
}
