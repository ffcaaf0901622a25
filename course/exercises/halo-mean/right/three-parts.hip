// The middle, the left and the right part of the tile are filled one by one.
__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    extern __shared__ float tile[];
    int t = threadIdx.x, size = blockDim.x, start = blockIdx.x * size, i = start + t;
    float mine = 0;
    if (i < n) mine = in[i];
    tile[r + t] = mine;
    for (int k = t; k < r; k += size) {
        int left = start - r + k, right = start + size + k;
        tile[k] = left >= 0 && left < n ? in[left] : 0.0f;
        tile[r + size + k] = right < n ? in[right] : 0.0f;
    }
    __syncthreads();
    if (i >= n) return;
    int begin = max(-r, -i), end = min(r, n - 1 - i);
    float sum = 0;
    for (int d = begin; d <= end; d++) sum += tile[r + t + d];
    out[i] = sum / (end - begin + 1);
}
