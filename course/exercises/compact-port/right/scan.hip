__global__ void keep_positive(int n, const int* in, int* out, int* count)
{
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int keep = i < n && in[i] > 0;
    s[t] = keep;
    __syncthreads();
    for (int step = 1; step < (int)blockDim.x; step *= 2) {
        int more = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += more;
        __syncthreads();
    }
    if (keep) out[blockIdx.x * blockDim.x + s[t] - 1] = in[i];
    if (t == (int)blockDim.x - 1) count[blockIdx.x] = s[t];
}
