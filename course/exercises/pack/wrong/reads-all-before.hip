// expected cause: loads-of-others
__global__ void pack(int n, const int* in, int* out, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    if (i >= n) return;
    int first = i - lane, place = 0, all = 0;
    for (int k = first; k < first + warpSize && k < n; k++) {
        if (in[k] > 0) {
            if (k < i) place++;
            all++;
        }
    }
    if (in[i] > 0) out[first + place] = in[i];
    if (lane == 0) count[i / warpSize] = all;
}
