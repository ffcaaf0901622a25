__global__ void decode(int n, const unsigned* packets, int* groups)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned* word = packets + 16 * i;
    if ((word[0] & 0xFF) != 2) {
        groups[i] = 0;
        return;
    }
    unsigned x = word[1] & 0xFFFF, y = word[1] >> 16, z = word[2] & 0xFFFF;
    groups[i] = (word[3] + x - 1) / x * ((word[4] + y - 1) / y) * ((word[5] + z - 1) / z);
}
