// rocprim::warp_sort: the items of a logical warp sorted with a comparison, stably.
#pragma once
#include "../block/block_sort.hpp"

namespace rocprim {
template <typename Key, unsigned int WarpSize = ::gpulab::primitives::wave_size, typename Value = empty_type,
          unsigned int ItemsPerThread = 1>
class warp_sort : public sorting::group_sort<::gpulab::primitives::Warp<WarpSize>, Key, ItemsPerThread, Value> {};
}  // namespace rocprim
