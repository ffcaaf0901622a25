// The place of half-precision numbers (__half, __half2) in gpulab.
#pragma once
#error "hip/hip_fp16.h: half-precision numbers (__half, __half2) are not in this version of gpulab. Use float until then, or clang's own type _Float16."
