// The place of assert() in gpulab.
#pragma once
#error "assert() in kernels is not in this version of gpulab. Until then write: if (!(condition)) __builtin_trap();"
