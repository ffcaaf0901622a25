// OPTIONS: -std=c++20
// OUT: 27 results agree
//
// The C++ library's algorithms that are constexpr since C++20 run in kernels, too: what libc++ does for the host with vectors,
// with functions of the C library (memchr, memcmp, wmemchr, strlen) or with compiled parts of its own.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string_view>

constexpr int results = 27;

template <class Type> __host__ __device__ int sorted(Type* numbers, int size) {
  std::sort(numbers, numbers + size);
  int wrong = 0;
  for (int i = 1; i < size; ++i) wrong += numbers[i] < numbers[i - 1];
  std::sort(numbers, numbers + size, std::greater<>());
  for (int i = 1; i < size; ++i) wrong += numbers[i] > numbers[i - 1];
  std::ranges::sort(numbers, numbers + size);
  return 100 * wrong + static_cast<int>(numbers[size / 2]);
}

__host__ __device__ void fill(int* out, const unsigned* q, const char* s, int size) {
  long z[9] = {4, 2, 7, 1, 9, 5, 3, 8, 6};
  int w[9] = {4, 2, 7, 1, 9, 5, 3, 8, 6}, v[9] = {};
  double d[9] = {4.5, 2, 7, 1, 9, 5, 3, 8, 6};
  wchar_t wide[4] = {L'a', L'b', L'c', 0};
  int i = 0;
  out[i++] = std::find(q, q + size, 5u) - q;
  out[i++] = std::find(s, s + 5, 'l') - s;
  out[i++] = std::find(s, s + 5, 'z') - s;
  out[i++] = std::find(z, z + 9, 3L) - z;
  out[i++] = std::find(w, w + 9, 9) - w;
  out[i++] = std::find(d, d + 9, 8.0) - d;
  out[i++] = std::find(wide, wide + 3, L'c') - wide;
  out[i++] = std::equal(q, q + size, q);
  out[i++] = std::equal(q, q + size - 1, q + 1);
  out[i++] = std::equal(s, s + 4, s + 1);
  out[i++] = std::mismatch(q, q + size, z).first - q;
  out[i++] = std::mismatch(w, w + 9, v).first - w;
  out[i++] = std::mismatch(s, s + 5, "help!").first - s;
  out[i++] = std::lexicographical_compare(s, s + 3, s + 1, s + 4);
  std::string_view text(s);
  out[i++] = text.size();
  out[i++] = text.find('o');
  out[i++] = text.find("lo");
  out[i++] = (text == "hello") + 2 * (text.compare("help") < 0);
  out[i++] = std::wstring_view(wide).find(L'b') + 10 * std::wstring_view(wide).size();
  out[i++] = std::array<int, 3>{1, 2, 3} == std::array<int, 3>{1, 2, 4};
  out[i++] = std::array<int, 3>{1, 2, 3} < std::array<int, 3>{1, 2, 4};
  out[i++] = sorted(w, 9);
  out[i++] = sorted(z, 9);
  out[i++] = sorted(d, 9);
  std::nth_element(v, v + 4, v + 9);
  out[i++] = v[4];
  out[i++] = std::count(q, q + size, 5u);
  out[i++] = std::search(s, s + 5, s + 3, s + 5) - s;
}

__global__ void kernel(int* out, const unsigned* q, const char* s, int size) { fill(out, q, s, size); }

int main() {
  int *out, wanted[results], same = 0;
  unsigned* q;
  char* s;
  if (hipMallocManaged(reinterpret_cast<void**>(&out), sizeof wanted) != hipSuccess) return 1;
  if (hipMallocManaged(reinterpret_cast<void**>(&q), 32) != hipSuccess) return 1;
  if (hipMallocManaged(reinterpret_cast<void**>(&s), 8) != hipSuccess) return 1;
  const unsigned numbers[8] = {4, 2, 7, 5, 0, 5, 1, 3};
  std::copy(numbers, numbers + 8, q);
  std::copy_n("hello", 6, s);
  kernel<<<1, 1>>>(out, q, s, 8);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  fill(wanted, q, s, 8);
  for (int i = 0; i < results; ++i) {
    same += out[i] == wanted[i];
    if (out[i] != wanted[i]) std::printf("%d: %d, on the host %d\n", i, out[i], wanted[i]);
  }
  std::printf("%d results agree\n", same);
}
