// expected cause: half-a-mask
__global__ void pack(int n, const int* in, int* out, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int lane = threadIdx.x % warpSize;
    int first = i - lane;
    int v = in[i];
    unsigned long long wanted = __ballot(v > 0);
    unsigned long long lower = (1ull << lane) - 1;
    if (v > 0) out[first + __popcll(wanted & lower)] = v;
    if (lane == 0) count[first / warpSize] = __popc(wanted);
}
