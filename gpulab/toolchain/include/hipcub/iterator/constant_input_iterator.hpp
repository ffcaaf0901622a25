// hipcub::ConstantInputIterator: the same value at each place.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../config.hpp"

namespace hipcub {
template <typename Value, typename Offset = ptrdiff_t>
using ConstantInputIterator = ::gpulab::primitives::ConstantIterator<Value>;
}
