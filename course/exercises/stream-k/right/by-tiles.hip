// From tile to tile, those that meet the share; a tile's other parts are found by walking along the shares.
// The element of c that this thread has of a tile.
__device__ int place(int tile, int n)
{
    int across = n / 8;
    return (tile / across * 8 + threadIdx.x / 8) * n + tile % across * 8 + threadIdx.x % 8;
}

// The sum of this element's products over the steps from `from` up to, but not including, `to`. A step is 8 k.
__device__ float products(int tile, int from, int to, int n, int k, const float* a, const float* b)
{
    int row = place(tile, n) / n, column = place(tile, n) % n;
    float sum = 0;
    for (int i = 8 * from; i < 8 * to; i++) sum += a[row * k + i] * b[i * n + column];
    return sum;
}

__device__ int share_of(int m, int n, int k, int workgroups)
{
    int all = k / 8 * (m / 8) * (n / 8);
    return all / workgroups + (all % workgroups != 0);
}

__global__ void stream_k(int m, int n, int k, int workgroups, const float* a, const float* b, float* c, float* parts)
{
    int steps = k / 8, tiles = (m / 8) * (n / 8), share = share_of(m, n, k, workgroups);
    int begin = blockIdx.x * share, end = begin + share;
    for (int tile = begin / steps; tile < tiles && tile * steps < end; tile++) {
        int from = max(begin - tile * steps, 0), to = min(end - tile * steps, steps);
        float sum = products(tile, from, to, n, k, a, b);
        float* target = from > 0 ? &parts[blockIdx.x * 64 + threadIdx.x] : &c[place(tile, n)];
        *target = sum;
    }
}

__global__ void fix_up(int m, int n, int k, int workgroups, const float* parts, float* c)
{
    int steps = k / 8, share = share_of(m, n, k, workgroups), end = (blockIdx.x + 1) * steps;
    float sum = 0;
    int g = blockIdx.x * steps / share + 1;
    if (g * share >= end) return;
    for (; g * share < end; g++) sum += parts[g * 64 + threadIdx.x];
    c[place(blockIdx.x, n)] += sum;
}
