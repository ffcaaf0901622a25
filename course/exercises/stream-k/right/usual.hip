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

__global__ void stream_k(int m, int n, int k, int workgroups, const float* a, const float* b, float* c, float* parts)
{
    int steps = k / 8, all = steps * (m / 8) * (n / 8), share = (all + workgroups - 1) / workgroups;
    int i = blockIdx.x * share, last = min(i + share, all);
    while (i < last) {
        int tile = i / steps, from = i % steps, to = min(steps, from + last - i);
        float sum = products(tile, from, to, n, k, a, b);
        if (from == 0) c[place(tile, n)] = sum;
        else parts[blockIdx.x * 64 + threadIdx.x] = sum;
        i += to - from;
    }
}

__global__ void fix_up(int m, int n, int k, int workgroups, const float* parts, float* c)
{
    int steps = k / 8, all = steps * (m / 8) * (n / 8), share = (all + workgroups - 1) / workgroups;
    int tile = blockIdx.x, first = tile * steps, last = first + steps - 1;
    float sum = c[place(tile, n)];
    for (int g = first / share + 1; g <= last / share; g++) sum += parts[g * 64 + threadIdx.x];
    c[place(tile, n)] = sum;
}
