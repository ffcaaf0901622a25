// expected cause: begins-at-zero
__global__ void pack(int n, const int* in, int* out, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int lane = threadIdx.x % warpSize;
    int v = in[i];
    unsigned long long wanted = __ballot(v > 0);
    unsigned long long lower = (1ull << lane) - 1;
    if (v > 0) out[__popcll(wanted & lower)] = v;
    if (lane == 0) count[i / warpSize] = __popcll(wanted);
}
