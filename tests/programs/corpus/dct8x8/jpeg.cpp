// JPEG's lossy part on blocks of 8x8: forward DCT, quantisation, zigzag with run lengths per block, and back.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CU_SAFE_CALL(x) { hipError_t r = (x); if (r != hipSuccess) { printf("error %d (%s) line %d\n", r, hipGetErrorString(r), __LINE__); exit(1); } }

__constant__ float cosines[64];   // [u][x]
__constant__ unsigned char quant[64];
__constant__ unsigned char zigzag[64];

static const unsigned char h_quant[64] = {
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
  18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

__device__ inline float dct_pass(const float (*t)[9], int row, int u)
{
    float s = 0;
#pragma unroll
    for (int x = 0; x < 8; x++) s += cosines[u * 8 + x] * t[row][x];
    return s;
}

struct Symbol { short value; unsigned char run, end; };

// blockDim 8x8
__global__ void encode(const unsigned char *img, int stride, short *coefficients, Symbol *symbols, int *counts)
{
    __shared__ float a[8][9], b[8][9];
    __shared__ short q[64];
    const int x = threadIdx.x, y = threadIdx.y, block = blockIdx.y * gridDim.x + blockIdx.x;
    a[y][x] = (float)img[(blockIdx.y * 8 + y) * stride + blockIdx.x * 8 + x] - 128.0f;
    __syncthreads();
    b[x][y] = dct_pass(a, y, x);      // transposed
    __syncthreads();
    float v = dct_pass(b, x, y);      // row x of the transposed: column; coefficient (u = x, v = y)
    int k = y * 8 + x;
    q[k] = (short)rintf(v / quant[k]);
    coefficients[block * 64 + k] = q[k];
    __syncthreads();
    if (k == 0) {
        int n = 0, run = 0;
        for (int i = 0; i < 64; i++) {
            short c = q[zigzag[i]];
            if (c == 0) { run++; continue; }
            symbols[block * 64 + n++] = Symbol{c, (unsigned char)run, 0};
            run = 0;
        }
        if (n) symbols[block * 64 + n - 1].end = 1;
        counts[block] = n;
    }
}

__global__ void decode(const Symbol *symbols, const int *counts, unsigned char *img, int stride)
{
    __shared__ float a[8][9], b[8][9];
    const int x = threadIdx.x, y = threadIdx.y, block = blockIdx.y * gridDim.x + blockIdx.x, k = y * 8 + x;
    a[y][x] = 0;
    __syncthreads();
    if (k == 0)
        for (int i = 0, at = 0; i < counts[block]; i++, at++) {
            Symbol s = symbols[block * 64 + i];
            at += s.run;
            int z = zigzag[at];
            a[z / 8][z % 8] = (float)s.value * quant[z];
        }
    __syncthreads();
    float s = 0;
    for (int u = 0; u < 8; u++) s += cosines[u * 8 + x] * a[y][u];
    b[y][x] = s;
    __syncthreads();
    s = 0;
    for (int v = 0; v < 8; v++) s += cosines[v * 8 + y] * b[v][x];
    img[(blockIdx.y * 8 + y) * stride + blockIdx.x * 8 + x] = (unsigned char)fminf(255.f, fmaxf(0.f, rintf(s + 128.f)));
}

int main(int argc, char **argv)
{
    const int w = (argc > 1 ? atoi(argv[1]) : 128) / 8 * 8, h = (argc > 2 ? atoi(argv[2]) : 96) / 8 * 8, n = w * h, blocks = n / 64;
    std::vector<unsigned char> img(n), out(n), zz(64);
    for (int i = 0; i < n; i++) {
        double x = i % w, y = i / w;
        img[i] = (unsigned char)(128 + 60 * sin(x / 9 + y / 31) + 40 * cos(y / 5) + (i * 2654435761u >> 28));
    }
    float c[64];
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++) c[u * 8 + x] = (float)((u ? 0.5 : sqrt(0.125)) * cos((2 * x + 1) * u * M_PI / 16));
    for (int i = 0, x = 0, y = 0; i < 64; i++) {
        zz[i] = y * 8 + x;
        if ((x + y) % 2 == 0) { if (x == 7) y++; else if (y == 0) x++; else { x++; y--; } }
        else { if (y == 7) x++; else if (x == 0) y++; else { x--; y++; } }
    }
    CU_SAFE_CALL(hipMemcpyToSymbol(HIP_SYMBOL(cosines), c, sizeof c));
    CU_SAFE_CALL(hipMemcpyToSymbol(HIP_SYMBOL(quant), h_quant, 64));
    CU_SAFE_CALL(hipMemcpyToSymbol(HIP_SYMBOL(zigzag), zz.data(), 64));
    unsigned char *d_img, *d_out; short *d_coef; Symbol *d_sym; int *d_counts;
    CU_SAFE_CALL(hipMalloc((void **)&d_img, n)); CU_SAFE_CALL(hipMalloc((void **)&d_out, n));
    CU_SAFE_CALL(hipMalloc((void **)&d_coef, n * sizeof(short)));
    CU_SAFE_CALL(hipMalloc((void **)&d_sym, n * sizeof(Symbol))); CU_SAFE_CALL(hipMalloc((void **)&d_counts, blocks * sizeof(int)));
    CU_SAFE_CALL(hipMemcpy(d_img, img.data(), n, hipMemcpyHostToDevice));
    dim3 grid(w / 8, h / 8), block(8, 8);
    hipLaunchKernelGGL(encode, grid, block, 0, 0, d_img, w, d_coef, d_sym, d_counts);
    hipLaunchKernelGGL(decode, grid, block, 0, 0, d_sym, d_counts, d_out, w);
    CU_SAFE_CALL(hipGetLastError());
    std::vector<short> coef(n);
    std::vector<Symbol> sym(n);
    std::vector<int> counts(blocks);
    CU_SAFE_CALL(hipMemcpy(coef.data(), d_coef, n * sizeof(short), hipMemcpyDeviceToHost));
    CU_SAFE_CALL(hipMemcpy(sym.data(), d_sym, n * sizeof(Symbol), hipMemcpyDeviceToHost));
    CU_SAFE_CALL(hipMemcpy(counts.data(), d_counts, blocks * sizeof(int), hipMemcpyDeviceToHost));
    CU_SAFE_CALL(hipMemcpy(out.data(), d_out, n, hipMemcpyDeviceToHost));
    int bad_coef = 0, bad_symbols = 0, bad_pixels = 0, total = 0;
    double mse = 0;
    for (int b = 0; b < blocks; b++) {
        int x0 = b % (w / 8) * 8, y0 = b / (w / 8) * 8;
        for (int k = 0; k < 64; k++) {
            double s = 0;
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++) s += (double)c[k % 8 * 8 + x] * c[k / 8 * 8 + y] * (img[(y0 + y) * w + x0 + x] - 128.0);
            double exact = s / h_quant[k];
            if (fabs(coef[b * 64 + k] - exact) > 0.5 + 1e-3) bad_coef++;
        }
        std::vector<short> again;
        for (int i = 0; i < counts[b]; i++) {
            Symbol s = sym[b * 64 + i];
            again.insert(again.end(), s.run, 0);
            again.push_back(s.value);
            if (s.end != (i == counts[b] - 1)) bad_symbols++;
        }
        again.resize(64);
        for (int i = 0; i < 64; i++) bad_symbols += again[i] != coef[b * 64 + zz[i]];
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++) {
                double s = 128;
                for (int k = 0; k < 64; k++) s += (double)c[k % 8 * 8 + x] * c[k / 8 * 8 + y] * coef[b * 64 + k] * h_quant[k];
                s = fmin(255, fmax(0, s));
                int at = (y0 + y) * w + x0 + x;
                if (fabs(out[at] - s) > 0.5 + 1e-2) bad_pixels++;
                mse += (out[at] - img[at]) * (out[at] - img[at]);
            }
        total += counts[b];
    }
    double psnr = 10 * log10(255.0 * 255.0 * n / mse);
    printf("%dx%d: %.2f coefficients per block, PSNR %.2f dB; wrong: %d coefficients, %d symbols, %d pixels\n", w, h, (double)total / blocks, psnr,
           bad_coef, bad_symbols, bad_pixels);
    (void)hipDeviceReset();
    bool good = !bad_coef && !bad_symbols && !bad_pixels && psnr > 30;
    printf("%s\n", good ? "PASSED" : "FAILED");
    return !good;
}
