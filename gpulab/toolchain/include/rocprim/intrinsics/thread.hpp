// It stands in intrinsics.hpp.
#pragma once
#include "../intrinsics.hpp"
