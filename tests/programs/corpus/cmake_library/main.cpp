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
  hipError_t e = histogram(values, bins, outside, stream);
  std::vector<float> below;
  if (e == hipSuccess) e = shares(bins, below, stream);
  if (shares({1, 2, 3}, below, stream) != hipErrorInvalidValue) return 4;  // the wrong number of bins; nothing is changed
  if (hipStreamDestroy(stream) != hipSuccess) return 2;
  if (e != hipSuccess) { std::cerr << hipGetErrorString(e) << '\n'; return 3; }
  bool good = bins == want && outside == want_outside;
  unsigned sum = 0;
  for (size_t i = 0; i < below.size(); ++i) {
    sum += want[i];
    good = good && below[i] == float(sum) / float(n - want_outside);
  }
  unsigned half = 0, middle = 0;
  while (float(half += want[middle]) / float(n - want_outside) < 0.5f) ++middle;
  good = good && quantile(below, 0.5f) == int(middle) && quantile(below, 2.0f) == -1;
  std::cout << "half of the values are at most " << middle << '\n';
  std::cout << bins.size() << " bins, " << outside << " outside: " << (good ? "PASSED" : "FAILED") << std::endl;
  return good ? 0 : 1;
}
