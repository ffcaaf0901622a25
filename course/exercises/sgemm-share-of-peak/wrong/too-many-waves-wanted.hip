// expected cause: scratch
__global__ void __launch_bounds__(256, 6) sgemm(int m, int n, int k, const float* a, const float* b, float* c)
{
    typedef float four __attribute__((ext_vector_type(4)));
    __shared__ float A[8][128 + 4], B[8][128];                 // A transposed: [step][row]
    const int t = threadIdx.x, x = t % 16, y = t / 16;
    const int left = blockIdx.x * 128, top = blockIdx.y * 128;
    // Does all that this block loads and stores lie inside, in whole groups of 16 bytes? The same for all its threads.
    const bool fits = top + 128 <= m && left + 128 <= n && k > 0 && k % 8 == 0 && n % 4 == 0;
    const int row = top + t / 2, first = t % 2 * 4;            // this thread's four numbers of a
    const int depth = t / 32, column = left + t % 32 * 4;      // and of b
    four p = {}, q = {};
    float sum[8][8] = {};

    auto load = [&](int step) {
        if (fits) {
            p = *(const four*)&a[(size_t)row * k + step + first];
            q = *(const four*)&b[(size_t)(step + depth) * n + column];
        } else {
            p = q = four{};
            for (int j = 0; j < 4; j++) {
                if (row < m && step + first + j < k) p[j] = a[(size_t)row * k + step + first + j];
                if (step + depth < k && column + j < n) q[j] = b[(size_t)(step + depth) * n + column + j];
            }
        }
    };

    load(0);
    for (int step = 0; step < k; step += 8) {
        for (int j = 0; j < 4; j++) A[first + j][t / 2] = p[j];
        *(four*)&B[depth][t % 32 * 4] = q;
        __syncthreads();
        if (step + 8 < k) load(step + 8);                      // on its way while we compute
        for (int i = 0; i < 8; i++) {
            float u[8], v[8];
            for (int j = 0; j < 8; j += 4) {
                *(float4*)&u[j] = *(float4*)&A[i][16 * j + 4 * y];
                *(float4*)&v[j] = *(float4*)&B[i][16 * j + 4 * x];
            }
            for (int j = 0; j < 8; j++)
                for (int l = 0; l < 8; l++) sum[j][l] += u[j] * v[l];
        }
        __syncthreads();
    }

    for (int j = 0; j < 8; j++) {
        const int down = top + j / 4 * 64 + 4 * y + j % 4;
        for (int l = 0; l < 8; l += 4) {
            const int across = left + 16 * l + 4 * x;
            float* to = &c[(size_t)down * n + across];
            if (fits) {
                *(float4*)to = *(float4*)&sum[j][l];
            } else if (down < m) {
                for (int e = 0; e < 4; e++)
                    if (across + e < n) to[e] = sum[j][l + e];
            }
        }
    }
}
