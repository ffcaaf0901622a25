__global__ void column_sums(int rows, int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f, lost = 0.0f;
        for (int row = 0; row < rows; row++) {
            float x = in[row * n + i];
            float after = sum + x;
            float added = after - sum;
            lost += (sum - (after - added)) + (x - added);
            sum = after;
        }
        out[i] = sum + lost;
    }
}
