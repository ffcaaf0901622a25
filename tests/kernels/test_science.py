"""Fourier transforms, solvers, particles, rays, fractals and special functions, in float and double."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gpulab
from tests.kernels.harness import Gpu, floats, integers, levels, zeros

EXACT = ("-ffp-contract=off",)


# ---- transforms -----------------------------------------------------------------------------------------------------


def complex_values(n: int, dtype: str) -> np.ndarray:
    return np.stack([floats(n, dtype=dtype), floats(n, dtype=dtype, seed=8)], -1)


@levels("-O1", "-ffast-math")
def test_fft_radix_2_in_lds(gpu: Gpu) -> None:
    source = """
    __global__ void fft(float2* data) {
        __shared__ float2 s[256];
        int t = threadIdx.x;
        for (int k = t; k < 256; k += 128) s[__brev(k) >> 24] = data[k];
        for (int m = 1; m < 256; m *= 2) {
            __syncthreads();
            int k = t & (m - 1), i = 2 * (t - k) + k, j = i + m;
            float a = -3.14159265358979f * k / m, c = cosf(a), d = sinf(a);
            float2 u = s[i], v = s[j], w = make_float2(c * v.x - d * v.y, c * v.y + d * v.x);
            s[i] = make_float2(u.x + w.x, u.y + w.y); s[j] = make_float2(u.x - w.x, u.y - w.y);
        }
        __syncthreads();
        for (int k = t; k < 256; k += 128) data[k] = s[k];
    }"""
    x = complex_values(256, "float32")
    (out,) = gpu(source, x, block=128)
    expected = np.fft.fft(x[:, 0] + 1j * x[:, 1])
    np.testing.assert_allclose(out[:, 0] + 1j * out[:, 1], expected, atol=3e-5)


def test_fft_stockham_in_double(gpu: Gpu) -> None:
    source = """
    __global__ void fft(double2* data) {
        __shared__ double2 s[2][64];
        int t = threadIdx.x, now = 0;
        s[0][t] = data[t]; s[0][t + 32] = data[t + 32];
        for (int p = 1; p < 64; p *= 2) {
            __syncthreads();
            int k = t & (p - 1);
            double c, d;
            sincos(-3.141592653589793 * k / p, &d, &c);
            double2 u = s[now][t], v = s[now][t + 32], w;
            w.x = c * v.x - d * v.y; w.y = c * v.y + d * v.x;
            int j = 2 * (t - k) + k;
            s[1 - now][j].x = u.x + w.x; s[1 - now][j].y = u.y + w.y;
            s[1 - now][j + p].x = u.x - w.x; s[1 - now][j + p].y = u.y - w.y;
            now = 1 - now;
        }
        __syncthreads();
        data[t] = s[now][t]; data[t + 32] = s[now][t + 32];
    }"""
    x = complex_values(64, "float64")
    (out,) = gpu(source, x, block=32)
    np.testing.assert_allclose(out[:, 0] + 1j * out[:, 1], np.fft.fft(x[:, 0] + 1j * x[:, 1]), atol=1e-13)


def test_number_theoretic_transform(gpu: Gpu) -> None:
    source = """
    __global__ void ntt(unsigned* data, unsigned root) {
        __shared__ unsigned s[64];
        const unsigned p = 998244353;
        int t = threadIdx.x;
        s[__brev(t) >> 27] = data[t];
        for (int m = 1; m < 32; m *= 2) {
            __syncthreads();
            if (t < 16) {
                unsigned w = 1;
                int k = t & (m - 1), i = 2 * (t - k) + k;
                for (int e = k * (16 / m); e; --e) w = (unsigned long long)w * root % p;
                unsigned u = s[i], v = (unsigned long long)s[i + m] * w % p;
                s[i] = (u + v) % p; s[i + m] = (u + p - v) % p;
            }
        }
        __syncthreads();
        data[t] = s[t];
    }"""
    p = 998244353
    root = pow(3, (p - 1) // 32, p)
    x = integers(32, 0, p, "uint32")
    (out,) = gpu(source, x, root, block=32)
    assert out.tolist() == [sum(v * pow(root, i * k, p) for i, v in enumerate(x.tolist())) % p for k in range(32)]


def test_walsh_hadamard_by_shuffles(gpu: Gpu) -> None:
    source = """
    __global__ void walsh(int* data) {
        int v = data[threadIdx.x];
        for (int d = 1; d < 32; d *= 2) { int o = __shfl_xor(v, d, 32); v = threadIdx.x & d ? o - v : v + o; }
        data[threadIdx.x] = v;
    }"""
    x = integers((3, 32))
    (out,) = gpu(source, x, block=96)
    h = np.array([[(-1) ** (i & j).bit_count() for j in range(32)] for i in range(32)])
    assert (out == x @ h).all()


def test_haar_wavelet(gpu: Gpu) -> None:
    source = """
    __global__ void haar(float* data) {
        __shared__ float s[2][128];
        int t = threadIdx.x;
        s[0][t] = data[t]; s[0][t + 64] = data[t + 64];
        int now = 0;
        for (int n = 64; n; n /= 2) {
            __syncthreads();
            if (t < n) {
                float a = s[now][2 * t], b = s[now][2 * t + 1];
                s[1 - now][t] = (a + b) * 0.5f;
                data[n + t] = (a - b) * 0.5f;
            }
            now = 1 - now;
        }
        if (t == 0) data[0] = s[now][0];
    }"""
    x = (integers(128) * 128).astype("float32")
    (out,) = gpu(source, x)
    expected, rest = [], x
    while len(rest) > 1:
        expected = [*((rest[::2] - rest[1::2]) / 2), *expected]
        rest = (rest[::2] + rest[1::2]) / 2
    assert out.tolist() == [rest[0], *expected]


def test_discrete_cosine_transform_of_blocks(gpu: Gpu) -> None:
    source = """
    __global__ void dct(const float* in, const float* table, float* out, int w) {
        __shared__ float s[8][9], r[8][9];
        int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
        s[y][x] = in[at];
        __syncthreads();
        float v = 0;
        for (int k = 0; k < 8; ++k) v = fmaf(table[x * 8 + k], s[y][k], v);
        r[y][x] = v;
        __syncthreads();
        v = 0;
        for (int k = 0; k < 8; ++k) v = fmaf(table[y * 8 + k], r[k][x], v);
        out[at] = v;
    }"""
    x = floats((16, 24), 0, 255)
    k = np.arange(8)
    table = np.sqrt(np.where(k == 0, 1, 2) / 8)[:, None] * np.cos(np.pi * (2 * k + 1) * k[:, None] / 16)
    *_, out = gpu(source, x, table.astype("float32"), np.zeros_like(x), 24, grid=(3, 2), block=(8, 8))
    blocks = x.reshape(2, 8, 3, 8).transpose(0, 2, 1, 3).astype("float64")
    expected = (table @ blocks @ table.T).transpose(0, 2, 1, 3).reshape(16, 24)
    np.testing.assert_allclose(out, expected, atol=2e-3)


# ---- solvers --------------------------------------------------------------------------------------------------------


def test_jacobi_iteration(gpu: Gpu) -> None:
    source = """
    __global__ void jacobi(const double* a, const double* b, double* x, int n, int rounds) {
        __shared__ double now[64];
        int i = threadIdx.x;
        now[i] = 0;
        for (int r = 0; r < rounds; ++r) {
            __syncthreads();
            double s = i < n ? b[i] : 0;
            if (i < n) for (int j = 0; j < n; ++j) if (j != i) s -= a[i * n + j] * now[j];
            __syncthreads();
            if (i < n) now[i] = s / a[i * n + i];
        }
        if (i < n) x[i] = now[i];
    }"""
    a, b = floats((40, 40), dtype="float64") + 45 * np.eye(40), floats(40, dtype="float64", seed=2)
    x = gpu(source, a, b, zeros(40, "float64"), 40, 60)[2]
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-12)


def test_tridiagonal_systems_by_thomas(gpu: Gpu) -> None:
    source = """
    __global__ void solve(const double* a, const double* b, const double* c, const double* d, double* x, double* w,
        int n, int m) {
        int s = blockIdx.x * blockDim.x + threadIdx.x;
        if (s >= m) return;
        double p = c[s] / b[s], q = d[s] / b[s];
        w[s] = p; x[s] = q;
        for (int i = 1; i < n; ++i) {
            double f = 1 / (b[i * m + s] - a[i * m + s] * p);
            p = c[i * m + s] * f; q = (d[i * m + s] - a[i * m + s] * q) * f;
            w[i * m + s] = p; x[i * m + s] = q;
        }
        for (int i = n - 2; i >= 0; --i) { q = x[i * m + s] - w[i * m + s] * q; x[i * m + s] = q; }
    }"""
    a, c, d = (floats((20, 70), dtype="float64", seed=s) for s in (1, 2, 3))
    b = floats((20, 70), 3, 4, "float64", 4)
    x = gpu(source, a, b, c, d, np.zeros_like(a), np.zeros_like(a), 20, 70, grid=2)[4]
    for s in range(70):
        matrix = np.diag(b[:, s]) + np.diag(a[1:, s], -1) + np.diag(c[:-1, s], 1)
        np.testing.assert_allclose(matrix @ x[:, s], d[:, s], atol=1e-12)


def test_cyclic_reduction(gpu: Gpu) -> None:
    source = """
    __global__ void solve(const float* a, const float* b, const float* c, const float* d, float* x) {
        __shared__ float A[64], B[64], C[64], D[64];
        int i = threadIdx.x;
        float p = a[i], q = b[i], r = c[i], s = d[i];
        for (int h = 1; h < 64; h *= 2) {
            A[i] = p; B[i] = q; C[i] = r; D[i] = s;
            __syncthreads();
            float u = i >= h ? -p / B[i - h] : 0, v = i + h < 64 ? -r / B[i + h] : 0;
            p = i >= h ? u * A[i - h] : 0; r = i + h < 64 ? v * C[i + h] : 0;
            q += (i >= h ? u * C[i - h] : 0) + (i + h < 64 ? v * A[i + h] : 0);
            s += (i >= h ? u * D[i - h] : 0) + (i + h < 64 ? v * D[i + h] : 0);
            __syncthreads();
        }
        x[i] = s / q;
    }"""
    a, c, d = (floats(64, seed=s) for s in (1, 2, 3))
    b = floats(64, 3, 4, seed=4)
    a[0] = c[-1] = 0
    x = gpu(source, a, b, c, d, zeros(64, "float32"))[4]
    matrix = np.diag(b.astype("float64")) + np.diag(a[1:], -1) + np.diag(c[:-1], 1)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, d), rtol=2e-5, atol=1e-6)


def test_conjugate_gradients(gpu: Gpu) -> None:
    source = """
    __device__ double dot(double a, double b, double* s) {
        int t = threadIdx.x;
        __syncthreads();
        s[t] = a * b;
        for (int d = 32; d; d /= 2) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
        __syncthreads();
        return s[0];
    }
    __global__ void solve(const double* b, double* out, int* rounds) {
        __shared__ double s[64], direction[64];
        int t = threadIdx.x;
        double x = 0, r = b[t], p = r, rr = dot(r, r, s);
        int k = 0;
        for (; k < 100 && rr > 1e-24; ++k) {
            direction[t] = p;
            __syncthreads();
            double ap = 2.5 * p - (t > 0 ? direction[t - 1] : 0) - (t < 63 ? direction[t + 1] : 0);
            double alpha = rr / dot(p, ap, s);
            x += alpha * p; r -= alpha * ap;
            double next = dot(r, r, s);
            p = r + next / rr * p; rr = next;
        }
        out[t] = x;
        if (t == 0) *rounds = k;
    }"""
    b = floats(64, dtype="float64")
    _, x, rounds = gpu(source, b, zeros(64, "float64"), zeros(1))
    a = 2.5 * np.eye(64) - np.eye(64, k=1) - np.eye(64, k=-1)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-11)
    assert 10 < rounds[0] < 64


def test_newton_and_bisection(gpu: Gpu) -> None:
    source = """
    template <class F> __device__ double bisect(F f, double lo, double hi) {
        for (int i = 0; i < 60; ++i) { double m = 0.5 * (lo + hi); (f(m) < 0 ? lo : hi) = m; }
        return lo;
    }
    __global__ void roots(const double* x, double* out, int n) {
        int i = threadIdx.x;
        if (i >= n) return;
        double v = x[i], r = v;
        for (int k = 0; k < 60; ++k) r = (2 * r + v / (r * r)) / 3;
        out[i] = r;
        out[n + i] = bisect([=](double y) { return y * y * y - v; }, 0, v + 1);
    }"""
    x = floats(50, 0.01, 1000, "float64")
    _, out = gpu(source, x, zeros((2, 50), "float64"), 50)
    np.testing.assert_allclose(out, np.stack([np.cbrt(x)] * 2), rtol=1e-14)


def test_runge_kutta_of_lorenz(gpu: Gpu) -> None:
    source = """
    struct V { double x, y, z; };
    __device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    __device__ V operator*(double s, V a) { return {s * a.x, s * a.y, s * a.z}; }
    __device__ V f(V a) { return {10 * (a.y - a.x), a.x * (28 - a.z) - a.y, a.x * a.y - 8.0 / 3 * a.z}; }
    __global__ void run(V* points, int steps, double h) {
        V p = points[threadIdx.x];
        for (int i = 0; i < steps; ++i) {
            V a = f(p), b = f(p + 0.5 * h * a), c = f(p + 0.5 * h * b), d = f(p + h * c);
            p = p + h / 6 * (a + 2.0 * b + 2.0 * c + d);
        }
        points[threadIdx.x] = p;
    }"""
    p = floats((40, 3), dtype="float64")
    (out,) = gpu(source, p, 50, 0.01, block=40, options=EXACT)

    def f(a: np.ndarray) -> np.ndarray:
        x, y, z = a.T
        return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8.0 / 3 * z], -1)

    h = 0.01
    for _ in range(50):
        a = f(p)
        b = f(p + 0.5 * h * a)
        c = f(p + 0.5 * h * b)
        d = f(p + h * c)
        p = p + h / 6 * (a + 2.0 * b + 2.0 * c + d)
    np.testing.assert_allclose(out, p, rtol=1e-9)


def test_simpson_integration(gpu: Gpu) -> None:
    source = """
    __device__ double f(double x) { return exp(-x) * sin(x) / (1 + x * x); }
    __global__ void integrate(double a, double b, int n, double* out) {
        __shared__ double s[64];
        double h = (b - a) / n, v = 0;
        for (int i = threadIdx.x; i <= n; i += 64) v += f(a + i * h) * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
        s[threadIdx.x] = v;
        for (int d = 32; d; d /= 2) { __syncthreads(); if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; }
        if (threadIdx.x == 0) *out = s[0] * h / 3;
    }"""
    (out,) = gpu(source, 0.0, 5.0, 500, zeros(1, "float64"))
    x = np.linspace(0, 5, 501)
    weight = np.where(np.arange(501) % 2, 4, 2)
    weight[[0, -1]] = 1
    assert out[0] == pytest.approx((np.exp(-x) * np.sin(x) / (1 + x * x) * weight).sum() / 300, rel=1e-13)


# ---- particles, rays, structures ------------------------------------------------------------------------------------


@levels("-ffast-math")
def test_n_body_forces(gpu: Gpu) -> None:
    source = """
    __global__ void forces(const float4* bodies, float3* out, int n) {
        __shared__ float4 tile[64];
        int i = blockIdx.x * 64 + threadIdx.x;
        float4 me = bodies[min(i, n - 1)];
        float x = 0, y = 0, z = 0;
        for (int base = 0; base < n; base += 64) {
            if (base + threadIdx.x < n) tile[threadIdx.x] = bodies[base + threadIdx.x];
            __syncthreads();
            for (int j = 0; j < min(64, n - base); ++j) {
                float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
                float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[j].w * r * r * r;
                x += f * dx; y += f * dy; z += f * dz;
            }
            __syncthreads();
        }
        if (i < n) out[i] = make_float3(x, y, z);
    }"""
    b = floats((100, 4), 0, 4)
    _, out = gpu(source, b, zeros((100, 3), "float32"), 100, grid=2)
    v = b.astype("float64")
    d = v[None, :, :3] - v[:, None, :3]
    r = ((d**2).sum(axis=2) + 0.01) ** -1.5
    np.testing.assert_allclose(out, (d * (r * v[:, 3])[..., None]).sum(axis=1), rtol=2e-4, atol=2e-4)


def test_particles_in_cells(gpu: Gpu) -> None:
    source = """
    __global__ void deposit(const float2* p, int n, int w, unsigned* grid) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float x = p[i].x, y = p[i].y;
        int cx = (int)floorf(x), cy = (int)floorf(y);
        float fx = x - cx, fy = y - cy;
        for (int k = 0; k < 4; ++k) {
            float weight = (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy);
            atomicAdd(&grid[(cy + (k >> 1)) % w * w + (cx + (k & 1)) % w], (unsigned)(weight * 65536));
        }
    }"""
    p = (integers((300, 2), 0, 16 * 256) / 256).astype("float32")
    grid = gpu(source, p, 300, 16, zeros((16, 16), "uint32"), grid=5)[1]
    expected = zeros((16, 16), "uint32")
    for x, y in p.tolist():
        cx, cy = int(x), int(y)
        for k in range(4):
            weight = (x - cx if k & 1 else 1 - x + cx) * (y - cy if k & 2 else 1 - y + cy)
            expected[(cy + (k >> 1)) % 16, (cx + (k & 1)) % 16] += int(weight * 65536)
    assert (grid == expected).all()


def test_rays_and_spheres(gpu: Gpu) -> None:
    source = """
    struct Vector { float x, y, z; };
    struct Ray { Vector from, to; };
    struct Sphere { Vector centre; float radius; unsigned char colour[4]; };
    __device__ float dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
    __device__ Vector minus(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    __device__ bool hit(const Ray& r, const Sphere& s, float& t) {
        Vector o = minus(r.from, s.centre);
        float a = dot(r.to, r.to), b = dot(o, r.to), c = dot(o, o) - s.radius * s.radius, d = b * b - a * c;
        if (d < 0) return false;
        t = (-b - sqrtf(d)) / a;
        return t > 0;
    }
    __global__ void trace(const Sphere* spheres, int n, uchar4* image, float* depth, int w) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        Ray r = {{0, 0, 0}, {(float)(2 * x - w), (float)(2 * y - w), (float)w}};
        float near = 1e30f; int which = -1;
        for (int i = 0; i < n; ++i) { float t; if (hit(r, spheres[i], t) && t < near) { near = t; which = i; } }
        uchar4 c = make_uchar4(0, 0, 0, 255);
        if (which >= 0) { const unsigned char* k = spheres[which].colour; c = make_uchar4(k[0], k[1], k[2], k[3]); }
        image[y * w + x] = c; depth[y * w + x] = which < 0 ? -1 : near;
    }"""
    n, w = 9, 24
    spheres = np.zeros(n, [("centre", "f4", 3), ("radius", "f4"), ("colour", "u1", 4)])
    spheres["centre"] = integers((n, 3), -20, 20)
    spheres["centre"][:, 2] += 40
    spheres["radius"], spheres["colour"] = integers(n, 5, 12), integers((n, 4), 0, 255, seed=3)
    _, image, depth = gpu(
        source, spheres.view("uint8"), n, zeros((w, w, 4), "uint8"), zeros((w, w), "float32"), w,
        grid=(3, 6), block=(8, 4), options=EXACT,
    )  # fmt: skip
    x, y = np.meshgrid(np.arange(w), np.arange(w))
    to = np.stack([2 * x - w, 2 * y - w, np.full_like(x, w)], -1).astype("float32")
    near, colour = np.full((w, w), 1e30, "float32"), np.zeros((w, w, 4), "uint8")
    colour[..., 3] = 255
    for s in spheres:
        o = -s["centre"]
        a, b = (to * to).sum(-1), (to * o).sum(-1)
        d = b * b - a * ((o * o).sum() - s["radius"] ** 2)
        with np.errstate(invalid="ignore"):
            t = (-b - np.sqrt(d)) / a
        better = (d >= 0) & (t > 0) & (t < near)
        near, colour = np.where(better, t, near), np.where(better[..., None], s["colour"], colour)
    assert (image == colour).all()
    np.testing.assert_allclose(depth, np.where(near > 1e29, -1, near), rtol=1e-6)
    assert (depth > 0).sum() > 20


def test_quaternion_rotation(gpu: Gpu) -> None:
    source = """
    struct Quaternion {
        float w, x, y, z;
        __device__ Quaternion operator*(const Quaternion& o) const {
            return {w * o.w - x * o.x - y * o.y - z * o.z, w * o.x + x * o.w + y * o.z - z * o.y,
                    w * o.y - x * o.z + y * o.w + z * o.x, w * o.z + x * o.y - y * o.x + z * o.w};
        }
        __device__ Quaternion conjugate() const { return {w, -x, -y, -z}; }
    };
    __global__ void rotate(const Quaternion* q, const float3* v, float3* out) {
        int i = threadIdx.x;
        Quaternion r = q[i] * Quaternion{0, v[i].x, v[i].y, v[i].z} * q[i].conjugate();
        out[i] = make_float3(r.x, r.y, r.z);
    }"""
    q, v = integers((50, 4), -9, 9).astype("float32"), integers((50, 3), -9, 9, seed=2).astype("float32")
    *_, out = gpu(source, q, v, np.zeros_like(v), block=50)
    w, u = q[:, :1], q[:, 1:]
    expected = (
        (w * w - (u * u).sum(1, keepdims=True)) * v + 2 * (u * v).sum(1, keepdims=True) * u + 2 * w * np.cross(u, v)
    )
    assert (out == expected).all()


@levels("-O0", "-O1", "-Os")
def test_mandelbrot(gpu: Gpu) -> None:
    source = """
    __global__ void mandelbrot(unsigned char* out, int w, int most) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        float a = x * 0.0625f - 2.0f, b = y * 0.0625f - 1.5f, u = 0, v = 0;
        int n = 0;
        while (u * u + v * v <= 4 && n < most) { float t = u * u - v * v + a; v = 2 * u * v + b; u = t; ++n; }
        out[y * w + x] = n;
    }"""
    (out,) = gpu(source, zeros((48, 48), "uint8"), 48, 60, grid=(3, 6), block=(16, 8), options=EXACT)
    x, y = np.meshgrid(np.arange(48, dtype="float32"), np.arange(48, dtype="float32"))
    a, b = x / 16 - 2, y / 16 - np.float32(1.5)
    u, v, n = np.zeros_like(a), np.zeros_like(a), zeros((48, 48), "uint8")
    for _ in range(60):
        go = u * u + v * v <= 4
        n += go
        u, v = np.where(go, u * u - v * v + a, u), np.where(go, np.float32(2) * u * v + b, v)
    assert (out == n).all()


def test_julia_set_in_double_with_smooth_colours(gpu: Gpu) -> None:
    source = """
    __global__ void julia(float* out, int w, double cx, double cy) {
        int x = threadIdx.x, y = blockIdx.x, n = 0;
        double u = 3.0 * x / w - 1.5, v = 3.0 * y / w - 1.5;
        for (; n < 80 && u * u + v * v < 256; ++n) { double t = u * u - v * v + cx; v = 2 * u * v + cy; u = t; }
        out[y * w + x] = n < 80 ? n + 1 - log2f(0.5f * log2f((float)(u * u + v * v))) : 80.0f;
    }"""
    (out,) = gpu(source, zeros((32, 32), "float32"), 32, -0.8, 0.156, grid=32, block=32, options=EXACT)
    for y in range(32):
        for x in range(32):
            u, v, n = 3.0 * x / 32 - 1.5, 3.0 * y / 32 - 1.5, 0
            while n < 80 and u * u + v * v < 256:
                u, v, n = u * u - v * v - 0.8, 2 * u * v + 0.156, n + 1
            wanted = n + 1 - math.log2(0.5 * math.log2(u * u + v * v)) if n < 80 else 80
            assert out[y, x] == pytest.approx(wanted, abs=2e-4)


def test_ising_model_with_counter_based_random_numbers(gpu: Gpu) -> None:
    source = """
    __device__ unsigned hash(unsigned x) { x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b;
        return x ^ x >> 16; }
    __global__ void sweep(signed char* s, int n, int parity, unsigned seed, const unsigned* accept) {
        int x = threadIdx.x, y = blockIdx.x;
        if ((x + y) % 2 != parity) return;
        int around = s[y * n + (x + 1) % n] + s[y * n + (x + n - 1) % n] + s[(y + 1) % n * n + x] + s[(y
            + n - 1) % n * n + x];
        int e = s[y * n + x] * around;
        if (e <= 0 || hash((y * n + x) * 2654435761u ^ seed) < accept[e]) s[y * n + x] = -s[y * n + x];
    }"""

    def hashed(x: np.ndarray) -> np.ndarray:
        x = x ^ x >> np.uint32(16)
        x = x * np.uint32(0x7FEB352D)
        x = x ^ x >> np.uint32(15)
        x = x * np.uint32(0x846CA68B)
        return x ^ x >> np.uint32(16)

    n = 24
    s = (integers((n, n), 0, 2) * 2 - 1).astype("int8")
    accept = np.array([int(math.exp(-2 * e / 2.3) * (2**32 - 1)) for e in range(5)], "uint32")
    device, table = gpulab.to_device(s), gpulab.to_device(accept)
    sweep = gpu.module(source).sweep
    x, y = np.meshgrid(np.arange(n), np.arange(n))
    for k in range(8):
        sweep[n, n](device, n, k % 2, 1000 + k, table)
        around = sum(np.roll(s, d, axis) for d in (1, -1) for axis in (0, 1))
        e = s * around
        draw = hashed((y * n + x).astype("uint32") * np.uint32(2654435761) ^ np.uint32(1000 + k))
        flip = ((x + y) % 2 == k % 2) & ((e <= 0) | (draw < accept[np.maximum(e, 0)]))
        s = np.where(flip, -s, s).astype("int8")
    assert (device.to_host() == s).all()


@pytest.mark.full
def test_black_scholes(gpu: Gpu) -> None:
    source = """
    __device__ double phi(double x) { return 0.5 * erfc(-x * 0.7071067811865476); }
    __global__ void price(const double* s, const double* k, double* call, double* put, double r, double v, double t) {
        int i = threadIdx.x;
        double a = (log(s[i] / k[i]) + (r + 0.5 * v * v) * t) / (v * sqrt(t)), b = a - v * sqrt(t), d = exp(-r * t);
        call[i] = s[i] * phi(a) - k[i] * d * phi(b);
        put[i] = k[i] * d * phi(-b) - s[i] * phi(-a);
    }"""
    s, k = floats(64, 50, 150, "float64"), floats(64, 50, 150, "float64", 4)
    _, _, call, put = gpu(source, s, k, zeros(64, "float64"), zeros(64, "float64"), 0.03, 0.25, 0.75)
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
    for i in range(64):
        a = (math.log(s[i] / k[i]) + (0.03 + 0.03125) * 0.75) / (0.25 * math.sqrt(0.75))
        b, d = a - 0.25 * math.sqrt(0.75), math.exp(-0.0225)
        assert call[i] == pytest.approx(s[i] * phi(a) - k[i] * d * phi(b), abs=1e-11)
        assert put[i] == pytest.approx(k[i] * d * phi(-b) - s[i] * phi(-a), abs=1e-11)


@levels("-O0")
def test_float_rounding_and_edges(gpu: Gpu) -> None:
    source = """
    __global__ void edges(const float* x, float* out, int* whole, unsigned char* kinds, int n) {
        int i = threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        float r[] = {floorf(v), ceilf(v), truncf(v), rintf(v), roundf(v), fabsf(v), sqrtf(fabsf(v)), 1.0f / v, v * v,
            v / 3.0f,
                     copysignf(2.0f, v), fminf(v, 1.0f), fmaxf(v, 1.0f), fmodf(v, 0.75f), ldexpf(v, -5)};
        for (int k = 0; k < 15; ++k) out[k * n + i] = r[k];
        whole[i] = v > -1e9f && v < 1e9f ? (int)v : 0; whole[n + i] = v > -1e9f && v < 1e9f ? __float2int_rn(v) : 0;
        kinds[i] = isnan(v) | isinf(v) << 1 | signbit(v) << 2 | isfinite(v) << 3;
    }"""
    special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        1e-40,
        -1e-45,
        3.4e38,
        float("inf"),
        float("-inf"),
        float("nan"),
        8388608.5,
    ]
    x = np.array([*special, *floats(30, -100, 100)], "float32")
    n = len(x)
    _, out, whole, kinds = gpu(source, x, zeros((15, n), "float32"), zeros((2, n)), zeros(n, "uint8"), n)
    f = np.float32
    with np.errstate(all="ignore"):
        rounded = np.trunc(x) + np.copysign(abs(x - np.trunc(x)) >= 0.5, x).astype("float32")
        expected = [
            np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), rounded, abs(x), np.sqrt(abs(x)), f(1) / x, x * x,
                x / f(3),
            np.copysign(f(2), x), np.fmin(x, f(1)), np.fmax(x, f(1)), np.fmod(x, f(0.75)), np.ldexp(x, -5),
        ]  # fmt: skip
        inside = np.where(abs(x) < 1e9, x, 0)
    np.testing.assert_array_equal(out, np.array(expected, "float32"))
    assert (np.signbit(out) == np.signbit(np.array(expected, "float32")))[~np.isnan(out)].all()
    assert (whole == [np.trunc(inside), np.rint(inside)]).all()
    wanted = np.isnan(x) | np.isinf(x) << 1 | np.signbit(x).astype(int) << 2 | np.isfinite(x).astype(int) << 3
    assert ((kinds & 11) == (wanted & 11)).all()
    assert (kinds == wanted)[~np.isnan(x)].all()


def test_kahan_and_two_sum(gpu: Gpu) -> None:
    source = """
    __global__ void sum(const float* x, int each, float* plain, float* kahan, float2* pair) {
        float s = 0, k = 0, c = 0, hi = 0, lo = 0;
        for (int i = 0; i < each; ++i) {
            float v = x[threadIdx.x * each + i];
            s += v;
            float y = v - c, t = k + y; c = (t - k) - y; k = t;
            float a = hi + v, b = a - hi; lo += (hi - (a - b)) + (v - b); hi = a;
        }
        plain[threadIdx.x] = s; kahan[threadIdx.x] = k; pair[threadIdx.x] = make_float2(hi, lo);
    }"""
    x = (floats((32, 60)) * 10.0 ** integers((32, 60), -5, 5)).astype("float32")
    plain, kahan, pair = gpu(
        source, x, 60, zeros(32, "float32"), zeros(32, "float32"), zeros((32, 2), "float32"), block=32
    )[1:]
    s = k = c = hi = lo = np.zeros(32, "float32")
    for v in x.T:
        s = s + v
        y = v - c
        t = k + y
        c, k = (t - k) - y, t
        a = hi + v
        b = a - hi
        lo, hi = lo + ((hi - (a - b)) + (v - b)), a
    assert (plain == s).all()
    assert (kahan == k).all()
    assert (pair == np.stack([hi, lo], 1)).all()
    np.testing.assert_allclose(pair.astype("float64").sum(1), x.astype("float64").sum(1), rtol=1e-9)


def test_polynomial_and_continued_fraction(gpu: Gpu) -> None:
    source = """
    template <int n> struct Horner { static __device__ float at(const float* c, float x) {
        return fmaf(Horner<n - 1>::at(c, x), x, c[n]); } };
    template <> struct Horner<0> { static __device__ float at(const float* c, float) { return c[0]; } };
    __global__ void evaluate(const float* c, const float* x, float* out) {
        int i = threadIdx.x;
        out[i] = Horner<7>::at(c, x[i]);
        double f = 0;
        for (int k = 20; k > 0; --k) f = k * k * (double)x[i] * x[i] / (2 * k + 1 + f);
        out[64 + i] = x[i] / (1 + f);
    }"""
    from fractions import Fraction

    c, x = floats(8), floats(64)
    *_, out = gpu(source, c, x, zeros((2, 64), "float32"))
    for i, v in enumerate(x.tolist()):
        r = np.float32(c[0])
        for k in range(1, 8):
            exact = Fraction(float(r)) * Fraction(v) + Fraction(float(c[k]))
            r = _rounded(exact)
        assert out[0, i] == r
        assert out[1, i] == pytest.approx(math.atan(v), rel=1e-6)


def _rounded(exact: object) -> np.float32:
    """The float32 nearest to a fraction, ties to even."""
    from fractions import Fraction

    assert isinstance(exact, Fraction)
    guess = np.float32(float(exact))
    around = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(around, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view("uint32")) & 1))
