// The first 32 threads of the block swap all pairs, 32 at a time.
__global__ void reverse_parts(int n, float* data)
{
    int first = blockIdx.x * blockDim.x, size = min((int)blockDim.x, n - first);
    if (threadIdx.x >= 32) return;
    for (int t = threadIdx.x; t < size / 2; t += 32) {
        float one = data[first + t], other = data[first + size - 1 - t];
        data[first + t] = other;
        data[first + size - 1 - t] = one;
    }
}
