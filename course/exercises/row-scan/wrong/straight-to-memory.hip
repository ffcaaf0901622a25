// expected cause: memory-lines
__global__ void row_scan(int n, const float* in, float* out)
{
    int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int c = 0; c < 32; c++) {
        sum += in[row * 32 + c];
        out[row * 32 + c] = sum;
    }
}
