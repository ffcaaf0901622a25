// Rows that do not exist are zeros.
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

__device__ inputs loaded(const float* from, int row, int rows, int k, int step)
{
    inputs found = {};
    if (row < rows) found = load(&from[row * k + step]);
    return found;
}

__global__ void product(int m, int n, int k, const float* a, const float* bt, float* c)
{
    int lane = threadIdx.x, row = 32 * blockIdx.y + lane % 16, column = 32 * blockIdx.x + lane % 16;
    sums upper_left = {}, upper_right = {}, lower_left = {}, lower_right = {};
    for (int step = FIRST_K(lane); step < k; step += 16) {
        inputs upper = loaded(a, row, m, k, step), lower = loaded(a, row + 16, m, k, step);
        inputs left = loaded(bt, column, n, k, step), right = loaded(bt, column + 16, n, k, step);
        upper_left = multiply_add(upper, left, upper_left);
        upper_right = multiply_add(upper, right, upper_right);
        lower_left = multiply_add(lower, left, lower_left);
        lower_right = multiply_add(lower, right, lower_right);
    }
    for (int e = 0; e < PER_LANE; e++)
        for (int half = 0; half < 32; half += 16) {
            int to = 32 * blockIdx.y + ROW(lane, e) + half;
            if (to >= m) continue;
            if (column < n) c[to * n + column] = half ? lower_left[e] : upper_left[e];
            if (column + 16 < n) c[to * n + column + 16] = half ? lower_right[e] : upper_right[e];
        }
}
