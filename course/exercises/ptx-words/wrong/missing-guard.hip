// expected cause: missing-guard
__global__ void pack(int n, const int* in, unsigned* words, int* rank, int* top)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int bit = i < n && in[i] > 0;
    unsigned word = (unsigned)(__ballot(bit) >> (__lane_id() & 32));
    {
        rank[i] = __popc(word & ((1u << lane) - 1));
        if (i < n && lane == 0) {
            words[i / 32] = word;
            top[i / 32] = 31 - __clz(word);
        }
    }
}
