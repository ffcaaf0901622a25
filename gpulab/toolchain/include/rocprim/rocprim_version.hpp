// The version of rocPRIM whose documentation these headers follow; config.hpp has the numbers.
#pragma once
#include "config.hpp"
