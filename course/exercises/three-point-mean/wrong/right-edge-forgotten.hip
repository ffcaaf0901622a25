// expected cause: reads-past-end
__global__ void smooth(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i == 0) out[i] = in[i];
    else out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0f;
}
