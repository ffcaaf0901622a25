// expected cause: loaded-by-the-wave
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    int first = __builtin_amdgcn_readfirstlane(i - lane), total = 0;
    for (int l = 0; l < warpSize && first + l < n; l++) if (l <= lane) total += in[first + l];
    if (i < n) out[i] = total;
}
