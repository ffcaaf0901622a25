// It stands in warp_load.hpp.
#pragma once
#include "warp_load.hpp"
