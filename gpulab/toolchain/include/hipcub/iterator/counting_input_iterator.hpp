// hipcub::CountingInputIterator: a number and those that follow it.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../config.hpp"

namespace hipcub {
template <typename Value, typename Offset = ptrdiff_t>
using CountingInputIterator = ::gpulab::primitives::CountingIterator<Value>;
}
