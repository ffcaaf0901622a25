// expected cause: never-moves
__global__ void double_and_add(int n, float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float* p = x;
    while (i < n) {
        p[i] = 2.0f * p[i] + 1.0f;
    }
}
