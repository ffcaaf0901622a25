// Half of the threads change two elements each: no tile, and no barrier.
__global__ void reverse_parts(int n, float* data)
{
    int first = blockIdx.x * blockDim.x;
    int size = min((int)blockDim.x, n - first);
    int t = threadIdx.x;
    if (t < size / 2) {
        float one = data[first + t], other = data[first + size - 1 - t];
        data[first + t] = other;
        data[first + size - 1 - t] = one;
    }
}
