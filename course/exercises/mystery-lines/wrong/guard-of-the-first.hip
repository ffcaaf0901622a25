// expected cause: missing-guard
__global__ void soften(int n, float gain, const float* in, float* out)
{
    int threads = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= n) return;
    for (int k = 0; k < 8; k++) {
        int i = first + k * threads;
        float v = gain * in[i];
        out[i] = v / (1 + fabsf(v));
    }
}
