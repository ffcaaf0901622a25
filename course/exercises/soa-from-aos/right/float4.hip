__global__ void split(int n, const float* particles, float* x, float* y, float* z, float* mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 particle = reinterpret_cast<const float4*>(particles)[i];
        x[i] = particle.x;
        y[i] = particle.y;
        z[i] = particle.z;
        mass[i] = particle.w;
    }
}
