// rocprim::block_run_length_decode: the items of runs, from the runs' values and lengths; a window of them at a time.
#pragma once
#include "../../hipcub/block/block_run_length_decode.hpp"
#include "../collective.hpp"

namespace rocprim {
template <typename Item, unsigned int DimX, unsigned int RunsPerThread, unsigned int DecodedItemsPerThread,
          typename Offset = unsigned int, unsigned int DimY = 1, unsigned int DimZ = 1>
class block_run_length_decode {
  using Decode = ::hipcub::BlockRunLengthDecode<Item, static_cast<int>(DimX), static_cast<int>(RunsPerThread),
                                                static_cast<int>(DecodedItemsPerThread), Offset, static_cast<int>(DimY),
                                                static_cast<int>(DimZ)>;
  Decode decode_;

 public:
  using storage_type = typename Decode::TempStorage;
  template <typename Length, typename Total>
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) block_run_length_decode(storage_type& storage,
                                                                               Item (&run_values)[RunsPerThread],
                                                                               Length (&run_lengths)[RunsPerThread],
                                                                               Total& total_decoded_size)
      : decode_(storage, run_values, run_lengths, total_decoded_size) {}
  template <typename Start>
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) block_run_length_decode(storage_type& storage,
                                                                               Item (&run_values)[RunsPerThread],
                                                                               Start (&run_offsets)[RunsPerThread])
      : decode_(storage, run_values, run_offsets) {}
  template <typename Relative>
  __GPULAB_CALL__ run_length_decode(Item (&decoded_items)[DecodedItemsPerThread],
                                    Relative (&item_offsets)[DecodedItemsPerThread], Offset from_decoded_offset = 0) {
    decode_.RunLengthDecode(decoded_items, item_offsets, from_decoded_offset);
  }
  __GPULAB_CALL__ run_length_decode(Item (&decoded_items)[DecodedItemsPerThread], Offset from_decoded_offset = 0) {
    decode_.RunLengthDecode(decoded_items, from_decoded_offset);
  }
};
}  // namespace rocprim
