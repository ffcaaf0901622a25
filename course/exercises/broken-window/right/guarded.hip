const int broken_line = 7;

__global__ void window_max(int n, const float* in, float* out)
{
    __shared__ float tile[260];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t + 2] = i < n ? in[i] : -INFINITY;
    if (t < 2) tile[t] = i >= 2 ? in[i - 2] : -INFINITY;
    if (t < 2) tile[t + 258] = i + 256 < n ? in[i + 256] : -INFINITY;
    __syncthreads();
    if (i >= n) return;
    float best = -INFINITY;
    for (int k = 0; k < 5; ++k) best = fmaxf(best, tile[t + k]);
    out[i] = best;
}
