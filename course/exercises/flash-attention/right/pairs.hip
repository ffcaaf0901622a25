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

// A thread takes two neighbouring keys of V and stores them as one word; the scores of masked keys are set by a bound.
__global__ void __launch_bounds__(256) attention(int n, const _Float16* q, const _Float16* k, const _Float16* v, float* o)
{
    typedef _Float16 eight __attribute__((ext_vector_type(8)));
    typedef _Float16 four __attribute__((ext_vector_type(4)));
    typedef _Float16 two __attribute__((ext_vector_type(2)));
    constexpr int WIDTH = sizeof(inputs) == 8 ? 68 : 72, STEP = sizeof(inputs) / 2;
    __shared__ alignas(16) _Float16 K[64 * WIDTH], V[64 * WIDTH];
    const int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, threads = blockDim.x;
    const size_t head = (size_t)blockIdx.y * n * D;
    const int own = 16 * wave + lane % 16, query = 64 * blockIdx.x + own;
    inputs x[4];
    sums out[4] = {};
    for (int c = 0; c < 4; c++) x[c] = *(const inputs*)(q + head + query * D + 16 * c + FIRST_K(lane));
    float top = -INFINITY, sum = 0;
    const float scale = 0.18033688f;                                       // log2(e) / 8

    for (int tile = 0; tile <= blockIdx.x; tile++) {
        const _Float16 *from_k = k + head + tile * 64 * D, *from_v = v + head + tile * 64 * D;
        for (int i = threadIdx.x; i < 1024; i += threads)
            *(four*)&K[i / 16 * WIDTH + i % 16 * 4] = *(const four*)&from_k[4 * i];
        for (int i = threadIdx.x; i < 256; i += threads) {
            const int key = i / 8 * 2, column = i % 8 * 8;
            const eight a = *(const eight*)&from_v[key * D + column], b = *(const eight*)&from_v[(key + 1) * D + column];
            for (int e = 0; e < 8; e++) *(two*)&V[(column + e) * WIDTH + (key ^ column)] = two{a[e], b[e]};
        }
        __syncthreads();
        sums s[4] = {};
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++)
                s[b] = MULTIPLY_ADD(*(const inputs*)&K[(16 * b + lane % 16) * WIDTH + 16 * c + FIRST_K(lane)], x[c], s[b]);
        if (tile == blockIdx.x)
            for (int b = 0; b < 4; b++)
                for (int e = 0; e < PER_LANE; e++) s[b][e] = 16 * b + ROW(lane, e) <= own ? s[b][e] : -INFINITY;
        float best = top;
        for (int b = 0; b < 4; b++)
            for (int e = 0; e < PER_LANE; e++) best = fmaxf(best, s[b][e]);
        for (int other = 16; other < warpSize; other *= 2) best = fmaxf(best, __shfl_xor(best, other));
        const float factor = __builtin_amdgcn_exp2f(scale * (top - best)), offset = scale * best;
        top = best;
        sum *= factor;
        for (int b = 0; b < 4; b++) {
            for (int e = 0; e < PER_LANE; e++) sum += s[b][e] = __builtin_amdgcn_exp2f(scale * s[b][e] - offset);
            const inputs y = as_input(s[b]);
            for (int c = 0; c < 4; c++) {
                const int row = 16 * c + lane % 16;
                inputs w;
                for (int e = 0; e < STEP; e += 4) {
                    const four part = *(const four*)&V[row * WIDTH + ((16 * b + FIRST_K(lane) + e) ^ (row & ~7))];
                    for (int j = 0; j < 4; j++) w[e + j] = part[j];
                }
                out[c] = MULTIPLY_ADD(w, y, b == 0 ? out[c] * factor : out[c]);
            }
        }
        __syncthreads();
    }
    for (int other = 16; other < warpSize; other *= 2) sum += __shfl_xor(sum, other);
    const float weight = 1 / sum;
    for (int c = 0; c < 4; c++)
        for (int e = 0; e < PER_LANE; e++) o[head + query * D + 16 * c + ROW(lane, e)] = out[c][e] * weight;
}
