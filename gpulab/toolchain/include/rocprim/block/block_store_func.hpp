// It stands in block_store.hpp.
#pragma once
#include "block_store.hpp"
