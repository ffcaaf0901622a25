// expected cause: too-few
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
    int top = 16 * blockIdx.y, left = 16 * blockIdx.x;
    if (m < 0) {
        inputs x = {}, y = {};
        sums c = {};
        x[0] = a[threadIdx.x]; y[0] = b[threadIdx.x];
        c = MULTIPLY_ADD(x, y, c);
        d[threadIdx.x] = c[0];
    }
    for (int e = threadIdx.x; e < 256; e += blockDim.x) {
        int row = top + e / 16, column = left + e % 16;
        float sum = 0;
        for (int i = 0; i < k; i++) sum += (float)a[row * k + i] * (float)b[i * n + column];
        d[row * n + column] = sum;
    }
}
