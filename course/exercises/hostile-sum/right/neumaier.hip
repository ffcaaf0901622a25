__global__ void column_sums(int rows, int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f, lost = 0.0f;
    for (int row = 0; row < rows; row++) {
        float x = in[row * n + i];
        float after = sum + x;
        if (fabsf(sum) >= fabsf(x)) lost += (sum - after) + x;
        else lost += (x - after) + sum;
        sum = after;
    }
    out[i] = sum + lost;
}
