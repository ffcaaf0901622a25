#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x4f32)                     // CDNA: MFMA, waves of 64
typedef float inputs __attribute__((ext_vector_type(4)));
typedef float sums __attribute__((ext_vector_type(4)));
#define FIRST_K(lane) (4 * ((lane) / 16))
#define ROW(lane, e) (4 * ((lane) / 16) + (e))
__device__ inputs load(const float* from) { return *(const inputs*)from; }
__device__ sums multiply_add(inputs a, inputs b, sums c)
{
    for (int e = 0; e < 4; e++) c = __builtin_amdgcn_mfma_f32_16x16x4f32(a[e], b[e], c, 0, 0, 0);
    return c;
}
#elif defined(__GFX11__)                                                    // RDNA 3: WMMA, waves of 32, inputs in half
typedef _Float16 inputs __attribute__((ext_vector_type(16)));
typedef float sums __attribute__((ext_vector_type(8)));
typedef float floats __attribute__((ext_vector_type(16)));
#define FIRST_K(lane) 0
#define ROW(lane, e) (2 * (e) + (lane) / 16)
__device__ inputs load(const float* from) { return __builtin_convertvector(*(const floats*)from, inputs); }
__device__ sums multiply_add(inputs a, inputs b, sums c) { return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c); }
#else
#error "this code knows CDNA 1 to 4 and RDNA 3"
#endif
constexpr int PER_LANE = sizeof(sums) / 4;

__global__ void product(int m, int n, int k, const float* a, const float* bt, float* c)
{
    int lane = threadIdx.x, top = 32 * blockIdx.y, left = 32 * blockIdx.x;
    sums part[2][2] = {};
    for (int step = FIRST_K(lane); step < k; step += 16) {
        inputs x[2], y[2];
        for (int e = 0; e < 2; e++) {
            int row = min(top + 16 * e + lane % 16, m - 1), column = min(left + 16 * e + lane % 16, n - 1);
            x[e] = load(&a[row * k + step]);
            y[e] = load(&bt[column * k + step]);
        }
        for (int r = 0; r < 2; r++)
            for (int s = 0; s < 2; s++) part[r][s] = multiply_add(x[r], y[s], part[r][s]);
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            for (int e = 0; e < PER_LANE; e++) {
                int row = top + 16 * r + ROW(lane, e), column = left + 16 * s + lane % 16;
                if (row < m && column < n) c[row * n + column] = part[r][s][e];
            }
}
