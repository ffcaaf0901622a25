// It stands in types.hpp.
#pragma once
#include "../types.hpp"
