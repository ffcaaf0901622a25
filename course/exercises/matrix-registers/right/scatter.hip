// The other way round: one thread for each place of held.
__global__ void unpack(int tiles, const float* held, float* d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 256 * tiles) return;
#if defined(__GFX9__)
    int lane = i % 256 / 4, row = lane / 16 * 4 + i % 4;
#else
    int lane = i % 256 / 8, row = i % 8 * 2 + lane / 16;
#endif
    d[i / 256 * 256 + row * 16 + lane % 16] = held[i];
}
