// hipcub::TransformInputIterator: what a function makes of another iterator's elements.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../config.hpp"

namespace hipcub {
template <typename Value, typename Function, typename Input, typename Offset = ptrdiff_t>
using TransformInputIterator = ::gpulab::primitives::TransformIterator<Value, Function, Input>;
}
