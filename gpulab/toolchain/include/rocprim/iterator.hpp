// It stands in iterators.hpp.
#pragma once
#include "iterators.hpp"
