// expected cause: memory-lines
__global__ void soften(int n, float gain, const float* in, float* out)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++) {
        int i = 8 * thread + k;
        if (i < n) {
            float v = gain * in[i];
            out[i] = v / (1 + fabsf(v));
        }
    }
}
