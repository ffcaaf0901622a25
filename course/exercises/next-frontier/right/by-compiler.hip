// Each lane adds what it has found, once: the compiler makes one addition for the wave of it, and scans the lanes' numbers.
__global__ void next_frontier(const int* offsets, const int* neighbours, int depth, int* level,
                              const int* queue, const int* size, int* next, int* next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size[0]) return;
    int v = queue[i], first = offsets[v], last = offsets[v + 1];
    unsigned found = 0;
    for (int k = first; k < last; k++) {
        int old = atomicCAS(level + neighbours[k], -1, depth + 1);
        found |= (unsigned)(old < 0) << (k - first);
    }
    int place = atomicAdd(next_size, __popc(found));
    while (found != 0) {
        next[place] = neighbours[first + __ffs(found) - 1];
        place++;
        found &= found - 1;
    }
}
