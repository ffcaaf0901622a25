// XXH32, XXH64, CRC-32 (table and slicing) and FNV-1a of many buffers; C++20 with concepts and spans on the host
#include <hip/hip_runtime.h>
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <ranges>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

inline void hip(hipError_t e, std::source_location where = std::source_location::current()) {
  if (e != hipSuccess) {
    std::fprintf(stderr, "%s:%u: %s: %s\n", where.file_name(), where.line(), hipGetErrorName(e), hipGetErrorString(e));
    std::exit(1);
  }
}

template <std::unsigned_integral T> __host__ __device__ constexpr T rotl(T x, int n) { return T(x << n | x >> (8 * sizeof(T) - n)); }

template <std::unsigned_integral T> __host__ __device__ inline T load(const std::uint8_t* p) {
  T v = 0;
  for (unsigned i = 0; i < sizeof(T); ++i) v |= T(p[i]) << (8 * i);
  return v;
}

struct Xxh32 {
  using type = std::uint32_t;
  static constexpr type P1 = 2654435761u, P2 = 2246822519u, P3 = 3266489917u, P4 = 668265263u, P5 = 374761393u;
  __host__ __device__ static type hash(const std::uint8_t* p, std::uint32_t n, const type*) {
    const std::uint8_t* end = p + n;
    type h;
    if (n >= 16) {
      type v[4] = {P1 + P2, P2, 0u, 0u - P1};
      for (; p + 16 <= end; p += 16)
        for (int i = 0; i < 4; ++i) v[i] = rotl(type(v[i] + load<type>(p + 4 * i) * P2), 13) * P1;
      h = rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18);
    } else {
      h = P5;
    }
    h += n;
    for (; p + 4 <= end; p += 4) h = rotl(type(h + load<type>(p) * P3), 17) * P4;
    for (; p < end; ++p) h = rotl(type(h + *p * P5), 11) * P1;
    h = (h ^ h >> 15) * P2;
    h = (h ^ h >> 13) * P3;
    return h ^ h >> 16;
  }
};

struct Xxh64 {
  using type = std::uint64_t;
  static constexpr type P1 = 0x9E3779B185EBCA87, P2 = 0xC2B2AE3D27D4EB4F, P3 = 0x165667B19E3779F9, P4 = 0x85EBCA77C2B2AE63, P5 = 0x27D4EB2F165667C5;
  __host__ __device__ static constexpr type round(type acc, type lane) { return rotl(type(acc + lane * P2), 31) * P1; }
  __host__ __device__ static type hash(const std::uint8_t* p, std::uint32_t n, const std::uint32_t*) {
    const std::uint8_t* end = p + n;
    type h = P5;
    if (n >= 32) {
      type v[4] = {P1 + P2, P2, 0, type(0) - P1};
      for (; p + 32 <= end; p += 32)
        for (int i = 0; i < 4; ++i) v[i] = round(v[i], load<type>(p + 8 * i));
      h = rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18);
      for (int i = 0; i < 4; ++i) h = (h ^ round(0, v[i])) * P1 + P4;
    }
    h += n;
    for (; p + 8 <= end; p += 8) h = rotl(type(h ^ round(0, load<type>(p))), 27) * P1 + P4;
    for (; p + 4 <= end; p += 4) h = rotl(type(h ^ load<std::uint32_t>(p) * P1), 23) * P2 + P3;
    for (; p < end; ++p) h = rotl(type(h ^ *p * P5), 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
  }
};

struct Crc32 {
  using type = std::uint32_t;
  __host__ __device__ static type hash(const std::uint8_t* p, std::uint32_t n, const type* table) {
    type c = ~0u;
    for (std::uint32_t i = 0; i < n; ++i) c = table[(c ^ p[i]) & 255] ^ c >> 8;
    return ~c;
  }
};

struct Fnv1a {
  using type = std::uint64_t;
  __host__ __device__ static type hash(const std::uint8_t* p, std::uint32_t n, const std::uint32_t*) {
    type h = 0xcbf29ce484222325;
    for (std::uint32_t i = 0; i < n; ++i) h = (h ^ p[i]) * 0x100000001b3;
    return h;
  }
};

template <class H> concept Hasher = requires(const std::uint8_t* p) { { H::hash(p, 0u, nullptr) } -> std::same_as<typename H::type>; };

template <Hasher H>
__global__ void hash_all(const std::uint8_t* data, const std::uint32_t* offsets, typename H::type* out, std::uint32_t n, const std::uint32_t* table) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = H::hash(data + offsets[i], offsets[i + 1] - offsets[i], table);
}

template <Hasher H>
bool run(std::string_view name, std::span<const std::uint8_t> data, std::span<const std::uint32_t> offsets, std::span<const std::uint32_t> table,
         const std::uint8_t* d_data, const std::uint32_t* d_offsets, const std::uint32_t* d_table, typename H::type of_abc) {
  using T = typename H::type;
  const auto n = std::uint32_t(offsets.size() - 1);
  T* d_out;
  hip(hipMalloc(&d_out, n * sizeof(T)));
  hash_all<H><<<(n + 127) / 128, 128>>>(d_data, d_offsets, d_out, n, d_table);
  hip(hipGetLastError());
  std::vector<T> got(n);
  hip(hipMemcpy(got.data(), d_out, n * sizeof(T), hipMemcpyDeviceToHost));
  hip(hipFree(d_out));
  const auto wrong = std::ranges::count_if(std::views::iota(0u, n), [&](unsigned i) {
    return got[i] != H::hash(data.data() + offsets[i], offsets[i + 1] - offsets[i], table.data());
  });
  // buffer 3 is "abc"
  const bool known = got[3] == of_abc;
  std::printf("%-6.*s %u buffers, %td wrong, of \"abc\": %llx %s\n", int(name.size()), name.data(), n, std::ptrdiff_t(wrong),
              static_cast<unsigned long long>(got[3]), known ? "" : "WRONG");
  return wrong == 0 && known;
}

int main(int argc, char* argv[]) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 500;
  std::vector<std::uint8_t> data;
  std::vector<std::uint32_t> offsets{0}, table(256);
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    table[i] = c;
  }
  for (int i = 0; i < n; ++i) {
    if (i == 3) data.insert(data.end(), {'a', 'b', 'c'});
    else for (int k = 0; k < i % 173; ++k) data.push_back(std::uint8_t(i * 131 + k * k * 17));
    offsets.push_back(std::uint32_t(data.size()));
  }
  std::uint8_t* d_data;
  std::uint32_t *d_offsets, *d_table;
  hip(hipMalloc(&d_data, data.size()));
  hip(hipMalloc(&d_offsets, offsets.size() * 4));
  hip(hipMalloc(&d_table, 1024));
  hip(hipMemcpy(d_data, data.data(), data.size(), hipMemcpyHostToDevice));
  hip(hipMemcpy(d_offsets, offsets.data(), offsets.size() * 4, hipMemcpyHostToDevice));
  hip(hipMemcpy(d_table, table.data(), 1024, hipMemcpyHostToDevice));
  bool good = run<Xxh32>("xxh32", data, offsets, table, d_data, d_offsets, d_table, 0x32d153ffu);
  good &= run<Xxh64>("xxh64", data, offsets, table, d_data, d_offsets, d_table, 0x44bc2cf5ad770999u);
  good &= run<Crc32>("crc32", data, offsets, table, d_data, d_offsets, d_table, 0x352441c2u);
  good &= run<Fnv1a>("fnv1a", data, offsets, table, d_data, d_offsets, d_table, 0xe71fa2190541574bu);
  hip(hipFree(d_data)); hip(hipFree(d_offsets)); hip(hipFree(d_table));
  std::puts(good ? "PASS" : "FAIL");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
