// The promise that the outputs overlap nothing lets the compiler join the four loads.
__global__ void split(int n, const float* __restrict__ particles, float* __restrict__ x, float* __restrict__ y,
                      float* __restrict__ z, float* __restrict__ mass)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        x[i] = particles[4 * i];
        y[i] = particles[4 * i + 1];
        z[i] = particles[4 * i + 2];
        mass[i] = particles[4 * i + 3];
    }
}
