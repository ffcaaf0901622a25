// printf from a kernel: clang writes each call's arguments into the launch's printf buffer. Space in it is reserved
// by __printf_alloc (gpulab/toolchain/library/printing.c); gpulab/virtual_gpu/machine/printf.py reads it afterwards.
#pragma once

extern "C" __device__ int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
