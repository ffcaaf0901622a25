// expected cause: cut-in-four
__global__ void split(int n, const float* particles, float* x, float* y, float* z, float* mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = particles[i];
        y[i] = particles[n + i];
        z[i] = particles[2 * n + i];
        mass[i] = particles[3 * n + i];
    }
}
