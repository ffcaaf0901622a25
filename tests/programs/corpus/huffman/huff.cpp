// Huffman coding: histogram on the GPU, code book on the host, encoding on the GPU (bit offsets by prefix sums,
// atomicOr into words), decoding in chunks with a table of start bits
#include <hip/hip_runtime.h>
#include <cassert>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <queue>
#include <string>
#include <vector>

struct HipError : std::runtime_error { using std::runtime_error::runtime_error; };
inline void check(hipError_t e) { if (e != hipSuccess) throw HipError(hipGetErrorString(e)); }

struct Code { std::uint32_t bits; std::uint32_t length; };
constexpr int CHUNK = 64;     // symbols that a thread encodes and decodes

__global__ void histogram(const unsigned char* text, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[text[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) if (local[i]) atomicAdd(&bins[i], local[i]);
}

__global__ void chunk_lengths(const unsigned char* text, const Code* codes, unsigned* lengths, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c * CHUNK >= n) return;
  unsigned sum = 0;
  for (int i = c * CHUNK; i < min(n, (c + 1) * CHUNK); i++) sum += codes[text[i]].length;
  lengths[c] = sum;
}

__global__ void exclusive_scan(unsigned* v, int n) {     // one block of 1024
  __shared__ unsigned s[1024];
  unsigned carry = 0;
  for (int base = 0; base < n; base += 1024) {
    int i = base + threadIdx.x;
    unsigned mine = i < n ? v[i] : 0;
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {
      unsigned o = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
      __syncthreads();
      s[threadIdx.x] += o;
      __syncthreads();
    }
    if (i < n) v[i] = carry + s[threadIdx.x] - mine;
    unsigned total = s[1023];
    __syncthreads();
    carry += total;
  }
  if (threadIdx.x == 0) v[n] = carry;
}

__global__ void encode(const unsigned char* text, const Code* codes, const unsigned* offsets, unsigned* out, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c * CHUNK >= n) return;
  unsigned at = offsets[c];
  for (int i = c * CHUNK; i < min(n, (c + 1) * CHUNK); i++) {
    Code k = codes[text[i]];
    // most significant bit first
    unsigned word = at / 32, used = at % 32;
    std::uint64_t v = (std::uint64_t)k.bits << (64 - used - k.length);
    atomicOr(&out[word], (unsigned)(v >> 32));
    if (used + k.length > 32) atomicOr(&out[word + 1], (unsigned)v);
    at += k.length;
  }
}

struct Node { short left, right, symbol; };

__global__ void decode(const unsigned* in, const unsigned* offsets, const Node* tree, int root, unsigned char* text, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c * CHUNK >= n) return;
  unsigned at = offsets[c];
  for (int i = c * CHUNK; i < min(n, (c + 1) * CHUNK); i++) {
    int node = root;
    while (tree[node].symbol < 0) {
      bool bit = in[at / 32] >> (31 - at % 32) & 1;
      node = bit ? tree[node].right : tree[node].left;
      at++;
    }
    text[i] = (unsigned char)tree[node].symbol;
  }
}

template <class T> T* device(std::size_t n, const T* from = nullptr) {
  T* p;
  check(hipMalloc(&p, n * sizeof(T)));
  if (from) check(hipMemcpy(p, from, n * sizeof(T), hipMemcpyHostToDevice));
  else check(hipMemset(p, 0, n * sizeof(T)));
  return p;
}

int main(int argc, char** argv) {
  try {
    std::string text;
    if (argc > 1) {
      std::ifstream file(argv[1], std::ios::binary);
      text.assign(std::istreambuf_iterator<char>(file), {});
      if (text.empty()) { std::cerr << "cannot read " << argv[1] << "\n"; return 1; }
    } else {
      const char* words[] = {"the ", "kernel ", "of ", "a ", "wavefront ", "is ", "executed ", "in ", "lanes. ", "Zürich ", "x"};
      for (unsigned s = 1; text.size() < 20000;) { s = s * 1103515245u + 12345u; text += words[(s >> 16) % 11 * ((s >> 20) & 3) % 11]; }
    }
    const int n = (int)text.size(), chunks = (n + CHUNK - 1) / CHUNK, grid = (chunks + 63) / 64;
    auto* d_text = device(n, (const unsigned char*)text.data());
    auto* d_bins = device<unsigned>(256);
    histogram<<<8, 128>>>(d_text, d_bins, n);
    check(hipGetLastError());
    std::vector<unsigned> bins(256), want(256);
    check(hipMemcpy(bins.data(), d_bins, 1024, hipMemcpyDeviceToHost));
    for (unsigned char c : text) want[c]++;
    if (bins != want) { std::cout << "histogram FAILED\n"; return 1; }

    std::vector<Node> tree;
    using Item = std::pair<unsigned, int>;
    std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
    for (int s = 0; s < 256; s++) if (bins[s]) { tree.push_back({-1, -1, (short)s}); queue.push({bins[s], (int)tree.size() - 1}); }
    while (queue.size() > 1) {
      Item a = queue.top(); queue.pop();
      Item b = queue.top(); queue.pop();
      tree.push_back({(short)a.second, (short)b.second, -1});
      queue.push({a.first + b.first, (int)tree.size() - 1});
    }
    const int root = queue.top().second;
    std::vector<Code> codes(256, Code{0, 0});
    std::function<void(int, std::uint32_t, std::uint32_t)> walk = [&](int node, std::uint32_t bits, std::uint32_t length) {
      if (tree[node].symbol >= 0) { codes[tree[node].symbol] = {bits, length ? length : 1}; return; }
      walk(tree[node].left, bits << 1, length + 1);
      walk(tree[node].right, bits << 1 | 1, length + 1);
    };
    walk(root, 0, 0);
    std::uint64_t total = 0;
    for (int s = 0; s < 256; s++) { total += (std::uint64_t)bins[s] * codes[s].length; assert(codes[s].length <= 32); }
    auto* d_codes = device(256, codes.data());
    auto* d_offsets = device<unsigned>(chunks + 1);
    auto* d_out = device<unsigned>(total / 32 + 2);
    auto* d_tree = device(tree.size(), tree.data());
    auto* d_back = device<unsigned char>(n);
    chunk_lengths<<<grid, 64>>>(d_text, d_codes, d_offsets, n);
    exclusive_scan<<<1, 1024>>>(d_offsets, chunks);
    encode<<<grid, 64>>>(d_text, d_codes, d_offsets, d_out, n);
    decode<<<grid, 64>>>(d_out, d_offsets, d_tree, root, d_back, n);
    check(hipGetLastError());
    unsigned bits;
    std::vector<unsigned> out(total / 32 + 2);
    std::string back(n, 0);
    check(hipMemcpy(&bits, d_offsets + chunks, 4, hipMemcpyDeviceToHost));
    check(hipMemcpy(out.data(), d_out, out.size() * 4, hipMemcpyDeviceToHost));
    check(hipMemcpy(&back[0], d_back, n, hipMemcpyDeviceToHost));
    // the host's bits
    std::vector<unsigned> host(out.size());
    std::uint64_t at = 0;
    for (unsigned char c : text)
      for (int b = codes[c].length - 1; b >= 0; b--, at++)
        if (codes[c].bits >> b & 1) host[at / 32] |= 1u << (31 - at % 32);
    for (void* p : {(void*)d_text, (void*)d_bins, (void*)d_codes, (void*)d_offsets, (void*)d_out, (void*)d_tree, (void*)d_back}) check(hipFree(p));
    const bool good = bits == total && host == out && back == text;
    std::cout << n << " bytes -> " << (total + 7) / 8 << " bytes (" << tree.size() / 2 + 1 << " symbols)\n" << (good ? "PASSED" : "FAILED") << std::endl;
    return good ? 0 : 1;
  } catch (const HipError& e) {
    std::cerr << "HIP: " << e.what() << std::endl;
    return 2;
  }
}
