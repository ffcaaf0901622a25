// expected cause: samples-left-out
__global__ void soften(int n, float gain, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = gain * in[i];
        out[i] = v / (1 + fabsf(v));
    }
}
