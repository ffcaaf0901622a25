__global__ void copy_wide(int n, const float* in, float* out)
{
    const float4* in4 = reinterpret_cast<const float4*>(in);
    float4* out4 = reinterpret_cast<float4*>(out);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        out4[i] = in4[i];
    } else if (i == n / 4) {
        for (int j = 4 * i; j < n; j++) out[j] = in[j];
    }
}
