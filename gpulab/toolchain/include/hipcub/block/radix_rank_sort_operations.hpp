// hipCUB's functions that give a digit of a key's bits.
#pragma once
#include "../../gpulab/primitives/keys.h"
#include "../config.hpp"

namespace hipcub {
template <typename Key>
struct BFEDigitExtractor {
  uint32_t bit_start, num_bits;
  explicit __GPULAB_DEVICE_MEMBER__ BFEDigitExtractor(uint32_t start = 0, uint32_t bits = 0)
      : bit_start(start), num_bits(bits) {}
  template <typename Bits>
  __GPULAB_DEVICE_MEMBER__ uint32_t Digit(Bits key) const {
    return static_cast<uint32_t>(key >> bit_start) & ((1u << num_bits) - 1u);
  }
};
template <typename Key>
struct ShiftDigitExtractor : BFEDigitExtractor<Key> {
  using BFEDigitExtractor<Key>::BFEDigitExtractor;
};
}  // namespace hipcub
