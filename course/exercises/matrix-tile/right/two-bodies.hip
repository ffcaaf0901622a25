#if defined(__GFX9__)                     // MFMA, waves of 64
typedef _Float16 inputs __attribute__((ext_vector_type(4)));
typedef float sums __attribute__((ext_vector_type(4)));
#define MULTIPLY_ADD(a, b, c) __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0)
#else                                     // WMMA, waves of 32
typedef _Float16 inputs __attribute__((ext_vector_type(16)));
typedef float sums __attribute__((ext_vector_type(8)));
#define MULTIPLY_ADD(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
#endif

__global__ void product(int m, int n, int k, const _Float16* a, const _Float16* b, float* d)
{
    int lane = threadIdx.x, top = 16 * blockIdx.y, left = 16 * blockIdx.x;
    sums c = {};
#if defined(__GFX9__)
    for (int step = 0; step < k; step += 16) {
        inputs x, y;
        for (int e = 0; e < 4; e++) {                   // the order of k is free: here lane / 16 + 4 e
            x[e] = a[(top + lane % 16) * k + step + lane / 16 + 4 * e];
            y[e] = b[(step + lane / 16 + 4 * e) * n + left + lane % 16];
        }
        c = MULTIPLY_ADD(x, y, c);
    }
    for (int e = 0; e < 4; e++) d[(top + lane / 16 * 4 + e) * n + left + lane % 16] = c[e];
#else
    for (int step = 0; step < k; step += 16) {
        inputs x = *(const inputs*)(a + (top + lane % 16) * k + step), y;
        for (int e = 0; e < 16; e++) y[e] = b[(step + e) * n + left + lane % 16];
        c = MULTIPLY_ADD(x, y, c);
    }
    for (int e = 0; e < 8; e++) d[(top + 2 * e + lane / 16) * n + left + lane % 16] = c[e];
#endif
}
