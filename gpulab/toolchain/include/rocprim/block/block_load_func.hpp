// It stands in block_load.hpp.
#pragma once
#include "block_load.hpp"
