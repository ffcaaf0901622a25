// thrust::device_vector: in device memory; the host reads and writes single elements by copies.
#pragma once
#include "detail/vector.h"

namespace thrust {
THRUST_DETAIL_VECTOR(device_vector, device_allocator<T>)
}
namespace thrust::system::hip {
template <typename T, typename Allocator = thrust::device_allocator<T>>
using vector = thrust::device_vector<T, Allocator>;
}
#include "detail/algorithms.h"  // last: they need what is above
