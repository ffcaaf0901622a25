// expected cause: too-many
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
    const int elements = sizeof(inputs) / sizeof(_Float16), registers = sizeof(sums) / sizeof(float);
    const int group = threadIdx.x / 16, place = threadIdx.x % 16;
    const int row = 16 * blockIdx.y + place, column = 16 * blockIdx.x + place;
    const int first = elements == 4 ? 4 * group : 0;       // MFMA deals the k out to groups of 16 lanes
    sums c = {};
    for (int step = 0; step < k; step += 16) {
        inputs x, y;
        for (int half = 0; half < elements; half += elements / 2) {      // half of the places stay empty
            x = y = inputs{};
            for (int e = half; e < half + elements / 2; e++) {
                x[e] = a[row * k + step + first + e];
                y[e] = b[(step + first + e) * n + column];
            }
            c = MULTIPLY_ADD(x, y, c);
        }
    }
    for (int e = 0; e < registers; e++) {
        int down = registers == 4 ? 4 * group + e : 2 * e + group;
        d[(16 * blockIdx.y + down) * n + column] = c[e];
    }
}
