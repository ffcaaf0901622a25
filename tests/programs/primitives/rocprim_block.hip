// rocPRIM's classes for blocks and logical warps against the host.
#include <hip/hip_runtime.h>
#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

#include "check.h"

constexpr int X = 96, N = 3, items = X * N, parts = 11;

__global__ void block(const int* in, int* out) {
  unsigned t = threadIdx.x;
  using Load = rocprim::block_load<int, X, N, rocprim::block_load_method::block_load_transpose>;
  using Store = rocprim::block_store<int, X, N, rocprim::block_store_method::block_store_warp_transpose>;
  using Scan = rocprim::block_scan<int, X>;
  using Reduce = rocprim::block_reduce<int, X, rocprim::block_reduce_algorithm::raking_reduce>;
  using Radix = rocprim::block_radix_sort<int, X, N, int>;
  using Sort = rocprim::block_sort<int, X, N>;
  using Exchange = rocprim::block_exchange<int, X, N>;
  using Heads = rocprim::block_discontinuity<int, X>;
  using Difference = rocprim::block_adjacent_difference<int, X>;
  __shared__ union {
    Load::storage_type load;
    Store::storage_type store;
    Scan::storage_type scan;
    Reduce::storage_type reduce;
    Radix::storage_type radix;
    Sort::storage_type sort;
    Exchange::storage_type exchange;
    Heads::storage_type heads;
    Difference::storage_type difference;
  } s;
  int keys[N], values[N], found[N], total = 0;
  auto put = [&](int part, int (&what)[N]) {
    rocprim::syncthreads();
    Store().store(out + part * items, what, s.store);
    rocprim::syncthreads();
  };
  Load().load(in, keys, s.load);
  put(0, keys);
  Scan().inclusive_scan(keys, found, s.scan, rocprim::plus<int>());
  put(1, found);
  Scan().exclusive_scan(keys, found, 1000, total, s.scan, rocprim::maximum<int>());
  put(2, found);
  Reduce().reduce(keys, total, s.reduce, rocprim::plus<int>());
  for (int i = 0; i < N; ++i) values[i] = static_cast<int>(t) * N + i, found[i] = keys[i];
  rocprim::syncthreads();
  Radix().sort_desc(found, values, s.radix);
  put(3, values);
  for (int i = 0; i < N; ++i) found[i] = keys[i];
  Sort().sort(found, s.sort, rocprim::less<int>());
  put(4, found);
  Exchange().blocked_to_striped(keys, found, s.exchange);
  rocprim::syncthreads();
  Exchange().striped_to_blocked(found, found, s.exchange);
  put(5, found);
  Heads().flag_heads(found, keys, rocprim::inequality_wrapper<rocprim::equal_to<int>>(), s.heads);
  put(6, found);
  Difference().subtract_left(keys, found, rocprim::minus<int>(), s.difference);
  put(7, found);
  int shuffled = -1;
  rocprim::block_shuffle<int, X>().offset(keys[0], shuffled, 2);
  found[0] = shuffled;
  found[1] = rocprim::warp_shuffle_xor(keys[0], 1);
  found[2] = rocprim::warp_shuffle_down(keys[0], 1, 8);
  put(8, found);
  using Rank = rocprim::block_radix_rank<X, 5>;
  using Decode = rocprim::block_run_length_decode<int, X, N, N>;
  __shared__ union {
    Rank::storage_type rank;
    Decode::storage_type runs;
  } more;
  unsigned ranks[N];
  Rank().rank_keys_desc(keys, ranks, more.rank, 2, 5);
  for (int i = 0; i < N; ++i) found[i] = static_cast<int>(ranks[i]), values[i] = 2 + keys[i] % 2;
  put(9, found);
  int size;
  Decode(more.runs, keys, values, size).run_length_decode(found, static_cast<unsigned>(items));
  put(10, found);
  if (t == 0) out[parts * items] = total;
}

__global__ void warps(const int* in, int* out) {
  unsigned t = threadIdx.x, number = t / 16;
  using Reduce = rocprim::warp_reduce<int, 16, true>;
  using Scan = rocprim::warp_scan<int, 16>;
  using Sort = rocprim::warp_sort<int, 16>;
  __shared__ Reduce::storage_type reduce[X / 16];
  __shared__ Scan::storage_type scan[X / 16];
  __shared__ Sort::storage_type sort[X / 16];
  int x = in[t], y, z;
  Reduce().reduce(x, y, reduce[number], rocprim::maximum<int>());
  out[t] = y;
  Scan().scan(x, y, z, 10, scan[number]);
  out[X + t] = y;
  out[2 * X + t] = z;
  Sort().sort(x, sort[number], rocprim::greater<int>());
  out[3 * X + t] = x;
}

int main() {
  std::vector<int> in(items), wanted;
  for (int& x : in) x = static_cast<int>(random_below(500));
  auto add = [&](const std::vector<int>& part) { wanted.insert(wanted.end(), part.begin(), part.end()); };
  std::vector<int> part(items), order(items);
  add(in);
  std::partial_sum(in.begin(), in.end(), part.begin());
  int sum = part.back();
  add(part);
  int most = 1000;
  for (int i = 0; i < items; ++i) part[i] = most, most = std::max(most, in[i]);
  add(part);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] > in[b]; });
  add(order);
  part = in;
  std::sort(part.begin(), part.end());
  add(part);
  add(in);
  for (int i = 0; i < items; ++i) part[i] = i == 0 || in[i] != in[i - 1];
  add(part);
  for (int i = 0; i < items; ++i) part[i] = i == 0 ? in[0] : in[i] - in[i - 1];
  add(part);
  for (int t = 0; t < X; ++t) {
    part[t * N] = t + 2 < X ? in[(t + 2) * N] : -1;
    part[t * N + 1] = in[(t ^ 1) * N];
    part[t * N + 2] = t % 8 == 7 ? in[t * N] : in[(t + 1) * N];
  }
  add(part);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (in[a] >> 2 & 31) > (in[b] >> 2 & 31); });
  for (int i = 0; i < items; ++i) part[order[i]] = i;
  add(part);
  std::vector<int> decoded;
  for (int x : in) decoded.insert(decoded.end(), 2 + x % 2, x);
  add(std::vector<int>(decoded.begin() + items, decoded.begin() + 2 * items));
  wanted.push_back(sum);
  Device<int> d(in), out(wanted.size());
  block<<<1, X>>>(d, out);
  HIP(hipDeviceSynchronize());
  expect("block", out.read(), wanted);

  wanted.assign(4 * X, 0);
  for (int first = 0; first < X; first += 16) {
    auto begin = in.begin() + first;
    std::fill(wanted.begin() + first, wanted.begin() + first + 16, *std::max_element(begin, begin + 16));
    sum = 10;
    for (int i = 0; i < 16; ++i) wanted[2 * X + first + i] = sum, wanted[X + first + i] = sum += in[first + i];
    std::copy(begin, begin + 16, wanted.begin() + 3 * X + first);
    std::sort(wanted.begin() + 3 * X + first, wanted.begin() + 3 * X + first + 16, std::greater<int>());
  }
  Device<int> w(wanted.size());
  warps<<<1, X>>>(d, w);
  HIP(hipDeviceSynchronize());
  expect("warps", w.read(), wanted);
  return finished();
}
