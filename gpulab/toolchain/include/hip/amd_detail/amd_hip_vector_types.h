// HIP has its vector types under this name; here they are in hip_vector_types.h.
#pragma once
#include "../hip_vector_types.h"
