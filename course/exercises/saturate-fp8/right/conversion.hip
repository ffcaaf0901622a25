#include <hip/hip_fp8.h>

__global__ void to_fp8(int n, float scale, const float* in, unsigned char* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i] / scale;
    if (isinf(x)) x = copysignf(448.0f, x);
    out[i] = isnan(x) ? 0x7F : __hip_cvt_float_to_fp8(x, __HIP_SATFINITE, __HIP_E4M3);
}
