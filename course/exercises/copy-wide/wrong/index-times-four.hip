// expected cause: every-fourth-group
__global__ void copy_wide(int n, const float* in, float* out)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n / 4) {
        reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    }
    if (i == 0) {
        for (int j = n / 4 * 4; j < n; j++) out[j] = in[j];
    }
}
