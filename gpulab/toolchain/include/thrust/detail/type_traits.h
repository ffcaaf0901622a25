// What programs take from Thrust's internal header of this name: the standard library's traits.
#pragma once
#include "config.h"
#include <type_traits>

namespace thrust::detail {
using std::enable_if;
using std::false_type;
using std::integral_constant;
using std::is_arithmetic;
using std::is_convertible;
using std::is_integral;
using std::is_same;
using std::remove_const;
using std::remove_cv;
using std::remove_reference;
using std::true_type;
}  // namespace thrust::detail
