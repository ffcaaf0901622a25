// expected cause: fields-mixed-up
__global__ void split(int n, const float* particles, float* x, float* y, float* z, float* mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 particle = reinterpret_cast<const float4*>(particles)[i];
        mass[i] = particle.x;
        x[i] = particle.y;
        y[i] = particle.z;
        z[i] = particle.w;
    }
}
