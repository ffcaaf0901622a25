// rocprim::block_radix_rank: the rank of each key of a block in the order of one digit; equal digits stay in order.
#pragma once
#include "../../gpulab/primitives/keys.h"
#include "../../hipcub/block/block_radix_rank.hpp"
#include "../collective.hpp"

namespace rocprim {
// All of them give the same results.
enum class block_radix_rank_algorithm { basic, basic_memoize, match, default_algorithm = basic };

template <unsigned int DimX, unsigned int RadixBits,
          block_radix_rank_algorithm Algorithm = block_radix_rank_algorithm::default_algorithm, unsigned int DimY = 1,
          unsigned int DimZ = 1>
class block_radix_rank {
  template <bool descending>
  using Rank =
      ::hipcub::BlockRadixRank<static_cast<int>(DimX), static_cast<int>(RadixBits), descending, false,
                               ::hipcub::BLOCK_SCAN_WARP_SCANS, 0, static_cast<int>(DimY), static_cast<int>(DimZ)>;
  template <bool descending, typename Key, unsigned int count>
  __GPULAB_CALL__ rank(const Key (&keys)[count], unsigned int (&ranks)[count],
                       typename Rank<false>::TempStorage& storage, unsigned int begin_bit, unsigned int pass_bits) {
    using Coder = ::gpulab::primitives::RadixKey<Key, false>;
    unsigned int digits[count];
    int found[count];
    for (unsigned int i = 0; i < count; ++i) digits[i] = Coder::digit(keys[i], begin_bit, pass_bits);
    Rank<descending>(storage).RankKeys(digits, found, ::hipcub::BFEDigitExtractor<unsigned int>(0, RadixBits));
    for (unsigned int i = 0; i < count; ++i) ranks[i] = static_cast<unsigned int>(found[i]);
  }

 public:
  using storage_type = typename Rank<false>::TempStorage;
  template <typename Key, unsigned int count>
  __GPULAB_CALL__ rank_keys(const Key (&keys)[count], unsigned int (&ranks)[count], storage_type& storage,
                            unsigned int begin_bit = 0, unsigned int pass_bits = RadixBits) {
    rank<false>(keys, ranks, storage, begin_bit, pass_bits);
  }
  template <typename Key, unsigned int count>
  __GPULAB_CALL__ rank_keys_desc(const Key (&keys)[count], unsigned int (&ranks)[count], storage_type& storage,
                                 unsigned int begin_bit = 0, unsigned int pass_bits = RadixBits) {
    rank<true>(keys, ranks, storage, begin_bit, pass_bits);
  }
};
}  // namespace rocprim
