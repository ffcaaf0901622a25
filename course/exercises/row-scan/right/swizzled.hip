// Rows stay 32 long; column c of row r is at place c ^ (r % 32).
__global__ void row_scan(int n, const float* in, float* out)
{
    __shared__ float tile[64 * 32];
    int t = threadIdx.x, first = blockIdx.x * 64;
    for (int k = t; k < 2048; k += 64) {
        int row = k / 32, column = k % 32;
        tile[row * 32 + (column ^ (row % 32))] = first + row < n ? in[first * 32 + k] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
    for (int column = 0; column < 32; column++) {
        float* place = tile + t * 32 + (column ^ (t % 32));
        sum += *place;
        *place = sum;
    }
    __syncthreads();
    for (int k = t; k < 2048; k += 64) {
        int row = k / 32, column = k % 32;
        if (first + row < n) out[first * 32 + k] = tile[row * 32 + (column ^ (row % 32))];
    }
}
