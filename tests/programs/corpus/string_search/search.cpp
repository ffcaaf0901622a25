// Exact and approximate search for several patterns: Knuth-Morris-Pratt per chunk with overlap, Boyer-Moore-Horspool,
// Rabin-Karp with a rolling hash, bit-parallel (Wu-Manber) with up to two substitutions. No options: a text is made.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define HIPCHECK(call) do { hipError_t status = (call); if (status != hipSuccess) { \
  std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status)); std::exit(1); } } while (0)

constexpr int MAX_PATTERN = 32, CHUNK = 128;

struct Pattern { char text[MAX_PATTERN]; int length; int failure[MAX_PATTERN]; unsigned char skip[256]; uint64_t masks[4]; };

__device__ inline int letter(char c) { return c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : 3; }

__global__ void kmp(const char* text, int n, const Pattern* patterns, unsigned* hits, int* first) {
  const Pattern& p = patterns[blockIdx.y];
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK, end = min(n, begin + CHUNK + p.length - 1);
  int state = 0, earliest = n;
  unsigned found = 0;
  for (int i = begin; i < end; ++i) {
    while (state > 0 && p.text[state] != text[i]) state = p.failure[state - 1];
    if (p.text[state] == text[i]) ++state;
    if (state == p.length) {
      ++found;
      earliest = min(earliest, i - p.length + 1);
      state = p.failure[state - 1];
    }
  }
  if (found) {
    atomicAdd(&hits[blockIdx.y], found);
    atomicMin(&first[blockIdx.y], earliest);
  }
}

__global__ void horspool(const char* text, int n, const Pattern* patterns, unsigned* hits) {
  __shared__ Pattern p;
  for (unsigned i = threadIdx.x; i < sizeof(Pattern) / 4; i += blockDim.x) ((int*)&p)[i] = ((const int*)&patterns[blockIdx.y])[i];
  __syncthreads();
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK, end = min(n - p.length + 1, begin + CHUNK);
  unsigned found = 0;
  for (int i = begin; i < end;) {
    int k = p.length - 1;
    while (k >= 0 && text[i + k] == p.text[k]) --k;
    found += k < 0;
    i += p.skip[(unsigned char)text[i + p.length - 1]];
  }
  if (found) atomicAdd(&hits[blockIdx.y], found);
}

__global__ void rabin_karp(const char* text, int n, const Pattern* patterns, unsigned* hits) {
  const Pattern& p = patterns[blockIdx.y];
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
  if (begin + p.length > n) return;
  unsigned want = 0, have = 0, power = 1, found = 0;
  for (int k = 0; k < p.length; ++k) {
    want = want * 257 + (unsigned char)p.text[k];
    have = have * 257 + (unsigned char)text[begin + k];
    if (k) power *= 257;
  }
  for (int i = begin;; ++i) {
    if (have == want) {
      int k = 0;
      while (k < p.length && text[i + k] == p.text[k]) ++k;
      found += k == p.length;
    }
    if (i + 1 >= begin + CHUNK || i + 1 + p.length > n) break;
    have = (have - (unsigned char)text[i] * power) * 257 + (unsigned char)text[i + p.length];
  }
  if (found) atomicAdd(&hits[blockIdx.y], found);
}

// occurrences with at most two letters replaced
__global__ void approximate(const char* text, int n, const Pattern* patterns, unsigned* hits) {
  const Pattern& p = patterns[blockIdx.y];
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK, end = min(n, begin + CHUNK + p.length - 1);
  uint64_t r[3] = {0, 0, 0};
  unsigned found = 0;
  for (int i = begin; i < end; ++i) {
    const uint64_t mask = p.masks[letter(text[i])];
    const uint64_t r0 = r[0], r1 = r[1];
    r[0] = (r[0] << 1 | 1) & mask;
    r[1] = ((r[1] << 1 | 1) & mask) | (r0 << 1 | 1);
    r[2] = ((r[2] << 1 | 1) & mask) | (r1 << 1 | 1);
    if (i - begin + 1 >= p.length) found += r[2] >> (p.length - 1) & 1;
  }
  if (found) atomicAdd(&hits[blockIdx.y], found);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 20000;
  std::string text;
  unsigned s = 42;
  while ((int)text.size() < n) {
    s = s * 1664525u + 1013904223u;
    if (s >> 27 == 3) text += "ACACACACGT";
    else text += "ACGT"[s >> 30];
  }
  text.resize(n);
  const std::vector<std::string> words = {"ACACAC", "GATTACA", "T", "ACGTACGTACGTACGT", "AAAA", "CACACGT"};
  std::vector<Pattern> patterns(words.size());
  for (size_t w = 0; w < words.size(); ++w) {
    Pattern& p = patterns[w];
    std::memset(&p, 0, sizeof p);
    p.length = (int)words[w].size();
    std::memcpy(p.text, words[w].data(), p.length);
    for (int i = 1, k = 0; i < p.length; ++i) {
      while (k > 0 && p.text[k] != p.text[i]) k = p.failure[k - 1];
      if (p.text[k] == p.text[i]) ++k;
      p.failure[i] = k;
    }
    std::memset(p.skip, p.length, sizeof p.skip);
    for (int i = 0; i + 1 < p.length; ++i) p.skip[(unsigned char)p.text[i]] = (unsigned char)(p.length - 1 - i);
    for (int i = 0; i < p.length; ++i) p.masks[std::string("ACGT").find(p.text[i])] |= 1ull << i;
  }
  const unsigned count = (unsigned)words.size();
  char* d_text; Pattern* d_patterns; unsigned* d_hits; int* d_first;
  HIPCHECK(hipMalloc(&d_text, n));
  HIPCHECK(hipMalloc(&d_patterns, count * sizeof(Pattern)));
  HIPCHECK(hipMalloc(&d_hits, 4 * count * sizeof(unsigned)));
  HIPCHECK(hipMalloc(&d_first, count * sizeof(int)));
  HIPCHECK(hipMemcpy(d_text, text.data(), n, hipMemcpyHostToDevice));
  HIPCHECK(hipMemcpy(d_patterns, patterns.data(), count * sizeof(Pattern), hipMemcpyHostToDevice));
  HIPCHECK(hipMemset(d_hits, 0, 4 * count * sizeof(unsigned)));
  HIPCHECK(hipMemset(d_first, 0x7f, count * sizeof(int)));
  const dim3 block(64), grid((n + 64 * CHUNK - 1) / (64 * CHUNK), count);
  kmp<<<grid, block>>>(d_text, n, d_patterns, d_hits, d_first);
  horspool<<<grid, block>>>(d_text, n, d_patterns, d_hits + count);
  rabin_karp<<<grid, block>>>(d_text, n, d_patterns, d_hits + 2 * count);
  approximate<<<grid, block>>>(d_text, n, d_patterns, d_hits + 3 * count);
  HIPCHECK(hipGetLastError());
  std::vector<unsigned> hits(4 * count);
  std::vector<int> first(count);
  HIPCHECK(hipMemcpy(hits.data(), d_hits, 4 * count * sizeof(unsigned), hipMemcpyDeviceToHost));
  HIPCHECK(hipMemcpy(first.data(), d_first, count * sizeof(int), hipMemcpyDeviceToHost));
  int errors = 0;
  for (unsigned w = 0; w < count; ++w) {
    unsigned exact = 0, near = 0;
    for (int i = 0; i + (int)words[w].size() <= n; ++i) {
      int different = 0;
      for (size_t k = 0; k < words[w].size(); ++k) different += text[i + k] != words[w][k];
      exact += different == 0;
      near += different <= 2;
    }
    const size_t at = text.find(words[w]);
    const bool good = hits[w] == exact && hits[count + w] == exact && hits[2 * count + w] == exact && hits[3 * count + w] == near &&
                      (at == std::string::npos ? first[w] == 0x7f7f7f7f : first[w] == (int)at);
    std::printf("%-18s %5u exact, %5u near %s\n", words[w].c_str(), exact, near, good ? "" : "WRONG");
    if (!good) std::printf("   device: %u %u %u, near %u, first %d\n", hits[w], hits[count + w], hits[2 * count + w], hits[3 * count + w], first[w]);
    errors += !good;
  }
  HIPCHECK(hipFree(d_text)); HIPCHECK(hipFree(d_patterns)); HIPCHECK(hipFree(d_hits)); HIPCHECK(hipFree(d_first));
  std::puts(errors ? "FAILED" : "PASSED");
  return errors;
}
