__global__ void split(int n, const float* particles, float* x, float* y, float* z, float* mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = particles[4 * i], b = particles[4 * i + 1], c = particles[4 * i + 2], d = particles[4 * i + 3];
    x[i] = a;
    y[i] = b;
    z[i] = c;
    mass[i] = d;
}
