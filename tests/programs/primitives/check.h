// What the programs of this folder share: memory, sizes, comparisons with the host, the two calls of an algorithm.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <type_traits>
#include <vector>

inline int failures = 0;
inline int comparisons = 0;

#define HIP(call)                                                                           \
  do {                                                                                      \
    hipError_t error_ = (call);                                                             \
    if (error_ != hipSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error_)); \
      std::exit(2);                                                                         \
    }                                                                                       \
  } while (0)

// Device memory with a guard behind it, which nobody may write.
template <typename T>
struct Device {
  T* data = nullptr;
  size_t size;
  explicit Device(size_t n) : size(n) {
    HIP(hipMalloc(reinterpret_cast<void**>(&data), (n + 8) * sizeof(T)));
    HIP(hipMemset(data, 0x5a, (n + 8) * sizeof(T)));
  }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    if (size != 0) HIP(hipMemcpy(data, from.data(), size * sizeof(T), hipMemcpyHostToDevice));
  }
  Device(const Device&) = delete;
  ~Device() { (void)hipFree(data); }
  operator T*() { return data; }
  std::vector<T> read(size_t n) {
    std::vector<T> found(n);
    if (n != 0) HIP(hipMemcpy(found.data(), data, n * sizeof(T), hipMemcpyDeviceToHost));
    unsigned char guard[8 * sizeof(T)];
    HIP(hipMemcpy(guard, data + size, sizeof guard, hipMemcpyDeviceToHost));
    for (unsigned char byte : guard) {
      if (byte != 0x5a) {
        ++failures;
        std::printf("written behind the output\n");
        break;
      }
    }
    return found;
  }
  std::vector<T> read() { return read(size); }
};

template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a == b || std::fabs(a - b) <= (sizeof(T) == 4 ? 1e-4 : 1e-10) * (std::fabs(a) + std::fabs(b)) ||
           (a != a && b != b);
  } else {
    return a == b;
  }
}
template <typename T>
void expect(const char* what, const std::vector<T>& found, const std::vector<T>& wanted) {
  ++comparisons;
  if (found.size() != wanted.size()) {
    ++failures;
    std::printf("%s: %zu results instead of %zu\n", what, found.size(), wanted.size());
    return;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!same(found[i], wanted[i])) {
      ++failures;
      std::printf("%s: result %zu of %zu is wrong\n", what, i, found.size());
      if constexpr (std::is_arithmetic_v<T>) std::printf("  %g instead of %g\n", double(found[i]), double(wanted[i]));
      return;
    }
  }
}
template <typename T>
void expect_one(const char* what, const T& found, const T& wanted) {
  expect(what, std::vector<T>{found}, std::vector<T>{wanted});
}

// The two calls of an algorithm: the first says how much temporary storage it needs. One byte less is refused.
template <typename Call>
void run(const char* what, Call call) {
  size_t bytes = 0;
  hipError_t error = call(nullptr, bytes);
  if (error != hipSuccess || bytes == 0) {
    ++failures;
    std::printf("%s: the call for the size returned %d, %zu bytes\n", what, error, bytes);
    return;
  }
  Device<char> temporary(bytes);
  if (bytes > 1) {
    size_t less = bytes - 1;
    if (call(temporary.data, less) != hipErrorInvalidValue) {
      ++failures;
      std::printf("%s: too little temporary storage was accepted\n", what);
    }
  }
  error = call(temporary.data, bytes);
  if (error == hipSuccess) error = hipDeviceSynchronize();
  if (error != hipSuccess) {
    ++failures;
    std::printf("%s: %s\n", what, hipGetErrorString(error));
  }
  temporary.read(0);
}

// None, one, around a wave, a tile and a part, and more; with an argument, up to that size.
inline std::vector<size_t> sizes(size_t most) {
  std::vector<size_t> found;
  for (size_t n : {0, 1, 2, 31, 33, 64, 65, 255, 257, 1023, 1024, 1025, 5000, 70001, 300000}) {
    if (n <= most) found.push_back(n);
  }
  return found;
}
inline std::mt19937& generator() {
  static std::mt19937 made(20);
  return made;
}
inline unsigned random_below(unsigned n) { return generator()() % n; }

inline int finished() {
  std::printf("%d comparisons, %d wrong\n", comparisons, failures);
  return failures == 0 ? 0 : 1;
}
