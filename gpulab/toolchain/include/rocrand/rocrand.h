// What rocRAND's calls of the host share with kernels: nothing but names. gpulab has rocRAND's functions for kernels alone.
#pragma once
#include "../hip/hip_runtime.h"

#define ROCRAND_DEFAULT_MAX_BLOCK_SIZE 256
