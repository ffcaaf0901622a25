// HIP has complex numbers under this name; here they are in hip_complex.h.
#pragma once
#include "../hip_complex.h"
