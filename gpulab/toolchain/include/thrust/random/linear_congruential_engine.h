// Stands in random.h.
#pragma once
#include "../random.h"
