// Levenshtein distances of all pairs of words: one thread per pair (Myers' bits for short words), one wave per pair
// with shuffles along the anti-diagonal for long ones; LZ77 match lengths as a second use of the same data.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

static void hipAssert(hipError_t code, int line) {
  if (code == hipSuccess) return;
  std::printf("line %d: %s\n", line, hipGetErrorString(code));
  std::exit(EXIT_FAILURE);
}
#define HA(x) hipAssert((x), __LINE__)

// pattern of at most 64 letters
__global__ void myers(const char* words, const int* offsets, int n, int* distances) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  const char *a = words + offsets[i], *b = words + offsets[j];
  const int la = offsets[i + 1] - offsets[i], lb = offsets[j + 1] - offsets[j];
  uint64_t peq[4] = {0, 0, 0, 0};
  for (int k = 0; k < la; ++k) peq[a[k] - 'a'] |= 1ull << k;
  uint64_t pv = ~0ull, mv = 0;
  int score = la;
  const uint64_t top = 1ull << (la - 1);
  for (int k = 0; k < lb; ++k) {
    const uint64_t eq = peq[b[k] - 'a'], xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq;
    uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
    score += (ph & top) != 0;
    score -= (mh & top) != 0;
    ph = ph << 1 | 1;
    mh <<= 1;
    pv = mh | ~(xv | ph);
    mv = ph & xv;
  }
  distances[i * n + j] = score;
}

// the rows of a strip belong to the lanes; a value moves to the next lane at each step
__global__ void wavefront(const char* a, int la, const char* b, int lb, int* border, int* result) {
  const int lane = threadIdx.x;
  for (int j = lane; j <= lb; j += warpSize) border[j] = j;
  __threadfence_block();
  __syncthreads();
  for (int strip = 0; strip < la; strip += warpSize) {
    const int row = strip + lane + 1;
    const bool on = row <= la;
    int left = row, diagonal = row - 1, value = row;
    for (int step = 0; step < lb + warpSize; ++step) {
      const int j = step - lane + 1;
      int above = __shfl_up(value, 1);
      if (lane == 0 && j <= lb) above = border[j];
      if (on && j >= 1 && j <= lb) {
        const int cost = a[row - 1] != b[j - 1];
        value = min(min(left, above) + 1, diagonal + cost);
        diagonal = above;
        left = value;
        if (lane == warpSize - 1 || row == la) border[j] = value;
      }
    }
    __syncthreads();
  }
  if (lane == 0) *result = la ? border[lb] : lb;
}

// the longest earlier match of each position in a window
__global__ void lz_matches(const char* text, int n, int window, int* lengths, int* distances) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0, where = 0;
  for (int d = 1; d <= window && d <= i; ++d) {
    int k = 0;
    while (i + k < n && k < 255 && text[i + k] == text[i + k - d]) ++k;
    if (k > best) { best = k; where = d; }
  }
  lengths[i] = best;
  distances[i] = where;
}

static int levenshtein(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min(std::min(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row.back();
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 40;
  unsigned s = 6;
  auto rnd = [&] { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; };
  std::vector<std::string> words(n);
  std::string flat;
  std::vector<int> offsets(1, 0);
  for (auto& w : words) {
    for (int k = 1 + rnd() % 64; k > 0; --k) w += char('a' + rnd() % 4);
    flat += w;
    offsets.push_back((int)flat.size());
  }
  char* d_words; int *d_offsets, *d_distances, *d_lengths, *d_border, *d_result;
  const int total = (int)flat.size();
  HA(hipMalloc(&d_words, total));
  HA(hipMalloc(&d_offsets, offsets.size() * sizeof(int)));
  HA(hipMalloc(&d_distances, std::max(n * n, total) * sizeof(int)));
  HA(hipMalloc(&d_lengths, total * sizeof(int)));
  HA(hipMalloc(&d_border, (total + 1) * sizeof(int)));
  HA(hipMalloc(&d_result, sizeof(int)));
  HA(hipMemcpy(d_words, flat.data(), total, hipMemcpyHostToDevice));
  HA(hipMemcpy(d_offsets, offsets.data(), offsets.size() * sizeof(int), hipMemcpyHostToDevice));
  myers<<<dim3((n + 15) / 16, (n + 7) / 8), dim3(16, 8)>>>(d_words, d_offsets, n, d_distances);
  HA(hipGetLastError());
  std::vector<int> got(n * n);
  HA(hipMemcpy(got.data(), d_distances, n * n * sizeof(int), hipMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) wrong += got[i * n + j] != levenshtein(words[i], words[j]);
  std::printf("%d pairs of words: %d wrong\n", n * n, wrong);

  hipDeviceProp_t prop;
  HA(hipGetDeviceProperties(&prop, 0));
  const int half = total / 2;
  for (int la : {half, half / 3, 7, prop.warpSize, prop.warpSize + 1}) {
    const int lb = total - half;
    wavefront<<<1, prop.warpSize>>>(d_words, la, d_words + half, lb, d_border, d_result);
    int distance = -1;
    HA(hipMemcpy(&distance, d_result, sizeof(int), hipMemcpyDeviceToHost));
    const int want = levenshtein(flat.substr(0, la), flat.substr(half));
    std::printf("texts of %d and %d letters: %d, should be %d\n", la, lb, distance, want);
    wrong += distance != want;
  }
  const int window = 60;
  lz_matches<<<(total + 127) / 128, 128>>>(d_words, total, window, d_lengths, d_distances);
  HA(hipGetLastError());
  std::vector<int> length(total), distance(total);
  HA(hipMemcpy(length.data(), d_lengths, total * sizeof(int), hipMemcpyDeviceToHost));
  HA(hipMemcpy(distance.data(), d_distances, total * sizeof(int), hipMemcpyDeviceToHost));
  // code the text with them, and decode
  std::string back;
  int tokens = 0;
  for (int i = 0; i < total; ++tokens) {
    if (length[i] >= 3) {
      for (int k = 0; k < length[i]; ++k) back += back[back.size() - distance[i]];
      i += length[i];
    } else {
      back += flat[i++];
    }
  }
  for (int i = 1; i < total; ++i) {
    int best = 0;
    for (int d = 1; d <= std::min(i, window); ++d) {
      int k = 0;
      while (i + k < total && k < 255 && flat[i + k] == flat[i + k - d]) ++k;
      best = std::max(best, k);
    }
    wrong += best != length[i];
  }
  wrong += back != flat;
  std::printf("LZ77: %d letters in %d tokens\n", total, tokens);
  for (void* p : {(void*)d_words, (void*)d_offsets, (void*)d_distances, (void*)d_lengths, (void*)d_border, (void*)d_result}) HA(hipFree(p));
  std::puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
