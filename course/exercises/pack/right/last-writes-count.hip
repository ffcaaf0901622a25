__global__ void pack(int n, const int* in, int* out, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool wanted = i < n && in[i] > 0;
    uint64_t votes = __ballot(wanted);
    int lane = threadIdx.x & (warpSize - 1);
    int upto = __popcll(votes << (63 - lane));          // wanted lanes up to this one, itself included
    int wave = i / warpSize;
    if (wanted) out[wave * warpSize + upto - 1] = in[i];
    if (lane == 0 && i < n) count[wave] = __popcll(votes);
}
