// expected cause: work-not-shared
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int k = 0; k < n; k++) y[k] = a * x[k] + y[k];
    }
}
