__global__ void next_frontier(const int* offsets, const int* neighbours, int depth, int* level,
                              const int* queue, const int* size, int* next, int* next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    int begin = 0, degree = 0;
    if (i < *size) {
        begin = offsets[queue[i]];
        degree = offsets[queue[i] + 1] - begin;
    }
    unsigned mine = 0;                                               // bit k: I have claimed neighbour k
    for (int k = 0; k < degree; k++)
        if (atomicCAS(&level[neighbours[begin + k]], -1, depth + 1) == -1) mine |= 1u << k;

    int upto = __popc(mine);                                         // found by lanes up to mine
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(upto, step);
        if (lane >= step) upto += lower;
    }
    int start = 0;
    if (lane == warpSize - 1 && upto > 0) start = atomicAdd(next_size, upto);
    int place = __shfl(start, warpSize - 1) + upto - __popc(mine);
    for (int k = 0; k < degree; k++)
        if (mine >> k & 1) next[place++] = neighbours[begin + k];
}
