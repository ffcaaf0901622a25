// expected cause: memory-lines
__global__ void split(int n, const float* particles, float* x, float* y, float* z, float* mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = particles[4 * i];
        y[i] = particles[4 * i + 1];
        z[i] = particles[4 * i + 2];
        mass[i] = particles[4 * i + 3];
    }
}
