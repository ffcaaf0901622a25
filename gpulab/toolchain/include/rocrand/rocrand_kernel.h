// rocRAND's functions for kernels: XORWOW, Philox and MRG32k3a, and the distributions.
#pragma once
#include "../gpulab/random.h"
#include "rocrand.h"

__GPULAB_RANDOM__(rocrand, rocrand_state_philox4x32_10, _double2, _double4)
