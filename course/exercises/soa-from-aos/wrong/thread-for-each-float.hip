// expected cause: memory-lines
__global__ void split(int n, const float* particles, float* x, float* y, float* z, float* mass)
{
    int threads = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < 4 * n; k += threads) {
        float* field = k % 4 == 0 ? x : k % 4 == 1 ? y : k % 4 == 2 ? z : mass;
        field[k / 4] = particles[k];
    }
}
