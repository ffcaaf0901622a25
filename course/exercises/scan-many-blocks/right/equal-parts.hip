#include <hip/hip_cooperative_groups.h>

// Parts of equal size, which need not begin at a cache line.
__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    namespace cg = cooperative_groups;
    auto grid = cg::this_grid();
    __shared__ int s[256];
    const int B = blockDim.x, t = threadIdx.x, per = (n + gridDim.x - 1) / gridDim.x, from = min(n, (int)blockIdx.x * per), to = min(n, from + per);
    int sum = 0;
    for (int i = from + t; i < to; i += B) sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int h = B / 2; h; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
    if (t == 0) work[blockIdx.x] = s[0];
    grid.sync();
    int run = 0;
    for (unsigned b = 0; b < blockIdx.x; ++b) run += work[b];
    for (int base = from; base < to; base += B) {
        __syncthreads();
        s[t] = base + t < to ? in[base + t] : 0;
        __syncthreads();
        for (int d = 1; d < B; d *= 2) {
            int o = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += o;
            __syncthreads();
        }
        if (base + t < to) out[base + t] = run + s[t];
        run += s[B - 1];
    }
}
