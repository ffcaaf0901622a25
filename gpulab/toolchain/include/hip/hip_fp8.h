// The place of 8-bit floating-point numbers (__hip_fp8_e4m3_fnuz) in gpulab.
#pragma once
#error "hip/hip_fp8.h: 8-bit floating-point numbers (__hip_fp8_e4m3_fnuz) are not in this version of gpulab. Use float until then."
