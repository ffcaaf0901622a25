// hipcub::BlockRunLengthDecode: the items of runs, from the runs' values and lengths; a window of them at a time.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename Item, int DimX, int RUNS_PER_THREAD, int DECODED_ITEMS_PER_THREAD, typename DecodedOffset = uint32_t,
          int DimY = 1, int DimZ = 1>
class BlockRunLengthDecode {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  static constexpr unsigned int runs = Group::threads * RUNS_PER_THREAD;

 public:
  struct TempStorage {
    ::gpulab::primitives::BlockTotals<DecodedOffset, Group> totals;
    ::gpulab::primitives::Items<Item, runs> values;
    ::gpulab::primitives::Items<DecodedOffset, runs> offsets;
  };
  template <typename Length, typename Total>
  __GPULAB_COLLECTIVE_CALL__ BlockRunLengthDecode(TempStorage& storage, Item (&values)[RUNS_PER_THREAD],
                                                  Length (&lengths)[RUNS_PER_THREAD], Total& total)
      : storage_(storage) {
    DecodedOffset sum = 0, before, all;
    for (int i = 0; i < RUNS_PER_THREAD; ++i) sum += static_cast<DecodedOffset>(lengths[i]);
    ::gpulab::primitives::Sum op;
    ::gpulab::primitives::scan_block(storage_.totals, sum, before, all, op);
    if (Group::index() == 0) before = 0;
    DecodedOffset offsets[RUNS_PER_THREAD];
    for (int i = 0; i < RUNS_PER_THREAD; ++i) {
      offsets[i] = before;
      before += static_cast<DecodedOffset>(lengths[i]);
    }
    total = static_cast<Total>(all);
    keep(values, offsets);
  }
  template <typename Offset>
  __GPULAB_COLLECTIVE_CALL__ BlockRunLengthDecode(TempStorage& storage, Item (&values)[RUNS_PER_THREAD],
                                                  Offset (&offsets)[RUNS_PER_THREAD])
      : storage_(storage) {
    keep(values, offsets);
  }
  // The items from `from` on, blocked, and the place of each in its run. Behind the last item, the last run goes on.
  template <typename Relative>
  __GPULAB_COLLECTIVE_CALL__ void RunLengthDecode(Item (&items)[DECODED_ITEMS_PER_THREAD],
                                                  Relative (&places)[DECODED_ITEMS_PER_THREAD],
                                                  DecodedOffset from = 0) {
    for (int i = 0; i < DECODED_ITEMS_PER_THREAD; ++i) {
      DecodedOffset at = from + Group::index() * DECODED_ITEMS_PER_THREAD + static_cast<DecodedOffset>(i);
      unsigned int low = 0, high = runs;  // the last run that begins at or before it
      while (low < high) {
        unsigned int middle = (low + high) / 2;
        if (storage_.offsets[middle] <= at) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      items[i] = storage_.values[low - 1];
      places[i] = static_cast<Relative>(at - storage_.offsets[low - 1]);
    }
  }
  __GPULAB_COLLECTIVE_CALL__ void RunLengthDecode(Item (&items)[DECODED_ITEMS_PER_THREAD], DecodedOffset from = 0) {
    DecodedOffset places[DECODED_ITEMS_PER_THREAD];
    RunLengthDecode(items, places, from);
  }

 private:
  template <typename Offset>
  __GPULAB_COLLECTIVE_CALL__ void keep(Item (&values)[RUNS_PER_THREAD], Offset (&offsets)[RUNS_PER_THREAD]) {
    for (int i = 0; i < RUNS_PER_THREAD; ++i) {
      storage_.values[Group::index() * RUNS_PER_THREAD + i] = values[i];
      storage_.offsets[Group::index() * RUNS_PER_THREAD + i] = static_cast<DecodedOffset>(offsets[i]);
    }
    Group::sync();
  }
  TempStorage& storage_;
};
}  // namespace hipcub
