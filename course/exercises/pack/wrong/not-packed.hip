// expected cause: not-packed
__global__ void pack(int n, const int* in, int* out, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    unsigned long long wanted = __ballot(v > 0);
    if (v > 0) out[i] = v;
    if (threadIdx.x % warpSize == 0) count[i / warpSize] = __popcll(wanted);
}
