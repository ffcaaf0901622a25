// expected cause: work-not-shared
__global__ void fill(int n, float value, float* out)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = value;
}
