// The kernels of `make bench`. Every multiply-add is an explicit fmaf and contraction is off, so that the host's
// results in host.cpp can be the same to the bit.

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}

extern "C" __global__ void sgemm_naive(int n, const float* a, const float* b, float* c) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}

extern "C" __global__ void sgemm_tiled(int n, const float* a, const float* b, float* c) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < n; start += 16) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum = fmaf(tile_a[threadIdx.y][k], tile_b[k][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void reduce(int n, const float* x, float* sums) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void collatz(int n, int* steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned value = i + 1;
    int count = 0;
    while (value != 1) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        ++count;
    }
    steps[i] = count;
}

extern "C" __global__ void mandelbrot(int width, int height, int limit, int* counts) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = fmaf(3.0f / width, (float)px, -2.25f), cy = fmaf(2.5f / height, (float)py, -1.25f);
    float x = 0.0f, y = 0.0f;
    int count = 0;
    while (count < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = fmaf(2.0f * x, y, cy);
        x = next;
        ++count;
    }
    counts[py * width + px] = count;
}

// What a good matrix product looks like: tiles of 64x64 in LDS, 8x8 sums in the registers of each of 64 threads.
extern "C" __global__ void sgemm_registers(int n, const float* a, const float* b, float* c) {
    __shared__ float tile_a[8][64], tile_b[8][64];
    int t = threadIdx.x, column = t % 8 * 8, row = t / 8 * 8;
    float sum[8][8] = {};
    for (int start = 0; start < n; start += 8) {
        for (int k = 0; k < 8; ++k) {
            tile_a[k][t] = a[(blockIdx.y * 64 + t) * n + start + k];
            tile_b[k][t] = b[(start + k) * n + blockIdx.x * 64 + t];
        }
        __syncthreads();
        for (int k = 0; k < 8; ++k)
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(tile_a[k][row + i], tile_b[k][column + j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) c[(blockIdx.y * 64 + row + i) * n + blockIdx.x * 64 + column + j] = sum[i][j];
}

// Reads from all over an array.
extern "C" __global__ void scattered(int n, const int* at, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[at[i]] + x[at[n - 1 - i]];
}
