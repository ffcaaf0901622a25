// Two tiles in LDS, one barrier a turn; the careful path is a second instance of the same function.
typedef float four __attribute__((ext_vector_type(4)));

template <bool FITS>
__device__ four fetch(const float* from, int row, int column, int rows, int columns)
{
    const float* at = from + (size_t)row * columns + column;
    if (FITS) return *(const four*)at;
    four found = {};
    if (row < rows) {
        if (column < columns) found.x = at[0];
        if (column + 1 < columns) found.y = at[1];
        if (column + 2 < columns) found.z = at[2];
        if (column + 3 < columns) found.w = at[3];
    }
    return found;
}

template <bool FITS>
__device__ void multiply(int m, int n, int k, const float* a, const float* b, float* c, float (*A)[8][132], float (*B)[8][128])
{
    const int t = threadIdx.x, x = t % 16, y = t / 16, left = blockIdx.x * 128, top = blockIdx.y * 128;
    const int row = top + t / 2, first = t % 2 * 4, depth = t / 32, column = left + t % 32 * 4;
    float sum[8][8] = {};
    four p = fetch<FITS>(a, row, first, m, k), q = fetch<FITS>(b, depth, column, k, n);
    for (int step = 0, now = 0; step < k; step += 8, now ^= 1) {
        for (int j = 0; j < 4; j++) A[now][first + j][t / 2] = p[j];
        *(four*)&B[now][depth][t % 32 * 4] = q;
        __syncthreads();
        if (step + 8 < k) {
            p = fetch<FITS>(a, row, step + 8 + first, m, k);
            q = fetch<FITS>(b, step + 8 + depth, column, k, n);
        }
        for (int i = 0; i < 8; i++) {
            float u[8], v[8];
            for (int j = 0; j < 8; j += 4) {
                *(float4*)&u[j] = *(float4*)&A[now][i][16 * j + 4 * y];
                *(float4*)&v[j] = *(float4*)&B[now][i][16 * j + 4 * x];
            }
            for (int j = 0; j < 8; j++)
                for (int l = 0; l < 8; l++) sum[j][l] += u[j] * v[l];
        }
    }
    for (int j = 0; j < 8; j++) {
        const int down = top + j / 4 * 64 + 4 * y + j % 4;
        for (int l = 0; l < 8; l++) {
            const int across = left + l / 4 * 64 + 4 * x + l % 4;
            if (FITS || (down < m && across < n)) c[(size_t)down * n + across] = sum[j][l];
        }
    }
}

__global__ void __launch_bounds__(256) sgemm(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ __attribute__((aligned(16))) float A[2][8][132], B[2][8][128];
    const bool inside = blockIdx.y * 128 + 128 <= m && blockIdx.x * 128 + 128 <= n;
    if (inside && k % 8 == 0 && k > 0 && n % 4 == 0) multiply<true>(m, n, k, a, b, c, A, B);
    else multiply<false>(m, n, k, a, b, c, A, B);
}
