__global__ void __launch_bounds__(256) multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    // Rows and columns in fours, 16 bytes an instruction; A is transposed on the way, without padding: lanes next to each
    // other take rows next to each other.
    __shared__ float A[16][64], B[16][64];
    const int t = threadIdx.x, x = t % 16, y = t / 16, left = blockIdx.x * 64, top = blockIdx.y * 64;
    float sum[4][4] = {};
    for (int step = 0; step < k; step += 16) {
        const float4 p = *(const float4*)&a[(top + t % 64) * k + step + t / 64 * 4];
        const float4 q = *(const float4*)&b[(step + y) * n + left + 4 * x];
        const float four[4] = {p.x, p.y, p.z, p.w};
        for (int j = 0; j < 4; j++) A[t / 64 * 4 + j][t % 64] = four[j];
        *(float4*)&B[y][4 * x] = q;
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            const float4 u = *(const float4*)&A[i][4 * y], v = *(const float4*)&B[i][4 * x];
            const float rows[4] = {u.x, u.y, u.z, u.w}, columns[4] = {v.x, v.y, v.z, v.w};
            for (int j = 0; j < 4; j++)
                for (int l = 0; l < 4; l++) sum[j][l] += rows[j] * columns[l];
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 4; l++) c[(top + 4 * y + j) * n + left + 4 * x + l] = sum[j][l];
}
