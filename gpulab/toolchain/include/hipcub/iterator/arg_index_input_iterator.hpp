// hipcub::ArgIndexInputIterator: elements with the number of their place.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../config.hpp"

namespace hipcub {
template <typename Input, typename Offset = ptrdiff_t, typename Value = ::gpulab::primitives::element_of<Input>>
using ArgIndexInputIterator = ::gpulab::primitives::IndexedIterator<Input, Offset, Value>;
}
