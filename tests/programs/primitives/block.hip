// hipCUB's classes for blocks against the host, for blocks that are whole waves, parts of one, and of three dimensions.
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
struct Unequal {
  __host__ __device__ bool operator()(int a, int b) const { return a / 4 != b / 4; }
};
struct Minus {
  __host__ __device__ int operator()(int a, int b) const { return a - b; }
};
struct LastDigitLess {
  __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};
// Goes on from block to block, as a caller's prefix does.
struct Running {
  Affine total;
  __device__ Affine operator()(const Affine& of_block) {
    Affine old = total;
    total = Then()(total, of_block);
    return old;
  }
};

template <int X, int Y, int Z>
__device__ unsigned thread_number() {
  return (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x;
}

template <int X, int Y, int Z, int N>
__global__ void scans(const Affine* in, Affine* out, Affine* reduced, int valid) {
  constexpr int threads = X * Y * Z;
  using Reduce = hipcub::BlockReduce<Affine, X, hipcub::BLOCK_REDUCE_RAKING, Y, Z>;
  using Scan = hipcub::BlockScan<Affine, X, hipcub::BLOCK_SCAN_WARP_SCANS, Y, Z>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } storage;
  unsigned t = thread_number<X, Y, Z>();
  Affine items[N], found[N], all;
  hipcub::LoadDirectBlocked(t, in, items);
  Affine r = Reduce(storage.reduce).Reduce(items, Then());
  if (t == 0) reduced[0] = r;
  __syncthreads();
  r = Reduce(storage.reduce).Reduce(items[0], Then(), valid);
  if (t == 0) reduced[1] = r;
  __syncthreads();
  Scan(storage.scan).InclusiveScan(items, found, Then(), all);
  hipcub::StoreDirectBlocked(t, out, found);
  if (t == threads - 1) reduced[2] = all;
  __syncthreads();
  Scan(storage.scan).ExclusiveScan(items, found, Affine{5, 7}, Then());
  hipcub::StoreDirectBlocked(t, out + threads * N, found);
  __syncthreads();
  Running running{{3, 1}};
  for (int tile = 0; tile < 2; ++tile) {
    Scan(storage.scan).ExclusiveScan(items, found, Then(), running);
    hipcub::StoreDirectBlocked(t, out + (2 + tile) * threads * N, found);
    __syncthreads();
  }
  // without storage of the caller's
  hipcub::BlockScan<Affine, X, hipcub::BLOCK_SCAN_RAKING, Y, Z>().InclusiveScan(items[0], found[0], Then());
  out[4 * threads * N + t] = found[0];
}
template <int X, int Y, int Z, int N>
__global__ void sums(const int* in, int* out) {
  constexpr int threads = X * Y * Z;
  unsigned t = thread_number<X, Y, Z>();
  using Scan = hipcub::BlockScan<int, X, hipcub::BLOCK_SCAN_RAKING, Y, Z>;
  __shared__ typename Scan::TempStorage storage;
  int x = in[t], y, all;
  Scan(storage).ExclusiveSum(x, y, all);
  out[t] = y;
  __syncthreads();
  Scan(storage).InclusiveSum(x, y);
  out[threads + t] = y;
  int sum = hipcub::BlockReduce<int, X, hipcub::BLOCK_REDUCE_WARP_REDUCTIONS, Y, Z>().Sum(x);
  if (t == 0) out[2 * threads] = sum, out[2 * threads + 1] = all;
}

template <int X, int Y, int Z, int N>
void check_scans(const char* what) {
  constexpr int threads = X * Y * Z, n = threads * N;
  std::vector<Affine> in(n), wanted(4 * n + threads), reduced(3);
  for (Affine& f : in) f = {random_below(100) * 2 + 1, random_below(1000)};
  int valid = 1 + static_cast<int>(random_below(threads));
  Affine total{1, 0}, later{5, 7}, running{3, 1};
  for (int i = 0; i < n; ++i) {
    wanted[n + i] = later;
    later = Then()(later, in[i]);
    wanted[i] = total = Then()(total, in[i]);
  }
  for (int i = 0; i < 2 * n; ++i) wanted[2 * n + i] = running, running = Then()(running, in[i % n]);
  reduced[0] = reduced[2] = total;
  total = in[0];
  for (int t = 1; t < valid; ++t) total = Then()(total, in[t * N]);
  reduced[1] = total;
  total = {1, 0};
  for (int t = 0; t < threads; ++t) wanted[4 * n + t] = total = Then()(total, in[t * N]);
  Device<Affine> d(in), out(wanted.size()), r(3);
  scans<X, Y, Z, N><<<1, dim3(X, Y, Z)>>>(d, out, r, valid);
  HIP(hipDeviceSynchronize());
  expect(what, out.read(), wanted);
  expect(what, r.read(), reduced);
  std::vector<int> numbers(threads), s(2 * threads + 2);
  for (int& x : numbers) x = static_cast<int>(random_below(1000)) - 500;
  int sum = 0;
  for (int t = 0; t < threads; ++t) s[t] = sum, s[threads + t] = sum += numbers[t];
  s[2 * threads] = s[2 * threads + 1] = sum;
  Device<int> dn(numbers), dout(s.size());
  sums<X, Y, Z, N><<<1, dim3(X, Y, Z)>>>(dn, dout);
  HIP(hipDeviceSynchronize());
  expect(what, dout.read(), s);
}

template <int X, int N>
__global__ void sorts(const int* in, int* out, int valid) {
  constexpr int n = X * N;
  int t = static_cast<int>(threadIdx.x);
  using Radix = hipcub::BlockRadixSort<int, X, N>;
  using Pairs = hipcub::BlockRadixSort<float, X, N, int, 5>;
  using Merge = hipcub::BlockMergeSort<int, X, N, int>;
  __shared__ union {
    typename Radix::TempStorage radix;
    typename Pairs::TempStorage pairs;
    typename Merge::TempStorage merge;
  } storage;
  int keys[N], values[N];
  hipcub::LoadDirectBlocked(t, in, keys);
  Radix(storage.radix).Sort(keys);
  hipcub::StoreDirectBlocked(t, out, keys);
  __syncthreads();
  hipcub::LoadDirectBlocked(t, in, keys);
  Radix(storage.radix).SortDescendingBlockedToStriped(keys, 2, 9);
  hipcub::StoreDirectStriped<X>(t, out + n, keys);
  __syncthreads();
  float reals[N];
  hipcub::LoadDirectBlocked(t, in, keys);
  for (int i = 0; i < N; ++i) reals[i] = static_cast<float>(keys[i] % 100), values[i] = t * N + i;
  Pairs(storage.pairs).Sort(reals, values);
  hipcub::StoreDirectBlocked(t, out + 2 * n, values);
  __syncthreads();
  for (int i = 0; i < N; ++i) values[i] = t * N + i;
  Merge(storage.merge).Sort(keys, values, LastDigitLess());
  hipcub::StoreDirectBlocked(t, out + 3 * n, values);
  __syncthreads();
  hipcub::LoadDirectBlocked(t, in, keys);
  hipcub::BlockMergeSort<int, X, N>().Sort(keys, LastDigitLess(), valid, 1000000);
  hipcub::StoreDirectBlocked(t, out + 4 * n, keys);
}
template <int X, int N>
void check_sorts(const char* what) {
  constexpr int n = X * N;
  std::vector<int> in(n), wanted(5 * n), order(n);
  for (int& x : in) x = static_cast<int>(generator()()) >> random_below(30) & 0x7fffffff;
  int valid = 1 + static_cast<int>(random_below(n));
  auto sorted = in;
  std::sort(sorted.begin(), sorted.end());
  std::copy(sorted.begin(), sorted.end(), wanted.begin());
  sorted = in;
  std::stable_sort(sorted.begin(), sorted.end(), [](int a, int b) { return (a >> 2 & 127) > (b >> 2 & 127); });
  std::copy(sorted.begin(), sorted.end(), wanted.begin() + n);
  std::iota(order.begin(), order.end(), 0);
  auto by = order;
  std::stable_sort(by.begin(), by.end(), [&](int a, int b) { return in[a] % 100 < in[b] % 100; });
  std::copy(by.begin(), by.end(), wanted.begin() + 2 * n);
  by = order;
  std::stable_sort(by.begin(), by.end(), [&](int a, int b) { return LastDigitLess()(in[a], in[b]); });
  std::copy(by.begin(), by.end(), wanted.begin() + 3 * n);
  sorted = in;
  std::stable_sort(sorted.begin(), sorted.begin() + valid, LastDigitLess());
  std::fill(sorted.begin() + valid, sorted.end(), 1000000);
  std::copy(sorted.begin(), sorted.end(), wanted.begin() + 4 * n);
  Device<int> d(in), out(5 * n);
  sorts<X, N><<<1, X>>>(d, out, valid);
  HIP(hipDeviceSynchronize());
  expect(what, out.read(), wanted);
}

template <int X, int N, hipcub::BlockLoadAlgorithm L, hipcub::BlockStoreAlgorithm S>
__global__ void copies(const int* in, int* out, int valid) {
  using Load = hipcub::BlockLoad<int, X, N, L>;
  using Store = hipcub::BlockStore<int, X, N, S>;
  __shared__ typename Load::TempStorage load;
  __shared__ typename Store::TempStorage store;
  int items[N];
  Load(load).Load(in, items);
  // what each thread holds
  for (int i = 0; i < N; ++i) out[threadIdx.x * N + i] = items[i];
  Store(store).Store(out + X * N, items);
  __syncthreads();
  Load(load).Load(in, items, valid, -1);
  Store(store).Store(out + 2 * X * N, items);
  __syncthreads();
  Store(store).Store(out + 3 * X * N, items, valid);
}
template <int X, int N, hipcub::BlockLoadAlgorithm L, hipcub::BlockStoreAlgorithm S>
void check_copies(const char* what) {
  constexpr int n = X * N;
  std::vector<int> in(n), wanted(4 * n);
  for (int& x : in) x = static_cast<int>(random_below(100000));
  int valid = static_cast<int>(random_below(n + 1));
  for (int i = 0; i < n; ++i) {
    wanted[i] = in[L == hipcub::BLOCK_LOAD_STRIPED ? i % N * X + i / N : i];
    wanted[n + i] = in[i];
    wanted[2 * n + i] = i < valid ? in[i] : -1;
    wanted[3 * n + i] = i < valid ? in[i] : 0x5a5a5a5a;
  }
  Device<int> d(in), out(4 * n);
  copies<X, N, L, S><<<1, X>>>(d, out, valid);
  HIP(hipDeviceSynchronize());
  expect(what, out.read(), wanted);
}

template <int X, int N>
__global__ void moves(const int* in, const int* ranks_in, int* out) {
  constexpr int n = X * N;
  int t = static_cast<int>(threadIdx.x);
  using Exchange = hipcub::BlockExchange<int, X, N>;
  __shared__ typename Exchange::TempStorage storage;
  int items[N], ranks[N], moved[N];
  hipcub::LoadDirectBlocked(t, in, items);
  hipcub::LoadDirectBlocked(t, ranks_in, ranks);
  Exchange(storage).BlockedToStriped(items, moved);
  hipcub::StoreDirectStriped<X>(t, out, moved);
  __syncthreads();
  Exchange(storage).StripedToBlocked(moved);
  hipcub::StoreDirectBlocked(t, out + n, moved);
  __syncthreads();
  Exchange(storage).BlockedToWarpStriped(items, moved);
  if constexpr (X % 64 == 0) {
    hipcub::StoreDirectWarpStriped(t, out + 2 * n, moved);
  } else {  // whose waves the function does not know
    __syncthreads();
    Exchange(storage).WarpStripedToBlocked(moved);
    hipcub::StoreDirectBlocked(t, out + 2 * n, moved);
  }
  __syncthreads();
  Exchange(storage).ScatterToStriped(items, moved, ranks);
  hipcub::StoreDirectStriped<X>(t, out + 3 * n, moved);
  __syncthreads();
  Exchange(storage).ScatterToBlocked(items, moved, ranks);
  hipcub::StoreDirectBlocked(t, out + 4 * n, moved);
  __syncthreads();
  hipcub::BlockShuffle<int, X> shuffle;
  int before = -7;
  shuffle.Offset(items[0], before, -1);
  out[5 * n + t] = before;
  __syncthreads();
  shuffle.Rotate(items[0], before, 3);
  out[5 * n + X + t] = before;
  __syncthreads();
  for (int i = 0; i < N; ++i) moved[i] = -1;
  shuffle.Up(items, moved);
  hipcub::StoreDirectBlocked(t, out + 5 * n + 2 * X, moved);
  __syncthreads();
  for (int i = 0; i < N; ++i) moved[i] = -1;
  shuffle.Down(items, moved);
  hipcub::StoreDirectBlocked(t, out + 6 * n + 2 * X, moved);
  int heads[N], tails[N];
  hipcub::BlockDiscontinuity<int, X>().FlagHeadsAndTails(heads, 12, tails, items, Unequal());
  hipcub::StoreDirectBlocked(t, out + 7 * n + 2 * X, heads);
  hipcub::StoreDirectBlocked(t, out + 8 * n + 2 * X, tails);
  hipcub::BlockAdjacentDifference<int, X>().SubtractLeft(items, moved, Minus());
  hipcub::StoreDirectBlocked(t, out + 9 * n + 2 * X, moved);
  __syncthreads();
  hipcub::BlockAdjacentDifference<int, X>().SubtractRightPartialTile(items, moved, Minus(), n / 2);
  hipcub::StoreDirectBlocked(t, out + 10 * n + 2 * X, moved);
}
template <int X, int N>
void check_moves(const char* what) {
  constexpr int n = X * N;
  std::vector<int> in(n), ranks(n), wanted;
  for (int& x : in) x = static_cast<int>(random_below(20));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shuffle(ranks.begin(), ranks.end(), generator());
  std::vector<int> scattered(n);
  for (int i = 0; i < n; ++i) scattered[ranks[i]] = in[i];
  for (int k = 0; k < 3; ++k) wanted.insert(wanted.end(), in.begin(), in.end());
  for (int k = 0; k < 2; ++k) wanted.insert(wanted.end(), scattered.begin(), scattered.end());
  for (int t = 0; t < X; ++t) wanted.push_back(t == 0 ? -7 : in[(t - 1) * N]);
  for (int t = 0; t < X; ++t) wanted.push_back(in[(t + 3) % X * N]);
  for (int i = 0; i < n; ++i) wanted.push_back(i == 0 ? -1 : in[i - 1]);
  for (int i = 0; i < n; ++i) wanted.push_back(i == n - 1 ? -1 : in[i + 1]);
  for (int i = 0; i < n; ++i) wanted.push_back(Unequal()(i == 0 ? 12 : in[i - 1], in[i]));
  for (int i = 0; i < n; ++i) wanted.push_back(i == n - 1 || Unequal()(in[i], in[i + 1]));
  for (int i = 0; i < n; ++i) wanted.push_back(i == 0 ? in[0] : in[i] - in[i - 1]);
  for (int i = 0; i < n; ++i) wanted.push_back(i + 1 < n / 2 ? in[i] - in[i + 1] : in[i]);
  Device<int> d(in), r(ranks), out(wanted.size());
  moves<X, N><<<1, X>>>(d, r, out);
  HIP(hipDeviceSynchronize());
  expect(what, out.read(), wanted);
}

template <int X, int N>
__global__ void counts(const unsigned char* in, unsigned* histogram, int* ranks_out, int* prefix_out,
                       const int* lengths, int* decoded, int* total) {
  int t = static_cast<int>(threadIdx.x);
  unsigned char items[N];
  hipcub::LoadDirectBlocked(t, in, items);
  __shared__ unsigned bins[32];
  using Histogram = hipcub::BlockHistogram<unsigned char, X, N, 32, hipcub::BLOCK_HISTO_ATOMIC>;
  Histogram().Histogram(items, bins);
  for (int i = t; i < 32; i += X) histogram[i] = bins[i];
  using Rank = hipcub::BlockRadixRank<X, 3, false>;
  __shared__ typename Rank::TempStorage rank;
  int ranks[N], prefix[Rank::BINS_TRACKED_PER_THREAD];
  Rank(rank).RankKeys(items, ranks, hipcub::BFEDigitExtractor<unsigned char>(1, 3), prefix);
  hipcub::StoreDirectBlocked(t, ranks_out, ranks);
  if (t < 8) prefix_out[t] = prefix[0];
  using Decode = hipcub::BlockRunLengthDecode<unsigned char, X, N, 5>;
  __shared__ typename Decode::TempStorage runs;
  int mine[N], size;
  hipcub::LoadDirectBlocked(t, lengths, mine);
  Decode decode(runs, items, mine, size);
  if (t == 0) *total = size;
  for (int from = 0; from < size; from += X * 5) {
    unsigned char values[5];
    int places[5];
    decode.RunLengthDecode(values, places, static_cast<uint32_t>(from));
    for (int i = 0; i < 5; ++i) {
      int to = from + t * 5 + i;
      if (to < size) decoded[to] = values[i] * 1000 + places[i];
    }
  }
}
template <int X, int N>
void check_counts(const char* what) {
  constexpr int n = X * N;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> histogram(32);
  std::vector<int> ranks(n), order(n), prefix(8), lengths(n), decoded;
  for (int i = 0; i < n; ++i) {
    ++histogram[in[i] = static_cast<unsigned char>(random_below(32))];
    for (int d = (in[i] >> 1 & 7) + 1; d < 8; ++d) ++prefix[d];
    lengths[i] = 1 + static_cast<int>(random_below(6));
    for (int k = 0; k < lengths[i]; ++k) decoded.push_back(in[i] * 1000 + k);
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (in[a] >> 1 & 7) < (in[b] >> 1 & 7); });
  for (int i = 0; i < n; ++i) ranks[order[i]] = i;
  Device<unsigned char> d(in);
  Device<unsigned> h(32);
  Device<int> r(n), p(8), l(lengths), out(decoded.size()), total(1);
  counts<X, N><<<1, X>>>(d, h, r, p, l, out, total);
  HIP(hipDeviceSynchronize());
  expect(what, h.read(), histogram);
  expect(what, r.read(), ranks);
  expect(what, p.read(), prefix);
  expect_one(what, total.read()[0], static_cast<int>(decoded.size()));
  expect(what, out.read(), decoded);
}

int main() {
  check_scans<256, 1, 1, 3>("scans of 256");
  check_scans<64, 1, 1, 1>("scans of 64");
  check_scans<100, 1, 1, 2>("scans of 100");
  check_scans<20, 1, 1, 1>("scans of 20");
  check_scans<8, 4, 3, 2>("scans of 8 x 4 x 3");
  check_sorts<256, 4>("sorts of 256");
  check_sorts<64, 1>("sorts of 64");
  check_sorts<72, 3>("sorts of 72");
  check_copies<128, 4, hipcub::BLOCK_LOAD_DIRECT, hipcub::BLOCK_STORE_DIRECT>("direct");
  check_copies<128, 3, hipcub::BLOCK_LOAD_STRIPED, hipcub::BLOCK_STORE_STRIPED>("striped");
  check_copies<128, 4, hipcub::BLOCK_LOAD_VECTORIZE, hipcub::BLOCK_STORE_VECTORIZE>("vectorize");
  check_copies<128, 3, hipcub::BLOCK_LOAD_TRANSPOSE, hipcub::BLOCK_STORE_TRANSPOSE>("transpose");
  check_copies<100, 3, hipcub::BLOCK_LOAD_WARP_TRANSPOSE, hipcub::BLOCK_STORE_WARP_TRANSPOSE>("warp transpose");
  check_moves<128, 3>("moves of 128");
  check_moves<80, 2>("moves of 80");
  check_counts<128, 2>("counts of 128");
  check_counts<48, 3>("counts of 48");
  return finished();
}
