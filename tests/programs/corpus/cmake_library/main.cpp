// Plain C++: calls HIP's host functions only
#include "hist.h"
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 50000;
  std::vector<int> values(n);
  std::vector<unsigned> bins, want(128);
  unsigned outside = 0, want_outside = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = int((i * 40503u >> 4) % 140) - 5;
    if (values[i] >= 0 && values[i] < 128) ++want[values[i]];
    else ++want_outside;
  }
  hipStream_t stream;
  if (hipStreamCreate(&stream) != hipSuccess) return 2;
  const hipError_t e = histogram(values, bins, outside, stream);
  if (hipStreamDestroy(stream) != hipSuccess) return 2;
  if (e != hipSuccess) { std::cerr << hipGetErrorString(e) << '\n'; return 3; }
  const bool good = bins == want && outside == want_outside;
  std::cout << bins.size() << " bins, " << outside << " outside: " << (good ? "PASSED" : "FAILED") << std::endl;
  return good ? 0 : 1;
}
