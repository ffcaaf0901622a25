// expected cause: stores-not-wide
__global__ void copy_wide(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4*>(in)[i];
        volatile float* to = out + 4 * i;
        to[0] = v.x;
        to[1] = v.y;
        to[2] = v.z;
        to[3] = v.w;
    } else {
        for (int k = 4 * i; k < n; k++) out[k] = in[k];
    }
}
