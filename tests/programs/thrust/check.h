// CHECK(condition) prints a line for what does not hold; `data(n)` gives the same numbers each time.
#pragma once
#include <cstdio>
#include <vector>

inline int checks = 0, failures = 0;
#define CHECK(...)                                                              \
  do {                                                                          \
    ++checks;                                                                   \
    if (!(__VA_ARGS__)) {                                                       \
      ++failures;                                                               \
      std::printf("%s:%d: %s\n", __func__, __LINE__, #__VA_ARGS__);             \
    }                                                                           \
  } while (0)
inline int checked(int wanted) {
  if (checks != wanted) std::printf("%d checks, not %d\n", checks, wanted);
  std::printf(failures ? "%d failures\n" : "all right\n", failures);
  return failures != 0;
}

/// Numbers from 0 to below `range`, of a linear congruential generator (Knuth, MMIX).
inline std::vector<int> data(std::size_t n, int range, unsigned long long seed = 1) {
  std::vector<int> all(n);
  for (int& one : all) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    one = static_cast<int>((seed >> 33) % static_cast<unsigned long long>(range));
  }
  return all;
}
