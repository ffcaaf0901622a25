// expected cause: memory-lines
__global__ void transpose(int n, int m, const float* in, float* out)
{
    int x = blockIdx.y * 64 + threadIdx.x % 64;
    for (int k = threadIdx.x / 64; k < 64; k += 4) {
        int y = blockIdx.x * 64 + k;
        if (x < n && y < m) out[y * n + x] = in[x * m + y];
    }
}
