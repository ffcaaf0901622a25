__global__ void to_fp8(int n, float scale, const float* in, unsigned char* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i] / scale;
    int code = 0x7F;
    if (x == x) {
        float size = fminf(fabsf(x), 448.0f);
        int exponent = size < 0.015625f ? -6 : ilogbf(size);
        code = (int)rintf(ldexpf(size, 3 - exponent)) + (exponent + 6) * 8;
        if (signbit(x)) code |= 0x80;
    }
    out[i] = code;
}
