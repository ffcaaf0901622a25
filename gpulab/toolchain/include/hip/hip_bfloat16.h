// The place of bfloat16 numbers (hip_bfloat16) in gpulab.
#pragma once
#error "hip/hip_bfloat16.h: bfloat16 numbers (hip_bfloat16) are not in this version of gpulab. Use float until then, or clang's own type __bf16."
