// expected cause: thread-index-only
__global__ void fill(int n, float value, float* out)
{
    int i = threadIdx.x;
    if (i < n) out[i] = value;
}
