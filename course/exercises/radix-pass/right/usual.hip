__global__ void scatter(int n, int shift, const unsigned* keys, const int* start, unsigned* out)
{
    __shared__ int count[16 * 32];                                   // of each digit, of each wave
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
    for (int k = threadIdx.x; k < 16 * 32; k += blockDim.x) count[k] = 0;
    __syncthreads();

    unsigned key = i < n ? keys[i] : 0, digit = key >> shift & 15;
    unsigned long long same = __ballot(i < n);                       // lanes of my wave with my digit
    for (int bit = 0; bit < 4; bit++) {
        unsigned long long ones = __ballot(digit >> bit & 1);
        same &= digit >> bit & 1 ? ones : ~ones;
    }
    if (i < n && lane == __ffsll(same) - 1) count[digit * 32 + wave] = __popcll(same);
    __syncthreads();

    int place = __popcll(same & ((1ull << lane) - 1));               // in lower lanes
    for (int w = 0; w < wave; w++) place += count[digit * 32 + w];         // in waves before
    if (i < n) out[start[digit * gridDim.x + blockIdx.x] + place] = key;
}
