__global__ void fill(int n, float value, float* out)
{
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= static_cast<unsigned>(n)) return;
    out[n - 1 - i] = value;
}
