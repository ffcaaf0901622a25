// The sum changes its scale only where the maximum grows; the maximum of all lanes comes first, then one sum.
__global__ void log_sum_exp(int n, const float* in, float* out)
{
    const float* row = in + (size_t)blockIdx.x * n;
    float top = -INFINITY, total = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float x = row[i];
        if (x > top) {
            total = total * expf(top - x) + 1;
            top = x;
        } else if (x > -INFINITY) {
            total += expf(x - top);
        }
    }
    float all = top;
    for (int step = warpSize / 2; step > 0; step /= 2) all = fmaxf(all, __shfl_xor(all, step));
    total = top > -INFINITY ? total * expf(top - all) : 0;
    for (int step = warpSize / 2; step > 0; step /= 2) total += __shfl_xor(total, step);
    if (threadIdx.x == 0) out[blockIdx.x] = all > -INFINITY ? all + logf(total) : -INFINITY;
}
