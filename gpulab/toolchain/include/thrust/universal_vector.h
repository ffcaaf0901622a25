// thrust::universal_vector: in managed memory; universal_host_pinned_vector: in pinned memory.
#pragma once
#include "detail/vector.h"

namespace thrust {
THRUST_DETAIL_VECTOR(universal_vector, universal_allocator<T>)
template <typename T>
using universal_host_pinned_vector =
    detail::vector<T, detail::allocator<T, detail::universal_pinned_memory>>;
}
namespace thrust::system::hip {
template <typename T>
using universal_vector = thrust::universal_vector<T>;
}
#include "detail/algorithms.h"  // last: they need what is above
