// Lanes below 16 count one digit each: their mask of its bits needs no zeros before, and no leader.
__global__ void scatter(int n, int shift, const unsigned* keys, const int* start, unsigned* out)
{
    __shared__ int counts[32][16];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t % warpSize, w = t / warpSize;
    unsigned key = i < n ? keys[i] : 0, d = key >> shift & 15;
    unsigned long long same = __ballot(i < n), each = same;
    for (int b = 0; b < 4; b++) {
        unsigned long long m = __ballot(d >> b & 1);
        same &= d >> b & 1 ? m : ~m;
        each &= lane >> b & 1 ? m : ~m;
    }
    if (lane < 16) counts[w][lane] = __popcll(each);
    __syncthreads();
    if (i >= n) return;
    int place = start[d * gridDim.x + blockIdx.x] + __popcll(same & ((1ull << lane) - 1));
    for (int k = 0; k < w; k++) place += counts[k][d];
    out[place] = key;
}
