// Stands in memory.h.
#pragma once
#include "memory.h"
