// Lanes with equal digits by __match_any; threads without a key have a digit of their own. Sixteen threads scan the counts.
__global__ void scatter(int n, int shift, const unsigned* keys, const int* start, unsigned* out)
{
    __shared__ unsigned short before[32][17];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int lane = t % warpSize, wave = t / warpSize, waves = blockDim.x / warpSize;
    for (int k = t; k < 32 * 17; k += blockDim.x) before[k / 17][k % 17] = 0;
    __syncthreads();

    unsigned key = 0;
    int digit = 16;
    if (i < n) {
        key = keys[i];
        digit = (key >> shift) % 16;
    }
    unsigned long long group = __match_any(digit);
    int lower = __popcll(group & ((1ull << lane) - 1));
    if (lower == 0) before[wave][digit] = __popcll(group);
    __syncthreads();
    if (t < 16) {
        int sum = start[t * gridDim.x + blockIdx.x];
        for (int w = 0; w < waves; w++) {
            int own = before[w][t];
            before[w][t] = sum;
            sum += own;
        }
    }
    __syncthreads();
    if (digit < 16) out[before[wave][digit] + lower] = key;
}
