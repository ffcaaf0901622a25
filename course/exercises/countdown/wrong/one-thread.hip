// expected cause: work-not-shared
__global__ void countdown(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        for (int k = 0; k < n; k++) out[k] = n - 1 - k;
    }
}
