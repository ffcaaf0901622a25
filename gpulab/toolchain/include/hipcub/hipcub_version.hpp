// The version of hipCUB whose documentation these headers follow; config.hpp has the numbers.
#pragma once
#include "config.hpp"
