// hipCUB's classes for logical warps, its functions of one thread, iterators and the allocator, against the host.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <numeric>

#include "check.h"

struct Affine {
  unsigned a, b;
  bool operator==(const Affine& o) const { return a == o.a && b == o.b; }
};
struct Then {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const { return {f.a * g.a, g.a * f.b + g.b}; }
};
struct LastDigitLess {
  __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

constexpr int threads = 192;

// Each logical warp of the block for itself; lanes that make no whole logical warp take no part.
template <int L>
__global__ void warps(const Affine* in, const int* flags, Affine* out, int valid) {
  int t = static_cast<int>(threadIdx.x), wave = t / warpSize, lane = t % warpSize, per_wave = warpSize / L;
  int number = wave * per_wave + lane / L, index = lane % L;
  if (lane >= per_wave * L) return;
  int me = number * L + index;
  using Reduce = hipcub::WarpReduce<Affine, L>;
  using Scan = hipcub::WarpScan<Affine, L>;
  __shared__ typename Reduce::TempStorage reduce[threads / L];
  __shared__ typename Scan::TempStorage scan[threads / L];
  Affine x = in[me], y, z, all;
  y = Reduce(reduce[number]).Reduce(x, Then());
  if (index == 0) out[me] = y;
  y = Reduce(reduce[number]).Reduce(x, Then(), valid);
  if (index == 0) out[threads + me] = y;
  y = Reduce(reduce[number]).HeadSegmentedReduce(x, flags[me], Then());
  if (index == 0 || flags[me]) out[2 * threads + me] = y;
  y = Reduce(reduce[number]).TailSegmentedReduce(x, flags[me], Then());
  if (index == 0 || flags[me - 1]) out[3 * threads + me] = y;
  Scan(scan[number]).InclusiveScan(x, y, Then(), all);
  out[4 * threads + me] = y;
  out[5 * threads + me] = all;
  Scan(scan[number]).Scan(x, y, z, Affine{5, 6}, Then());
  out[6 * threads + me] = y;
  out[7 * threads + me] = z;
  out[8 * threads + me] = Scan(scan[number]).Broadcast(x, L - 1);
}
template <int L>
void check_warps(const char* what, int lanes) {
  std::vector<Affine> in(threads);
  std::vector<int> flags(threads);
  for (Affine& f : in) f = {random_below(100) * 2 + 1, random_below(1000)};
  for (int& f : flags) f = random_below(4) == 0;
  int groups = threads / lanes * (lanes / L), valid = 1 + static_cast<int>(random_below(L));
  Affine untouched{0x5a5a5a5a, 0x5a5a5a5a};
  std::vector<Affine> wanted(9 * threads, untouched);
  for (int g = 0; g < groups; ++g) {
    const Affine* x = in.data() + g * L;
    const int* f = flags.data() + g * L;
    auto put = [&](int part, int i, Affine y) { wanted[part * threads + g * L + i] = y; };
    auto fold = [&](int from, int to, Affine y = {1, 0}) {
      for (int i = from; i < to; ++i) y = Then()(y, x[i]);
      return y;
    };
    put(0, 0, fold(0, L));
    put(1, 0, fold(0, valid));
    for (int i = 0; i < L; ++i) {
      int end = i + 1;
      while (end < L && !f[end]) ++end;
      if (i == 0 || f[i]) put(2, i, fold(i, end));
      end = i;
      while (end < L - 1 && !f[end]) ++end;
      if (i == 0 || x == nullptr || flags[g * L + i - 1]) put(3, i, fold(i, end + 1));
      put(4, i, fold(0, i + 1));
      put(5, i, fold(0, L));
      put(6, i, fold(0, i + 1, {5, 6}));
      put(7, i, fold(0, i, {5, 6}));
      put(8, i, x[L - 1]);
    }
  }
  Device<Affine> d(in), out(wanted.size());
  Device<int> f(flags);
  warps<L><<<1, threads>>>(d, f, out, valid);
  HIP(hipDeviceSynchronize());
  expect(what, out.read(), wanted);
}

template <int L, int N>
__global__ void warp_items(const int* in, int* out) {
  int t = static_cast<int>(threadIdx.x), number = t / L, base = number * L * N;
  using Load = hipcub::WarpLoad<int, N, hipcub::WARP_LOAD_TRANSPOSE, L>;
  using Store = hipcub::WarpStore<int, N, hipcub::WARP_STORE_STRIPED, L>;
  using Exchange = hipcub::WarpExchange<int, N, L>;
  using Sort = hipcub::WarpMergeSort<int, N, L>;
  __shared__ typename Load::TempStorage load[threads / L];
  __shared__ typename Store::TempStorage store[threads / L];
  __shared__ typename Exchange::TempStorage exchange[threads / L];
  __shared__ typename Sort::TempStorage sort[threads / L];
  int items[N], moved[N];
  Load(load[number]).Load(in + base, items);
  Exchange(exchange[number]).BlockedToStriped(items, moved);
  Store(store[number]).Store(out + base, moved);
  Sort(sort[number]).Sort(items, LastDigitLess());
  for (int i = 0; i < N; ++i) out[threads * N + base + t % L * N + i] = items[i];
}
template <int L, int N>
void check_items(const char* what) {
  constexpr int n = threads * N;
  std::vector<int> in(n), wanted(2 * n);
  for (int i = 0; i < n; ++i) wanted[i] = wanted[n + i] = in[i] = static_cast<int>(random_below(1000));
  for (int g = 0; g < threads / L; ++g) {
    auto first = wanted.begin() + n + g * L * N;
    std::stable_sort(first, first + L * N, LastDigitLess());
  }
  Device<int> d(in), out(2 * n);
  warp_items<L, N><<<1, threads>>>(d, out);
  HIP(hipDeviceSynchronize());
  expect(what, out.read(), wanted);
}

__global__ void one_thread(int* out, const float* in) {
  int items[4] = {5, 2, 9, 1}, scanned[4], ranks[4] = {0, 1, 2, 3};
  int k = 0;
  out[k++] = hipcub::ThreadReduce(items, hipcub::Sum());
  out[k++] = hipcub::ThreadReduce(items, hipcub::Max(), 20);
  hipcub::ThreadScanInclusive(items, scanned, hipcub::Sum());
  for (int x : scanned) out[k++] = x;
  hipcub::ThreadScanExclusive(items, scanned, hipcub::Sum(), 100);
  for (int x : scanned) out[k++] = x;
  hipcub::StableOddEvenSort(items, ranks, hipcub::InequalityWrapper<hipcub::Equality>(hipcub::Equality()));
  int sorted[4] = {5, 2, 9, 1};
  auto less = [](int a, int b) { return a < b; };
  for (int i = 0; i < 4; ++i) ranks[i] = i;
  hipcub::StableOddEvenSort(sorted, ranks, less);
  for (int x : ranks) out[k++] = x;
  out[k++] = hipcub::LowerBound(sorted, 4, 5);
  out[k++] = hipcub::UpperBound(sorted, 4, 5);
  out[k++] = static_cast<int>(hipcub::BFE(0xabcdu, 4, 8));
  out[k++] = hipcub::PRMT(0x33221100, 0x77665544, 0x0527);
  out[k++] = hipcub::ThreadLoad<hipcub::LOAD_CS>(in + 1) == 2.5f;
  hipcub::ThreadStore<hipcub::STORE_CS>(out + k++, 77);
  out[k++] = hipcub::KeyValuePair<int, float>(1, 2) ==
             hipcub::ArgMax()(hipcub::KeyValuePair<int, float>(1, 2), hipcub::KeyValuePair<int, float>(3, 2));
  out[k++] = static_cast<int>(hipcub::Traits<float>::TwiddleIn(0x80000000u) == 0x7fffffffu);
}

int main() {
  int lanes = 0;
  HIP(hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, 0));
  check_warps<32>("logical warps of 32", lanes);
  check_warps<16>("logical warps of 16", lanes);
  check_warps<8>("logical warps of 8", lanes);
  check_warps<2>("logical warps of 2", lanes);
  check_warps<1>("logical warps of 1", lanes);
  check_warps<7>("logical warps of 7", lanes);
  if (lanes == 64) check_warps<64>("logical warps of 64", lanes);
  check_items<32, 3>("items of 32 lanes");
  check_items<8, 4>("items of 8 lanes");
  {
    Device<float> in(std::vector<float>{1.5f, 2.5f});
    std::vector<int> wanted = {17, 20, 5, 7, 16, 17,   100,        105, 107, 116, 3,
                               1,  0,  2, 2, 3,  0xbc, 0x00552277, 1,   77,  1,   1};
    Device<int> out(wanted.size());
    one_thread<<<1, 1>>>(out, in);
    HIP(hipDeviceSynchronize());
    expect("one thread", out.read(), wanted);
  }
  {  // iterators on the host
    hipcub::CountingInputIterator<int> counting(5);
    expect_one("counting", counting[3] + *(counting + 1) + static_cast<int>((counting + 9) - counting), 8 + 6 + 9);
    hipcub::ConstantInputIterator<int> constant(4);
    expect_one("constant", *constant + constant[7], 8);
    int data[3] = {3, 1, 2};
    hipcub::ArgIndexInputIterator<int*> indexed(data);
    ++indexed;
    expect_one("indexed", static_cast<int>((*indexed).key) * 10 + (*indexed).value, 11);
    auto twice = [](int x) { return 2 * x; };
    hipcub::TransformInputIterator<int, decltype(twice), int*> doubled(data, twice);
    expect_one("transformed", std::accumulate(doubled, doubled + 3, 0), 12);
    hipcub::DiscardOutputIterator<> discard;
    discard[5] = 3;
    // all of them in a kernel
    Device<int> in(std::vector<int>{4, 6, 8}), out(3);
    hipcub::CacheModifiedInputIterator<hipcub::LOAD_LDG, int> from(in.data);
    hipcub::CacheModifiedOutputIterator<hipcub::STORE_CS, int> to(out.data);
    run("modified", [&](void* t, size_t& b) { return hipcub::DeviceScan::InclusiveSum(t, b, from, to, 3); });
    expect("modified", out.read(), {4, 10, 18});
    Device<int> count(1);
    run("discard", [&](void* t, size_t& b) {
      return hipcub::DeviceRunLengthEncode::Encode(t, b, from, discard, to, count.data, 3);
    });
    expect("discard", out.read(), {1, 1, 1});
  }
  {
    hipcub::CachingDeviceAllocator allocator;
    void *a, *b, *c;
    HIP(allocator.DeviceAllocate(&a, 1000));
    HIP(allocator.DeviceFree(a));
    HIP(allocator.DeviceAllocate(&b, 3000));
    expect_one("memory is used again", a == b, true);
    HIP(allocator.DeviceAllocate(&c, 3000));
    expect_one("memory in use is not", b != c, true);
    HIP(allocator.DeviceFree(b));
    HIP(allocator.DeviceFree(c));
    HIP(allocator.FreeAllCached());
  }
  return finished();
}
