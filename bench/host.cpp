// The same computations for the CPU: plain C++, one thread, -O3. Sums are taken in the order of the kernels.

extern "C" {

void saxpy(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = __builtin_fmaf(a, x[i], y[i]);
}

// The loop over columns is innermost so that it can be vectorised; each sum still runs over k upward.
void sgemm_naive(int n, const float* a, const float* b, float* c) {
    for (int row = 0; row < n; ++row) {
        float* out = c + row * n;
        for (int column = 0; column < n; ++column) out[column] = 0.0f;
        for (int k = 0; k < n; ++k)
            for (int column = 0; column < n; ++column)
                out[column] = __builtin_fmaf(a[row * n + k], b[k * n + column], out[column]);
    }
}

void sgemm_tiled(int n, const float* a, const float* b, float* c) { sgemm_naive(n, a, b, c); }

void sgemm_registers(int n, const float* a, const float* b, float* c) { sgemm_naive(n, a, b, c); }

void scattered(int n, const int* at, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = x[at[i]] + x[at[n - 1 - i]];
}

void reduce(int n, const float* x, float* sums) {
    float part[256];
    for (int block = 0; block * 256 < n; ++block) {
        for (int i = 0; i < 256; ++i) part[i] = block * 256 + i < n ? x[block * 256 + i] : 0.0f;
        for (int step = 128; step > 0; step /= 2)
            for (int i = 0; i < step; ++i) part[i] += part[i + step];
        sums[block] = part[0];
    }
}

void collatz(int n, int* steps) {
    for (int i = 0; i < n; ++i) {
        unsigned value = i + 1;
        int count = 0;
        while (value != 1) {
            value = value % 2 ? 3 * value + 1 : value / 2;
            ++count;
        }
        steps[i] = count;
    }
}

void mandelbrot(int width, int height, int limit, int* counts) {
    for (int py = 0; py < height; ++py)
        for (int px = 0; px < width; ++px) {
            float cx = __builtin_fmaf(3.0f / width, (float)px, -2.25f), cy = __builtin_fmaf(2.5f / height, (float)py, -1.25f);
            float x = 0.0f, y = 0.0f;
            int count = 0;
            while (count < limit && x * x + y * y <= 4.0f) {
                float next = x * x - y * y + cx;
                y = __builtin_fmaf(2.0f * x, y, cy);
                x = next;
                ++count;
            }
            counts[py * width + px] = count;
        }
}
}
