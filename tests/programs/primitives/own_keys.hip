// Radix sorts of a program's own key types, which it describes by hipcub::NumericTraits, and what the traits say.
#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <climits>
#include <cstring>

#include "check.h"

struct Brain {  // a bfloat16 by its bits
  unsigned short bits;
  bool operator==(const Brain& other) const { return bits == other.bits; }
};
struct Money {
  int cents;
  bool operator==(const Money& other) const { return cents == other.cents; }
};
struct Pair {
  int a, b;
};
template <>
struct hipcub::FpLimits<Brain> {
  static __host__ __device__ Brain Max() { return Brain{0x7f7f}; }
  static __host__ __device__ Brain Lowest() { return Brain{0xff7f}; }
};
template <>
struct hipcub::NumericTraits<Brain> : hipcub::BaseTraits<hipcub::FLOATING_POINT, true, false, unsigned short, Brain> {};
template <>
struct hipcub::NumericTraits<Money> : hipcub::BaseTraits<hipcub::SIGNED_INTEGER, true, false, unsigned int, Money> {};

static_assert(!hipcub::Traits<Pair>::PRIMITIVE && hipcub::Traits<Pair>::CATEGORY == hipcub::NOT_A_NUMBER);
static_assert(hipcub::Traits<const int>::CATEGORY == hipcub::SIGNED_INTEGER);
static_assert(hipcub::Traits<hipcub::NullType>::NULL_TYPE && !hipcub::Traits<hipcub::NullType>::PRIMITIVE);
static_assert(hipcub::Traits<__half>::CATEGORY == hipcub::FLOATING_POINT);
static_assert(hipcub::Traits<Brain>::CATEGORY == hipcub::FLOATING_POINT && hipcub::Traits<Brain>::PRIMITIVE);

float number(Brain key) {
  unsigned int bits = static_cast<unsigned int>(key.bits) << 16;
  float found;
  std::memcpy(&found, &bits, 4);
  return found;
}
template <typename T, typename Less>
void sorts(const char* what, std::vector<T> keys, Less less) {
  Device<T> in(keys), out(keys.size());
  std::stable_sort(keys.begin(), keys.end(), less);
  run(what, [&](void* storage, size_t& bytes) {
    return hipcub::DeviceRadixSort::SortKeys(storage, bytes, in.data, out.data, static_cast<int>(keys.size()));
  });
  expect(what, out.read(), keys);
  std::reverse(keys.begin(), keys.end());
  run(what, [&](void* storage, size_t& bytes) {
    return hipcub::DeviceRadixSort::SortKeysDescending(storage, bytes, in.data, out.data,
                                                       static_cast<int>(keys.size()));
  });
  expect(what, out.read(), keys);
}
int main() {
  std::mt19937 random(1);
  std::vector<Brain> brains;
  std::vector<Money> moneys;
  while (brains.size() < 3000) {
    Brain one{static_cast<unsigned short>(random())};
    if ((one.bits & 0x7f80) != 0x7f80 && one.bits != 0x8000) brains.push_back(one);  // no NaN, one zero
  }
  while (moneys.size() < 3000) moneys.push_back(Money{static_cast<int>(random())});
  sorts("keys by bits of bfloat16", brains, [](Brain a, Brain b) { return number(a) < number(b); });
  sorts("keys by a signed integer", moneys, [](Money a, Money b) { return a.cents < b.cents; });
  expect<unsigned int>("limits of own types",
                       {hipcub::Traits<Brain>::Max().bits, hipcub::Traits<Brain>::Lowest().bits,
                        static_cast<unsigned int>(hipcub::Traits<Money>::Max().cents),
                        static_cast<unsigned int>(hipcub::Traits<Money>::Lowest().cents)},
                       {0x7f7fu, 0xff7fu, static_cast<unsigned int>(INT_MAX), static_cast<unsigned int>(INT_MIN)});
  expect<float>("limits of halves and bfloat16",
                {__half2float(hipcub::FpLimits<__half>::Max()), __half2float(hipcub::FpLimits<__half>::Lowest()),
                 __bfloat162float(hipcub::FpLimits<__hip_bfloat16>::Max()), hipcub::FpLimits<float>::Lowest()},
                {65504.0f, -65504.0f, 3.38953139e38f, -3.40282347e38f});
  using Double = hipcub::Traits<double>;
  expect_one<unsigned long long>("bits there and back", Double::TwiddleOut(Double::TwiddleIn(0x8123456789abcdefull)),
                                 0x8123456789abcdefull);
  return finished();
}
