// hipRAND's functions for kernels: XORWOW, Philox and MRG32k3a, and the distributions.
#pragma once
#include "../rocrand/rocrand_kernel.h"
#include "hiprand.h"

struct hiprandState : rocrand_state_xorwow {};
struct hiprandStateXORWOW : rocrand_state_xorwow {};
struct hiprandStatePhilox4_32_10 : rocrand_state_philox4x32_10 {};
struct hiprandStateMRG32k3a : rocrand_state_mrg32k3a {};
typedef hiprandState hiprandState_t;
typedef hiprandStateXORWOW hiprandStateXORWOW_t;
typedef hiprandStatePhilox4_32_10 hiprandStatePhilox4_32_10_t;
typedef hiprandStateMRG32k3a hiprandStateMRG32k3a_t;

__GPULAB_RANDOM__(hiprand, hiprandStatePhilox4_32_10, 2_double, 4_double)
