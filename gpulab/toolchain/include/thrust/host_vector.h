// thrust::host_vector: as std::vector, with bool as bytes.
#pragma once
#include "detail/vector.h"

namespace thrust {
THRUST_DETAIL_VECTOR(host_vector, std::allocator<T>)
}
namespace thrust::system::cpp {
template <typename T, typename Allocator = std::allocator<T>>
using vector = thrust::host_vector<T, Allocator>;
}
#include "detail/algorithms.h"  // last: they need what is above
