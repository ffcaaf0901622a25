// Any 16-byte type will do, and the tail can be copied by the first threads of the first block.
__global__ void copy_wide(int n, const float* in, float* out)
{
    int groups = n / 4;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += gridDim.x * blockDim.x)
        reinterpret_cast<uint4*>(out)[i] = reinterpret_cast<const uint4*>(in)[i];
    int left = n - 4 * groups;
    if (blockIdx.x == 0 && threadIdx.x < left) out[4 * groups + threadIdx.x] = in[4 * groups + threadIdx.x];
}
