#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x16f16)                    // CDNA: MFMA, waves of 64
typedef _Float16 inputs __attribute__((ext_vector_type(4)));
typedef float sums __attribute__((ext_vector_type(4)));
#define MULTIPLY_ADD(a, b, c) __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0)
#define FIRST_K(lane) (4 * ((lane) / 16))
#define ROW(lane, e) (4 * ((lane) / 16) + (e))
#elif defined(__GFX11__)                                                    // RDNA 3: WMMA, waves of 32
typedef _Float16 inputs __attribute__((ext_vector_type(16)));
typedef float sums __attribute__((ext_vector_type(8)));
#define MULTIPLY_ADD(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
#define FIRST_K(lane) 0
#define ROW(lane, e) (2 * (e) + (lane) / 16)
#else
#error "this code knows CDNA 1 to 4 and RDNA 3"
#endif
constexpr int D = 64, PER_LANE = sizeof(sums) / 4;

// What a lane has of 16 keys x 16 queries, as the operand B of the next product.
__device__ inputs as_input(sums p)
{
    inputs y;
    for (int e = 0; e < PER_LANE; e++) {
#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x16f16)
        y[e] = (_Float16)p[e];
#else
        float other = __shfl_xor(p[e], 16);
        y[2 * e] = (_Float16)(threadIdx.x & 16 ? other : p[e]);
        y[2 * e + 1] = (_Float16)(threadIdx.x & 16 ? p[e] : other);
#endif
    }
    return y;
}

__global__ void attention(int n, const _Float16* q, const _Float16* k, const _Float16* v, float* o)
{
    typedef _Float16 eight __attribute__((ext_vector_type(8)));
    typedef _Float16 four __attribute__((ext_vector_type(4)));
    constexpr int PADDING = sizeof(inputs) == 8 ? 4 : 8;                   // as wide as a lane's reads are
    __shared__ alignas(16) _Float16 K[64][D + PADDING], V[D][64 + PADDING];   // V transposed
    int t = threadIdx.x, lane = t % warpSize, wave = t / warpSize, place = lane % 16;
    int query = 64 * blockIdx.x + 16 * wave + place;                       // this lane's query
    q += blockIdx.y * n * D;
    k += blockIdx.y * n * D;
    v += blockIdx.y * n * D;
    o += blockIdx.y * n * D;

    inputs x[D / 16];
    for (int c = 0; c < D / 16; c++) x[c] = *(const inputs*)&q[query * D + 16 * c + FIRST_K(lane)];
    sums out[D / 16] = {};
    float largest = -INFINITY, sum = 0;
    const float scale = 0.125f * 1.44269504f;                              // of log2(e) / 8: powers of 2, not of e

    for (int start = 0; start < 64 * blockIdx.x + 64; start += 64) {       // tiles behind the block's queries are masked
        __syncthreads();
        for (int i = t; i < 64 * D / 8; i += blockDim.x) {
            int row = i / (D / 8), column = i % (D / 8) * 8;
            eight keys = *(const eight*)&k[(start + row) * D + column];
            *(four*)&K[row][column] = keys.lo;
            *(four*)&K[row][column + 4] = keys.hi;
            eight numbers = *(const eight*)&v[(start + row) * D + column];
            for (int e = 0; e < 8; e++) V[column + e][row ^ column] = numbers[e];      // other banks for other columns
        }
        __syncthreads();

        sums s[4] = {};
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < D / 16; c++)
                s[b] = MULTIPLY_ADD(*(const inputs*)&K[16 * b + place][16 * c + FIRST_K(lane)], x[c], s[b]);
        if (start == 64 * blockIdx.x)                                      // the tile on the diagonal
            for (int b = 0; b < 4; b++)
                for (int e = 0; e < PER_LANE; e++)
                    if (start + 16 * b + ROW(lane, e) > query) s[b][e] = -INFINITY;

        float best = largest;
        for (int b = 0; b < 4; b++)
            for (int e = 0; e < PER_LANE; e++) best = fmaxf(best, s[b][e]);
        for (int step = 16; step < warpSize; step *= 2) best = fmaxf(best, __shfl_xor(best, step));
        float factor = __builtin_amdgcn_exp2f(scale * (largest - best)), offset = scale * best;
        largest = best;
        sum *= factor;
        for (int c = 0; c < D / 16; c++) out[c] *= factor;
        for (int b = 0; b < 4; b++) {
            for (int e = 0; e < PER_LANE; e++) {
                s[b][e] = __builtin_amdgcn_exp2f(scale * s[b][e] - offset);
                sum += s[b][e];
            }
            inputs y = as_input(s[b]);
            for (int c = 0; c < D / 16; c++) {
                int row = 16 * c + place, moved = row / 8 * 8;
                inputs w;
                for (int e = 0; e < sizeof(inputs) / 2; e += 4)
                    for (int j = 0; j < 4; j++) w[e + j] = V[row][(16 * b + FIRST_K(lane) + e ^ moved) + j];
                out[c] = MULTIPLY_ADD(w, y, out[c]);
            }
        }
    }
    for (int step = 16; step < warpSize; step *= 2) sum += __shfl_xor(sum, step);
    const float inverse = 1 / sum;
    for (int c = 0; c < D / 16; c++)
        for (int e = 0; e < PER_LANE; e++) o[query * D + 16 * c + ROW(lane, e)] = out[c][e] * inverse;
}
