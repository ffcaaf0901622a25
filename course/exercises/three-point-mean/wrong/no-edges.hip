// expected cause: reads-before-start
__global__ void smooth(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0f;
}
