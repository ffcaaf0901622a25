// expected cause: work-not-shared
__global__ void double_and_add(int n, float* x)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; i++) x[i] = 2 * x[i] + 1;
    }
}
