__global__ void pack(int n, const int* in, unsigned* words, int* rank, int* top)
{
    __shared__ unsigned made[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 32) made[t] = 0;
    __syncthreads();
    if (i < n && in[i] > 0) atomicOr(&made[t / 32], 1u << t % 32);
    __syncthreads();
    if (i < n) {
        unsigned word = made[t / 32];
        int below = 0;
        for (int k = 0; k < t % 32; k++) below += word >> k & 1;
        rank[i] = below;
        if (t % 32 == 0) {
            int highest = -1;
            for (int k = 0; k < 32; k++)
                if (word >> k & 1) highest = k;
            words[i / 32] = word;
            top[i / 32] = highest;
        }
    }
}
