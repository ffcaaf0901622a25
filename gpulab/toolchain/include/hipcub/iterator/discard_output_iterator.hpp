// hipcub::DiscardOutputIterator: what is stored there is dropped.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../config.hpp"

namespace hipcub {
template <typename Offset = ptrdiff_t>
using DiscardOutputIterator = ::gpulab::primitives::DiscardIterator;
}
