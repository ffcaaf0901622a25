// Forms of the algorithms that the other programs leave out, on numbers worked out by hand.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/detail/raw_reference_cast.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/memory.h>
#include <thrust/merge.h>
#include <thrust/mismatch.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_scan.h>
#include <thrust/uninitialized_copy.h>
#include <thrust/uninitialized_fill.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>

#include "check.h"

struct Eight {
  __host__ __device__ int operator()() const { return 8; }
};
struct SameParity {
  __host__ __device__ bool operator()(int a, int b) const { return a % 2 == b % 2; }
};
struct MyDevicePolicy : thrust::device_execution_policy<MyDevicePolicy> {};
struct MyHostPolicy : thrust::host_execution_policy<MyHostPolicy> {};
using Ints = std::vector<int>;

template <template <typename...> class Vector>
void forms() {
  using V = Vector<int>;
  V a{1, 1, 2, 3, 3, 5}, b{1, 2, 2, 3, 4}, av{10, 11, 12, 13, 14, 15}, bv{20, 21, 22, 23, 24};
  V keys(11), values(11);
  auto is = [&](auto ends, const Ints& wanted_keys, const Ints& wanted_values) {
    return V(keys.begin(), ends.first) == wanted_keys && V(values.begin(), ends.second) == wanted_values;
  };
  CHECK(is(thrust::set_union_by_key(a.begin(), a.end(), b.begin(), b.end(), av.begin(), bv.begin(), keys.begin(),
                                    values.begin()),
           {1, 1, 2, 2, 3, 3, 4, 5}, {10, 11, 12, 22, 13, 14, 24, 15}));
  CHECK(is(thrust::set_intersection_by_key(a.begin(), a.end(), b.begin(), b.end(), av.begin(), keys.begin(),
                                           values.begin()),
           {1, 2, 3}, {10, 12, 13}));
  CHECK(is(thrust::set_difference_by_key(a.begin(), a.end(), b.begin(), b.end(), av.begin(), bv.begin(), keys.begin(),
                                         values.begin(), thrust::less<int>()),
           {1, 3, 5}, {11, 14, 15}));
  V down{5, 3, 1}, other{4, 3}, dv{1, 2, 3}, ov{7, 8};
  CHECK(is(thrust::merge_by_key(down.begin(), down.end(), other.begin(), other.end(), dv.begin(), ov.begin(),
                                keys.begin(), values.begin(), thrust::greater<int>()),
           {5, 4, 3, 3, 1}, {1, 7, 2, 8, 3}));
  V doubled{1, 1, 2, 2, 1}, counted{1, 2, 3, 4, 5};
  CHECK(is(thrust::unique_by_key_copy(doubled.begin(), doubled.end(), counted.begin(), keys.begin(), values.begin()),
           {1, 2, 1}, {1, 3, 5}));
  V group{0, 0, 1, 1, 1}, five{3, 1, 2, 5, 4}, out(5);
  CHECK(is(thrust::reduce_by_key(group.begin(), group.end(), five.begin(), keys.begin(), values.begin(),
                                 thrust::equal_to<int>(), thrust::maximum<int>()),
           {0, 1}, {3, 5}));
  thrust::inclusive_scan_by_key(group.begin(), group.end(), five.begin(), out.begin(), thrust::equal_to<int>(),
                                thrust::maximum<int>());
  CHECK(out == (Ints{3, 3, 2, 5, 5}));
  thrust::exclusive_scan_by_key(group.begin(), group.end(), five.begin(), out.begin());
  CHECK(out == (Ints{0, 3, 0, 2, 7}));
  thrust::exclusive_scan_by_key(group.begin(), group.end(), five.begin(), out.begin(), 4, thrust::equal_to<int>(),
                                thrust::maximum<int>());
  CHECK(out == (Ints{4, 4, 4, 4, 5}));
  V three{1, 2, 3}, result(3);
  thrust::transform_inclusive_scan(three.begin(), three.end(), result.begin(), thrust::square<int>(), 10,
                                   thrust::plus<int>());
  CHECK(result == (Ints{11, 15, 24}));
  thrust::inclusive_scan(three.begin(), three.end(), result.begin(), 10, thrust::plus<int>());
  CHECK(result == (Ints{11, 13, 16}));
  thrust::exclusive_scan(three.begin(), three.end(), result.begin(), 2, thrust::multiplies<int>());
  CHECK(result == (Ints{2, 2, 4}));
  thrust::adjacent_difference(three.begin(), three.end(), result.begin(), thrust::plus<int>());
  CHECK(result == (Ints{1, 3, 5}));
  V six{1, 2, 3, 4, 5, 6}, stencil{0, 1, 0, 1, 1, 0}, yes(6), no(6);
  auto parts = thrust::stable_partition_copy(six.begin(), six.end(), stencil.begin(), yes.begin(), no.begin(),
                                             thrust::identity<int>());
  CHECK(V(yes.begin(), parts.first) == (Ints{2, 4, 5}) && V(no.begin(), parts.second) == (Ints{1, 3, 6}));
  CHECK(!thrust::is_partitioned(stencil.begin(), stencil.end(), thrust::identity<int>()));
  CHECK(V(yes.begin(), thrust::remove_copy_if(six.begin(), six.end(), stencil.begin(), yes.begin(),
                                              thrust::identity<int>())) == (Ints{1, 3, 6}));
  CHECK(V(yes.begin(), thrust::remove_copy(doubled.begin(), doubled.end(), yes.begin(), 1)) == (Ints{2, 2}));
  thrust::replace_copy(doubled.begin(), doubled.end(), out.begin(), 1, 9);
  CHECK(out == (Ints{9, 9, 2, 2, 9}));
  thrust::replace_if(out.begin(), out.end(), five.begin(), thrust::placeholders::_1 > 3, 0);
  CHECK(out == (Ints{9, 9, 2, 0, 0}));
  CHECK(thrust::lower_bound(down.begin(), down.end(), 3, thrust::greater<int>()) - down.begin() == 1);
  auto range = thrust::equal_range(down.begin(), down.end(), 3, thrust::greater<int>());
  CHECK(range.first - down.begin() == 1 && range.second - down.begin() == 2);
  CHECK(thrust::min_element(five.begin(), five.end(), thrust::greater<int>()) - five.begin() == 3);
  auto both = thrust::minmax_element(five.begin(), five.end(), thrust::greater<int>());
  CHECK(both.first - five.begin() == 3 && both.second - five.begin() == 1);
  V odd{1, 3, 4}, even{5, 7, 9};
  CHECK(!thrust::equal(odd.begin(), odd.end(), even.begin(), SameParity()));
  CHECK(thrust::mismatch(odd.begin(), odd.end(), even.begin(), SameParity()).first - odd.begin() == 2);
  V map{2, 1, 0}, flag{1, 0, 1}, from{7, 8, 9}, to(3);
  thrust::gather_if(map.begin(), map.end(), flag.begin(), from.begin(), to.begin());
  CHECK(to == (Ints{9, 0, 7}));
  CHECK(thrust::generate_n(to.begin(), 2, Eight()) - to.begin() == 2 && to == (Ints{8, 8, 7}));
  thrust::uninitialized_fill_n(to.begin(), 2, 6);
  CHECK(to == (Ints{6, 6, 7}));
  thrust::uninitialized_copy_n(from.begin(), 2, to.begin());
  CHECK(to == (Ints{7, 8, 7}));
}

int main() {
  forms<thrust::host_vector>();
  forms<thrust::device_vector>();
  thrust::device_vector<int> d{4, 2, 9};
  thrust::host_vector<int> h = d;
  thrust::sort(MyDevicePolicy(), d.begin(), d.end());
  thrust::sort(MyHostPolicy(), h.begin(), h.end(), thrust::greater<int>());
  CHECK(d == (Ints{2, 4, 9}) && h == (Ints{9, 4, 2}));
  auto buffer = thrust::get_temporary_buffer<int>(thrust::device_system_tag(), 3);
  thrust::copy(d.begin(), d.end(), buffer.first);
  CHECK(buffer.second == 3 && thrust::reduce(buffer.first, buffer.first + 3) == 15);
  thrust::return_temporary_buffer(thrust::device_system_tag(), buffer.first, buffer.second);
  thrust::universal_host_pinned_vector<int> pinned(3, 5);
  pinned[1] = 6;
  CHECK(thrust::reduce(pinned.begin(), pinned.end()) == 16 && *thrust::raw_pointer_cast(pinned.data()) == 5);
  int raw = 7;
  THRUST_UNUSED_VAR(raw);
  CHECK(&thrust::raw_reference_cast(raw) == &raw);
  return checked(62);
}
