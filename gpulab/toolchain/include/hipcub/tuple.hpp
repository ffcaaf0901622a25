// hipCUB's tuple.
#pragma once
#include "../gpulab/primitives/tuple.h"
#include "config.hpp"

namespace hipcub {
template <typename... Ts>
using tuple = ::gpulab::primitives::Tuple<Ts...>;
using ::gpulab::primitives::get;
using ::gpulab::primitives::make_tuple;
using ::gpulab::primitives::tie;
using ::gpulab::primitives::tuple_element;
using ::gpulab::primitives::tuple_size;
}  // namespace hipcub
