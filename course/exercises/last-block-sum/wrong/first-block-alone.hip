// expected cause: no-tickets
__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;        // one thread is enough
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) {
        for (int i = b * blockDim.x; i < (b + 1) * blockDim.x && i < n; ++i) total += in[i];
        out[b] = total;
    }
}
