// expected cause: work-not-shared
__global__ void brighten(int n, int amount, const int* in, int* out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int k = 0; k < n; k++) out[k] = min(in[k] + amount, 255);
    }
}
