// Each lane keeps two pairs, so that two elements are in flight; both are merged before the lanes are.
__device__ void merge(float& largest, float& sum, float other, float more)
{
    float larger = fmaxf(largest, other);
    if (larger > -INFINITY) sum = sum * __expf(largest - larger) + more * __expf(other - larger);
    largest = larger;
}

__global__ void log_sum_exp(int n, const float* in, float* out)
{
    const float* row = in + (size_t)blockIdx.x * n;
    float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    int i = threadIdx.x;
    for (; i + warpSize < n; i += 2 * warpSize) {
        merge(largest[0], sum[0], row[i], 1);
        merge(largest[1], sum[1], row[i + warpSize], 1);
    }
    if (i < n) merge(largest[0], sum[0], row[i], 1);
    merge(largest[0], sum[0], largest[1], sum[1]);
    for (int step = 1; step < warpSize; step *= 2)
        merge(largest[0], sum[0], __shfl_xor(largest[0], step), __shfl_xor(sum[0], step));
    if (threadIdx.x == 0) out[blockIdx.x] = largest[0] + logf(sum[0]);
}
