// AES-128: ECB and CTR on the GPU. S-box computed on the host, kept in constant memory and copied to LDS.
#include <hip/hip_runtime.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP_CHECK(expression)                  \
{                                              \
    const hipError_t status = expression;      \
    if(status != hipSuccess){                  \
        fprintf(stderr, "HIP error %d: %s in %s:%d\n", status, hipGetErrorString(status), __FILE__, __LINE__); \
        exit(1);                               \
    }                                          \
}

__constant__ uint8_t c_sbox[256];
__constant__ uint32_t c_round_keys[44];

__host__ __device__ constexpr uint8_t xtime(uint8_t a) { return uint8_t((a << 1) ^ ((a >> 7) * 0x1b)); }

template <class Sbox>
__host__ __device__ inline void encrypt(const Sbox &sbox, const uint32_t *keys, uint8_t s[16]) {
  auto add = [&](int round) {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      for (int r = 0; r < 4; ++r) s[4 * c + r] ^= uint8_t(keys[4 * round + c] >> (24 - 8 * r));
  };
  add(0);
  for (int round = 1; round <= 10; ++round) {
    uint8_t t[16];
    for (int c = 0; c < 4; ++c)
      for (int r = 0; r < 4; ++r) t[4 * c + r] = sbox[s[4 * ((c + r) & 3) + r]];   // bytes substituted, rows shifted
    for (int c = 0; c < 4; ++c) {
      const uint8_t *a = t + 4 * c, all = a[0] ^ a[1] ^ a[2] ^ a[3];
      for (int r = 0; r < 4; ++r) s[4 * c + r] = round == 10 ? a[r] : uint8_t(a[r] ^ all ^ xtime(a[r] ^ a[(r + 1) & 3]));
    }
    add(round);
  }
}

__global__ void ecb(const uint4 *in, uint4 *out, int blocks) {
  __shared__ uint8_t sbox[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) sbox[i] = c_sbox[i];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += gridDim.x * blockDim.x) {
    union { uint4 v; uint8_t b[16]; } u;
    u.v = in[i];
    encrypt(sbox, c_round_keys, u.b);
    out[i] = u.v;
  }
}

__global__ void ctr(const uint8_t *in, uint8_t *out, size_t bytes, uint64_t nonce) {
  __shared__ uint8_t sbox[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) sbox[i] = c_sbox[i];
  __syncthreads();
  const size_t block = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (block * 16 >= bytes) return;
  uint8_t s[16];
  for (int i = 0; i < 8; ++i) {
    s[i] = uint8_t(nonce >> (56 - 8 * i));
    s[8 + i] = uint8_t(uint64_t(block) >> (56 - 8 * i));
  }
  encrypt(sbox, c_round_keys, s);
  for (size_t i = 0; i < 16 && block * 16 + i < bytes; ++i) out[block * 16 + i] = in[block * 16 + i] ^ s[i];
}

static uint8_t multiply(uint8_t a, uint8_t b) {
  uint8_t r = 0;
  for (; b; b >>= 1, a = xtime(a))
    if (b & 1) r ^= a;
  return r;
}

int main(int argc, char **argv) {
  const int blocks = argc > 1 ? atoi(argv[1]) : 2000;
  std::array<uint8_t, 256> sbox;
  for (int i = 0; i < 256; ++i) {
    uint8_t inverse = 0;
    for (int j = 1; i && j < 256; ++j)
      if (multiply(uint8_t(i), uint8_t(j)) == 1) inverse = uint8_t(j);
    uint8_t r = 0x63;
    for (int k = 0; k < 5; ++k) r ^= uint8_t(inverse << k | inverse >> (8 - k));
    sbox[i] = r;
  }
  // FIPS 197, appendix C.1
  const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const uint8_t cipher[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  uint32_t keys[44];
  uint8_t rcon = 1;
  for (int i = 0; i < 44; ++i) {
    if (i < 4) { keys[i] = uint32_t(key[4 * i]) << 24 | key[4 * i + 1] << 16 | key[4 * i + 2] << 8 | key[4 * i + 3]; continue; }
    uint32_t t = keys[i - 1];
    if (i % 4 == 0) {
      t = t << 8 | t >> 24;
      t = uint32_t(sbox[t >> 24]) << 24 | sbox[t >> 16 & 255] << 16 | sbox[t >> 8 & 255] << 8 | sbox[t & 255];
      t ^= uint32_t(rcon) << 24;
      rcon = xtime(rcon);
    }
    keys[i] = keys[i - 4] ^ t;
  }
  HIP_CHECK(hipMemcpyToSymbol(c_sbox, sbox.data(), 256));
  void *symbol;
  size_t size;
  HIP_CHECK(hipGetSymbolAddress(&symbol, HIP_SYMBOL(c_round_keys)));
  HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(c_round_keys)));
  if (size != sizeof keys) { printf("size of the symbol: %zu\nFAILED\n", size); return 1; }
  HIP_CHECK(hipMemcpy(symbol, keys, size, hipMemcpyHostToDevice));

  std::vector<uint8_t> plain(16 * blocks), got(plain.size()), want;
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = i < 16 ? uint8_t(i * 0x11) : uint8_t(i * i + (i >> 8));
  uint8_t *d_in, *d_out;
  HIP_CHECK(hipMalloc(&d_in, plain.size()));
  HIP_CHECK(hipMalloc(&d_out, plain.size()));
  HIP_CHECK(hipMemcpyHtoD(d_in, plain.data(), plain.size()));
  ecb<<<16, 128>>>((uint4 *)d_in, (uint4 *)d_out, blocks);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipMemcpyDtoH(got.data(), d_out, got.size()));
  want = plain;
  for (int b = 0; b < blocks; ++b) encrypt(sbox, keys, &want[16 * b]);
  const bool known = memcmp(got.data(), cipher, 16) == 0, same = got == want;
  printf("ECB: known answer %s, %d blocks %s\n", known ? "right" : "WRONG", blocks, same ? "right" : "WRONG");

  const size_t odd = plain.size() - 5;
  HIP_CHECK(hipMemset(d_out, 0, plain.size()));
  ctr<<<(blocks + 63) / 64, 64>>>(d_in, d_out, odd, 0x0123456789abcdefull);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipMemcpy(got.data(), d_out, got.size(), hipMemcpyDeviceToHost));
  want = plain;
  for (size_t b = 0; b * 16 < odd; ++b) {
    uint8_t s[16];
    for (int i = 0; i < 8; ++i) { s[i] = uint8_t(0x0123456789abcdefull >> (56 - 8 * i)); s[8 + i] = uint8_t(uint64_t(b) >> (56 - 8 * i)); }
    encrypt(sbox, keys, s);
    for (size_t i = 0; i < 16 && b * 16 + i < odd; ++i) want[b * 16 + i] ^= s[i];
  }
  for (size_t i = odd; i < want.size(); ++i) want[i] = 0;
  const bool counter = got == want;
  ctr<<<(blocks + 63) / 64, 64>>>(d_out, d_out, odd, 0x0123456789abcdefull);
  HIP_CHECK(hipMemcpy(got.data(), d_out, got.size(), hipMemcpyDeviceToHost));
  const bool back = memcmp(got.data(), plain.data(), odd) == 0;
  printf("CTR: %s, and back: %s\n", counter ? "right" : "WRONG", back ? "right" : "WRONG");
  HIP_CHECK(hipFree(d_in));
  HIP_CHECK(hipFree(d_out));
  const bool good = known && same && counter && back;
  printf("%s\n", good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}
