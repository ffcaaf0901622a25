// It stands in config.hpp.
#pragma once
#include "../config.hpp"
