// A ballot tells each lane where its segment begins; waves are joined from the nearest one backwards.
__global__ void running_max(int n, const int* in, const unsigned char* head, int* out)
{
    __shared__ int of_wave[32];
    __shared__ bool closed[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int lane = t % warpSize, wave = t / warpSize;
    const int none = -2147483647 - 1;

    bool is_head = t == 0;
    int best = none;
    if (i < n) {
        best = in[i];
        if (head[i] != 0) is_head = true;
    }
    unsigned long long heads = __ballot(is_head);
    unsigned long long mine = heads & (~0ull >> (63 - lane));
    int first = mine ? 63 - __clzll(mine) : 0;
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(best, step);
        if (lane - step >= first) best = max(best, lower);
    }
    if (lane == warpSize - 1) {
        of_wave[wave] = best;
        closed[wave] = heads != 0;
    }
    __syncthreads();
    if (!mine) {
        for (int w = wave - 1; w >= 0; w--) {
            best = max(best, of_wave[w]);
            if (closed[w]) break;
        }
    }
    if (i < n) out[i] = best;
}
