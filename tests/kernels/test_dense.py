"""Matrix multiplication, transposes, convolutions, stencils and neural-network layers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import Gpu, floats, integers, levels, words, zeros

# ---- matrices -------------------------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os", "-ffast-math")
def test_tiled_matrix_multiplication(gpu: Gpu) -> None:
    source = """
    __global__ void multiply(const float* a, const float* b, float* c, int n) {
        __shared__ float at[8][8], bt[8][8];
        int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
        float s = 0;
        for (int k = 0; k < n; k += 8) {
            at[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
            bt[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
            __syncthreads();
            for (int j = 0; j < 8; ++j) s += at[y][j] * bt[j][x];
            __syncthreads();
        }
        if (row < n && column < n) c[row * n + column] = s;
    }"""
    a, b = integers((21, 21), -9, 9).astype("float32"), integers((21, 21), -9, 9, seed=2).astype("float32")
    *_, c = gpu(source, a, b, zeros((21, 21), "float32"), 21, grid=(3, 3), block=(8, 8))
    assert (c == a @ b).all()


def test_register_blocked_matrix_multiplication(gpu: Gpu) -> None:
    source = """
    __global__ void multiply(const double* a, const double* b, double* c) {
        double s[4][4] = {};
        int row = 4 * threadIdx.y, column = 4 * threadIdx.x;
        for (int k = 0; k < 32; ++k) {
            double x[4], y[4];
            for (int i = 0; i < 4; ++i) { x[i] = a[(row + i) * 32 + k]; y[i] = b[k * 32 + column + i]; }
            for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) s[i][j] += x[i] * y[j];
        }
        for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) c[(row + i) * 32 + column + j] = s[i][j];
    }"""
    a, b = integers((32, 32)).astype("float64"), integers((32, 32), seed=2).astype("float64")
    *_, c = gpu(source, a, b, np.zeros_like(a), block=(8, 8))
    assert (c == a @ b).all()


def test_complex_matrix_multiplication(gpu: Gpu) -> None:
    source = """
    __global__ void multiply(const float2* a, const float2* b, float2* c, int n) {
        int row = threadIdx.y, column = threadIdx.x;
        float2 s = make_float2(0, 0);
        for (int k = 0; k < n; ++k) {
            float2 x = a[row * n + k], y = b[k * n + column];
            s.x += x.x * y.x - x.y * y.y;
            s.y += x.x * y.y + x.y * y.x;
        }
        c[row * n + column] = s;
    }"""
    a = (integers((9, 9), -9, 9) + 1j * integers((9, 9), -9, 9, seed=2)).astype("complex64")
    b = (integers((9, 9), -9, 9, seed=3) + 1j * integers((9, 9), -9, 9, seed=4)).astype("complex64")
    c = gpu(source, *(m.view("float32") for m in (a, b)), zeros((9, 18), "float32"), 9, block=(9, 9))[2]
    assert (c.view("complex64") == a @ b).all()


def test_integer_matrix_multiplication_of_bytes(gpu: Gpu) -> None:
    source = """
    __global__ void multiply(const signed char* a, const unsigned char* b, int* c) {
        int s = 0;
        for (int k = 0; k < 16; ++k) s += a[threadIdx.y * 16 + k] * b[k * 16 + threadIdx.x];
        c[threadIdx.y * 16 + threadIdx.x] = s;
    }"""
    a, b = words((16, 16), "int8"), words((16, 16), "uint8")
    *_, c = gpu(source, a, b, zeros((16, 16)), block=(16, 16))
    assert (c == a.astype("int32") @ b.astype("int32")).all()


def test_half_precision_matrix_vector(gpu: Gpu) -> None:
    source = """
    __global__ void multiply(const _Float16* a, const _Float16* x, float* y, _Float16* narrow) {
        float s = 0; _Float16 t = 0;
        for (int k = 0; k < 24; ++k) {
            s += (float)a[threadIdx.x * 24 + k] * (float)x[k];
            t += a[threadIdx.x * 24 + k] * x[k];
        }
        y[threadIdx.x] = s; narrow[threadIdx.x] = t;
    }"""
    a, x = integers((40, 24), -6, 6).astype("float16"), integers(24, -6, 6, seed=2).astype("float16")
    *_, y, narrow = gpu(source, a, x, zeros(40, "float32"), zeros(40, "float16"), block=40)
    expected = a.astype("float32") @ x.astype("float32")
    assert (y == expected).all()
    assert (narrow == expected).all()


def test_matrix_power_modulo_prime(gpu: Gpu) -> None:
    source = """
    struct Matrix { unsigned long long m[2][2]; };
    __device__ Matrix times(Matrix a, Matrix b, unsigned long long p) {
        Matrix c;
        for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j)
            c.m[i][j] = (a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j]) % p;
        return c;
    }
    __global__ void fibonacci(unsigned* out, unsigned p) {
        Matrix r = {{{1, 0}, {0, 1}}}, b = {{{1, 1}, {1, 0}}};
        for (int n = threadIdx.x * threadIdx.x; n; n >>= 1) { if (n & 1) r = times(r, b, p); b = times(b, b, p); }
        out[threadIdx.x] = (unsigned)r.m[0][1];
    }"""
    p = 1000000007
    (out,) = gpu(source, zeros(64, "uint32"), p)
    f = [0, 1]
    while len(f) < 64 * 64:
        f.append((f[-1] + f[-2]) % p)
    assert out.tolist() == [f[n * n] for n in range(64)]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_transpose_through_padded_lds(gpu: Gpu, dtype: str) -> None:
    kind = {"uint8": "unsigned char", "int16": "short", "float32": "float", "float64": "double"}[dtype]
    source = f"""
    __global__ void transpose(const {kind}* in, {kind}* out, int w, int h) {{
        __shared__ {kind} tile[16][17];
        int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
        for (int k = 0; k < 16; k += 4) if (x < w && y + k < h) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * w
            + x];
        __syncthreads();
        x = blockIdx.y * 16 + threadIdx.x; y = blockIdx.x * 16 + threadIdx.y;
        for (int k = 0; k < 16; k += 4) if (x < h && y + k < w) out[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y
            + k];
    }}"""
    x = words((37, 45), dtype) if "int" in dtype else floats((37, 45), dtype=dtype)
    _, out = gpu(source, x, zeros((45, 37), dtype), 45, 37, grid=(3, 3), block=(16, 4))
    assert (out == x.T).all()


def test_transpose_in_place_by_shuffles(gpu: Gpu) -> None:
    source = """
    __global__ void transpose(int* data) {
        int lane = threadIdx.x, v[8];
        for (int k = 0; k < 8; ++k) v[k] = data[k * 8 + lane];
        for (int bit = 1; bit < 8; bit *= 2)
            for (int k = 0; k < 8; ++k)
                if (!(k & bit)) {
                    bool upper = lane & bit;
                    int give = upper ? v[k] : v[k | bit], got = __shfl_xor(give, bit, 8);
                    if (upper) v[k] = got; else v[k | bit] = got;
                }
        for (int k = 0; k < 8; ++k) data[k * 8 + lane] = v[k];
    }"""
    x = integers((8, 8))
    (out,) = gpu(source, x, block=8)
    assert (out == x.T).all()


@pytest.mark.full
@levels("-O1", "-ffast-math")
def test_cholesky_in_lds(gpu: Gpu) -> None:
    source = """
    __global__ void cholesky(double* a) {
        __shared__ double s[12][12];
        int i = threadIdx.x;
        for (int j = 0; j < 12; ++j) s[i][j] = a[i * 12 + j];
        #pragma unroll 1
        for (int k = 0; k < 12; ++k) {
            __syncthreads();
            if (i == k) s[k][k] = sqrt(s[k][k]);
            __syncthreads();
            if (i > k) s[i][k] /= s[k][k];
            __syncthreads();
            if (i > k) _Pragma("unroll 1") for (int j = k + 1; j <= i; ++j) s[i][j] -= s[i][k] * s[j][k];
        }
        for (int j = 0; j < 12; ++j) a[i * 12 + j] = j <= i ? s[i][j] : 0;
    }"""
    m = floats((12, 12), dtype="float64")
    a = m @ m.T + 12 * np.eye(12)
    (out,) = gpu(source, a, block=12)
    np.testing.assert_allclose(out, np.linalg.cholesky(a), rtol=1e-12, atol=1e-14)


def test_gauss_elimination_with_pivoting(gpu: Gpu) -> None:
    source = """
    __global__ void solve(const double* matrices, const double* right, double* x) {
        double a[5][6];
        int t = threadIdx.x;
        for (int i = 0; i < 5; ++i) { for (int j = 0; j < 5; ++j) a[i][j] = matrices[t * 25 + i * 5 + j];
            a[i][5] = right[t * 5 + i]; }
        for (int k = 0; k < 5; ++k) {
            int p = k;
            for (int i = k + 1; i < 5; ++i) if (fabs(a[i][k]) > fabs(a[p][k])) p = i;
            for (int j = 0; j < 6; ++j) { double v = a[k][j]; a[k][j] = a[p][j]; a[p][j] = v; }
            for (int i = k + 1; i < 5; ++i) { double f = a[i][k] / a[k][k]; for (int j = k; j < 6;
                ++j) a[i][j] -= f * a[k][j]; }
        }
        for (int i = 4; i >= 0; --i) {
            double s = a[i][5];
            for (int j = i + 1; j < 5; ++j) s -= a[i][j] * x[t * 5 + j];
            x[t * 5 + i] = s / a[i][i];
        }
    }"""
    a, b = floats((40, 5, 5), dtype="float64"), floats((40, 5), dtype="float64", seed=5)
    *_, x = gpu(source, a, b, zeros((40, 5), "float64"), block=40)
    np.testing.assert_allclose(x, np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-9)


# ---- convolutions and stencils --------------------------------------------------------------------------------------


def test_convolution_with_constant_filter(gpu: Gpu) -> None:
    source = """
    __constant__ int filter[5][5] = {{1,2,3,2,1},{-2,4,6,4,2},{3,6,-9,6,3},{2,4,6,4,2},{1,2,3,2,-1}};
    __global__ void convolve(const unsigned char* in, int* out, int w, int h) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        int s = 0;
        for (int j = -2; j <= 2; ++j) for (int i = -2; i <= 2; ++i) {
            int u = min(max(x + i, 0), w - 1), v = min(max(y + j, 0), h - 1);
            s += filter[j + 2][i + 2] * in[v * w + u];
        }
        out[y * w + x] = s;
    }"""
    kernel = np.array([[1,2,3,2,1],[-2,4,6,4,2],[3,6,-9,6,3],[2,4,6,4,2],[1,2,3,2,-1]])  # fmt: skip
    image = words((19, 30), "uint8")
    _, out = gpu(source, image, zeros((19, 30)), 30, 19, grid=(4, 3), block=(8, 8))
    padded = np.pad(image.astype("int32"), 2, mode="edge")
    expected = sum(kernel[j, i] * padded[j : j + 19, i : i + 30] for j in range(5) for i in range(5))
    assert (out == expected).all()


def test_convolution_layer(gpu: Gpu) -> None:
    source = """
    template <int C, int K, int S> __device__ float at(const float* in, const float* w, int n, int x, int y, int o) {
        float s = 0;
        #pragma unroll
        for (int c = 0; c < C; ++c)
            for (int j = 0; j < K; ++j) for (int i = 0; i < K; ++i)
                s += w[((o * C + c) * K + j) * K + i] * in[(c * n + y * S + j) * n + x * S + i];
        return s > 0 ? s : 0;
    }
    __global__ void layer(const float* in, const float* w, float* out, int n, int m) {
        int x = threadIdx.x, y = threadIdx.y, o = blockIdx.x;
        out[(o * m + y) * m + x] = at<3, 3, 2>(in, w, n, x, y, o);
    }"""
    x, w = integers((3, 15, 15), -9, 9).astype("float32"), integers((4, 3, 3, 3), -9, 9, seed=2).astype("float32")
    *_, out = gpu(source, x, w, zeros((4, 7, 7), "float32"), 15, 7, grid=4, block=(7, 7))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::2, ::2]
    assert (out == np.maximum(np.einsum("cyxji,ocji->oyx", windows, w), 0)).all()


def test_max_pooling(gpu: Gpu) -> None:
    source = """
    __global__ void pool(const short* in, short* out, unsigned char* where, int w) {
        int x = threadIdx.x, y = blockIdx.x;
        short best = -32768; int at = 0;
        for (int k = 0; k < 4; ++k) { short v = in[(2 * y + k / 2) * w + 2 * x + k % 2]; if (v > best) { best = v;
            at = k; } }
        out[y * (w / 2) + x] = best; where[y * (w / 2) + x] = at;
    }"""
    x = words((20, 26), "int16")
    _, out, where = gpu(source, x, zeros((10, 13), "int16"), zeros((10, 13), "uint8"), 26, grid=10, block=13)
    blocks = x.reshape(10, 2, 13, 2).transpose(0, 2, 1, 3).reshape(10, 13, 4)
    assert (out == blocks.max(axis=2)).all()
    assert (where == blocks.argmax(axis=2)).all()


def test_one_dimensional_stencil_with_halo(gpu: Gpu) -> None:
    source = """
    __global__ void blur(const float* in, float* out, int n) {
        extern __shared__ float s[];
        int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 3;
        s[t] = i < n ? in[i] : 0;
        if (threadIdx.x < 3) {
            s[t - 3] = i >= 3 ? in[i - 3] : 0;
            s[t + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
        }
        __syncthreads();
        float r = 0;
        for (int k = -3; k <= 3; ++k) r += s[t + k] * (4 - abs(k));
        if (i < n) out[i] = r;
    }"""
    x = integers(300).astype("float32")
    _, out = gpu(source, x, zeros(300, "float32"), 300, grid=5, block=64, lds=280)
    assert (out == np.convolve(x, [1, 2, 3, 4, 3, 2, 1], "same")).all()


def test_heat_equation_with_two_buffers(gpu: Gpu) -> None:
    import gpulab

    source = """
    __global__ void step(const float* in, float* out, int n) {
        int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
        if (x >= n || y >= n) return;
        float c = in[y * n + x];
        if (x == 0 || y == 0 || x == n - 1 || y == n - 1) { out[y * n + x] = c; return; }
        out[y * n + x] = c * 0.5f + 0.125f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y
            + 1) * n + x]);
    }"""
    n = 20
    x = integers((n, n), 0, 1024).astype("float32")
    a, b = gpulab.to_device(x), gpulab.to_device(x)
    step = gpu.module(source, "-ffp-contract=off").step
    for _ in range(6):
        step[(3, 3), (8, 8)](a, b, n)
        a, b = b, a
    y = x.copy()
    for _ in range(6):
        z = y.copy()
        c = y[1:-1, 1:-1]
        around = y[1:-1, :-2] + y[1:-1, 2:] + y[:-2, 1:-1] + y[2:, 1:-1]
        z[1:-1, 1:-1] = c * np.float32(0.5) + np.float32(0.125) * around
        y = z
    np.testing.assert_allclose(a.to_host(), y, rtol=3e-7)


def test_three_dimensional_stencil(gpu: Gpu) -> None:
    source = """
    __global__ void laplace(const int* in, int* out, int nx, int ny, int nz) {
        int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, z = threadIdx.z
            + blockIdx.z * blockDim.z;
        if (x >= nx || y >= ny || z >= nz) return;
        auto at = [=](int i, int j, int k) { return in[((k + nz) % nz * ny + (j + ny) % ny) * nx + (i + nx) % nx]; };
        out[(z * ny + y) * nx + x] = at(x-1,y,z) + at(x+1,y,z) + at(x,y-1,z) + at(x,y+1,z) + at(x,y,z-1)
            + at(x,y,z+1) - 6 * at(x,y,z);
    }"""
    x = integers((5, 7, 9))
    _, out = gpu(source, x, zeros(x.shape), 9, 7, 5, grid=(3, 2, 2), block=(4, 4, 4))
    assert (out == sum(np.roll(x, s, axis) for axis in range(3) for s in (-1, 1)) - 6 * x).all()


def test_game_of_life(gpu: Gpu) -> None:
    source = """
    __global__ void live(unsigned char* board, int steps) {
        __shared__ unsigned char s[2][16][16];
        int x = threadIdx.x, y = threadIdx.y, now = 0;
        s[0][y][x] = board[y * 16 + x];
        for (int k = 0; k < steps; ++k) {
            __syncthreads();
            int n = -s[now][y][x];
            for (int j = 15; j <= 17; ++j) for (int i = 15; i <= 17; ++i) n += s[now][(y + j) % 16][(x + i) % 16];
            s[1 - now][y][x] = n == 3 || (n == 2 && s[now][y][x]);
            now = 1 - now;
        }
        board[y * 16 + x] = s[now][y][x];
    }"""
    x = integers((16, 16), 0, 2).astype("uint8")
    (out,) = gpu(source, x, 7, block=(16, 16))
    for _ in range(7):
        n = sum(np.roll(x, (j, i), (0, 1)) for j in (-1, 0, 1) for i in (-1, 0, 1) if i or j)
        x = ((n == 3) | ((n == 2) & (x == 1))).astype("uint8")
    assert (out == x).all()


def test_median_filter(gpu: Gpu) -> None:
    source = """
    __device__ void order(unsigned short& a, unsigned short& b) { if (a > b) { unsigned short t = a; a = b; b = t; } }
    __global__ void median(const unsigned short* in, unsigned short* out, int w) {
        int x = threadIdx.x + 1, y = blockIdx.x + 1;
        unsigned short v[9];
        for (int k = 0; k < 9; ++k) v[k] = in[(y + k / 3 - 1) * w + x + k % 3 - 1];
        for (int n = 9; n > 4; --n) for (int k = 0; k + 1 < n; ++k) order(v[k], v[k + 1]);
        out[(y - 1) * (w - 2) + x - 1] = v[4];
    }"""
    x = words((14, 50), "uint16")
    _, out = gpu(source, x, zeros((12, 48), "uint16"), 50, grid=12, block=48)
    assert (out == np.median(np.lib.stride_tricks.sliding_window_view(x, (3, 3)), axis=(2, 3))).all()


def test_sobel_with_saturation(gpu: Gpu) -> None:
    source = """
    __global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
        if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
        const unsigned char* p = in + y * w + x;
        int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
        int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
        out[y * w + x] = (unsigned char)min(255, abs(gx) + abs(gy));
    }"""
    x = (words((12, 100), "uint8") >> 2).astype("uint8")
    _, out = gpu(source, x, zeros((12, 100), "uint8"), 100, 12, grid=(2, 12))
    v = x.astype(int)
    gx = v[:-2, 2:] + 2 * v[1:-1, 2:] + v[2:, 2:] - v[:-2, :-2] - 2 * v[1:-1, :-2] - v[2:, :-2]
    gy = v[2:, :-2] + 2 * v[2:, 1:-1] + v[2:, 2:] - v[:-2, :-2] - 2 * v[:-2, 1:-1] - v[:-2, 2:]
    assert (out[1:-1, 1:-1] == np.minimum(255, abs(gx) + abs(gy))).all()


def test_bilinear_resize_in_fixed_point(gpu: Gpu) -> None:
    source = """
    __global__ void resize(const uchar4* in, uchar4* out, int w, int h, int W, int H) {
        int X = threadIdx.x, Y = blockIdx.x;
        int fx = X * ((w - 1) << 8) / (W - 1), fy = Y * ((h - 1) << 8) / (H - 1);
        int x = min(fx >> 8, w - 2), y = min(fy >> 8, h - 2), a = fx - (x << 8), b = fy - (y << 8);
        uchar4 p = in[y * w + x], q = in[y * w + x + 1], r = in[(y + 1) * w + x], s = in[(y + 1) * w + x + 1], o;
        #define MIX(c) o.c = ((p.c * (256 - a) + q.c * a) * (256 - b) + (r.c * (256 - a) + s.c * a) * b) >> 16
        MIX(x); MIX(y); MIX(z); MIX(w);
        out[Y * W + X] = o;
    }"""
    x = words((6, 7, 4), "uint8")
    _, out = gpu(source, x.reshape(-1), zeros(13 * 20 * 4, "uint8"), 7, 6, 20, 13, grid=13, block=20)
    fx, fy = np.arange(20) * (6 << 8) // 19, np.arange(13) * (5 << 8) // 12
    ix, iy = np.minimum(fx >> 8, 5), np.minimum(fy >> 8, 4)
    a, b = (fx - (ix << 8))[None, :, None], (fy - (iy << 8))[:, None, None]
    v = x.astype(int)
    at = lambda j, i: v[iy[:, None] + j, ix[None, :] + i]  # noqa: E731
    top, bottom = at(0, 0) * (256 - a) + at(0, 1) * a, at(1, 0) * (256 - a) + at(1, 1) * a
    assert (out.reshape(13, 20, 4) == (top * (256 - b) + bottom * b) >> 16).all()


# ---- layers ---------------------------------------------------------------------------------------------------------


@levels("-O1", "-ffast-math")
def test_softmax(gpu: Gpu) -> None:
    source = """
    __global__ void softmax(const float* in, float* out, int n) {
        __shared__ float s[64];
        const float* x = in + blockIdx.x * n;
        int t = threadIdx.x;
        float m = -INFINITY, z = 0;
        for (int i = t; i < n; i += 64) m = fmaxf(m, x[i]);
        s[t] = m;
        for (int d = 32; d; d /= 2) { __syncthreads(); if (t < d) s[t] = fmaxf(s[t], s[t + d]); }
        __syncthreads();
        m = s[0];
        __syncthreads();
        for (int i = t; i < n; i += 64) z += expf(x[i] - m);
        s[t] = z;
        for (int d = 32; d; d /= 2) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
        __syncthreads();
        for (int i = t; i < n; i += 64) out[blockIdx.x * n + i] = expf(x[i] - m) / s[0];
    }""".replace("-INFINITY", "-3.0e38f")
    x = floats((4, 150), -10, 10)
    _, out = gpu(source, x, np.zeros_like(x), 150, grid=4)
    e = np.exp(x.astype("float64") - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=2e-5)


def test_layer_norm(gpu: Gpu) -> None:
    source = """
    __device__ float total(float v) { for (int d = 16; d; d /= 2) v += __shfl_xor(v, d, 32); return v; }
    __global__ void normalise(const float* in, const float* gain, const float* bias, float* out, int n) {
        int row = blockIdx.x * blockDim.y + threadIdx.y;
        const float* x = in + row * n;
        float s = 0, q = 0;
        for (int i = threadIdx.x; i < n; i += 32) s += x[i];
        float mean = total(s) / n;
        for (int i = threadIdx.x; i < n; i += 32) q += (x[i] - mean) * (x[i] - mean);
        float r = rsqrtf(total(q) / n + 1e-5f);
        for (int i = threadIdx.x; i < n; i += 32) out[row * n + i] = (x[i] - mean) * r * gain[i] + bias[i];
    }"""
    x, g, b = floats((6, 100), -5, 5), floats(100, seed=4), floats(100, seed=5)
    *_, out = gpu(source, x, g, b, np.zeros_like(x), 100, grid=2, block=(32, 3))
    v = x.astype("float64")
    expected = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * g + b
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_causal_attention_with_running_softmax(gpu: Gpu) -> None:
    source = """
    __global__ void attention(const float* q, const float* k, const float* v, float* o, int n) {
        const int D = 16;
        int row = threadIdx.x;
        if (row >= n) return;
        float m = -1e30f, z = 0, acc[D] = {};
        for (int j = 0; j <= row; ++j) {
            float s = 0;
            for (int d = 0; d < D; ++d) s += q[row * D + d] * k[j * D + d];
            s *= 0.25f;
            float next = fmaxf(m, s), scale = expf(m - next), p = expf(s - next);
            z = z * scale + p;
            for (int d = 0; d < D; ++d) acc[d] = acc[d] * scale + p * v[j * D + d];
            m = next;
        }
        for (int d = 0; d < D; ++d) o[row * D + d] = acc[d] / z;
    }"""
    q, k, v = (floats((40, 16), -2, 2, seed=s) for s in (1, 2, 3))
    *_, o = gpu(source, q, k, v, np.zeros_like(q), 40)
    scores = np.where(np.tri(40) > 0, q.astype("float64") @ k.T / 4, -np.inf)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(o, p / p.sum(axis=1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)


def test_activations(gpu: Gpu) -> None:
    source = """
    __global__ void activate(const float* x, float* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        out[i] = 1 / (1 + expf(-v));
        out[n + i] = tanhf(v);
        out[2 * n + i] = 0.5f * v * (1 + erff(v * 0.70710678f));
        out[3 * n + i] = v > 0 ? v : expm1f(v);
        out[4 * n + i] = log1pf(expf(v));
        out[5 * n + i] = v / (1 + fabsf(v));
    }"""
    from math import erf

    x = floats(200, -6, 6)
    _, out = gpu(source, x, zeros((6, 200), "float32"), 200, grid=4)
    v = x.astype("float64")
    gelu = [0.5 * a * (1 + erf(a * 2**-0.5)) for a in v.tolist()]
    expected = [
        1 / (1 + np.exp(-v)),
        np.tanh(v),
        gelu,
        np.where(v > 0, v, np.expm1(v)),
        np.log1p(np.exp(v)),
        v / (1 + abs(v)),
    ]
    np.testing.assert_allclose(out, expected, rtol=2e-5, atol=1e-6)


def test_quantise_and_dequantise(gpu: Gpu) -> None:
    source = """
    __global__ void quantise(const float* x, signed char* q, float* back, float scale) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float v = rintf(x[i] / scale);
        q[i] = (signed char)fminf(fmaxf(v, -127.0f), 127.0f);
        back[i] = q[i] * scale;
    }"""
    x, scale = floats(256, -12, 12), np.float32(0.0625)
    _, q, back = gpu(source, x, zeros(256, "int8"), zeros(256, "float32"), scale, grid=2, block=128)
    expected = np.clip(np.rint(x / scale), -127, 127)
    assert (q == expected).all()
    assert (back == expected * scale).all()
