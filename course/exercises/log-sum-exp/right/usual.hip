__global__ void log_sum_exp(int n, const float* in, float* out)
{
    in += (size_t)blockIdx.x * n;
    float largest = -INFINITY, sum = 0;                  // of the elements that this lane has seen
    for (int i = threadIdx.x; i < n; i += warpSize) {
        float x = in[i], larger = fmaxf(largest, x);
        if (larger > -INFINITY) sum = sum * __expf(largest - larger) + __expf(x - larger);
        largest = larger;
    }
    for (int step = 1; step < warpSize; step *= 2) {
        float other = __shfl_xor(largest, step), more = __shfl_xor(sum, step);
        float larger = fmaxf(largest, other);
        if (larger > -INFINITY) sum = sum * __expf(largest - larger) + more * __expf(other - larger);
        largest = larger;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = largest + logf(sum);
}
