// The place of bfloat16 numbers (__hip_bfloat16) in gpulab.
#pragma once
#error "hip/hip_bf16.h: bfloat16 numbers (__hip_bfloat16) are not in this version of gpulab. Use float until then, or clang's own type __bf16."
