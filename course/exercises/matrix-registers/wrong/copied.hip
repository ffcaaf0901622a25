// expected cause: copied
__global__ void unpack(int tiles, const float* held, float* d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 256 * tiles) d[i] = held[i];
}
