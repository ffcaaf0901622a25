"""What C++ offers to device code: recursion, pointers to functions, virtual functions, templates, structures, local
arrays, constants and variables of a module, dynamic LDS, cooperation between lanes, pipelines of kernels."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

import gpulab
from tests.kernels.harness import Gpu, floats, integers, levels, words, zeros

# ---- calls ----------------------------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os")
def test_recursion(gpu: Gpu) -> None:
    source = """
    __device__ __attribute__((noinline)) int ackermann(int m, int n) {
        if (m == 0) return n + 1;
        if (n == 0) return ackermann(m - 1, 1);
        return ackermann(m - 1, ackermann(m, n - 1));
    }
    __device__ __attribute__((noinline)) unsigned fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
    __global__ void run(int* a, unsigned* f) { a[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x / 8);
        f[threadIdx.x] = fibonacci(threadIdx.x % 9); }"""
    a, f = gpu(source, zeros(40), zeros(40, "uint32"), block=40)

    def ackermann(m: int, n: int) -> int:
        return n + 1 if m == 0 else ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))

    assert a.tolist() == [ackermann(t % 3, t // 8) for t in range(40)]
    assert f.tolist() == [(0, 1, 1, 2, 3, 5, 8, 13, 21)[t % 9] for t in range(40)]


def test_mutual_recursion_over_an_expression(gpu: Gpu) -> None:
    source = """
    __device__ int sum(const char*& p);
    __device__ __attribute__((noinline)) int atom(const char*& p) {
        if (*p == '(') { ++p; int v = sum(p); ++p; return v; }
        int v = 0;
        while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
        return v;
    }
    __device__ __attribute__((noinline)) int product(const char*& p) { int v = atom(p); while (*p == '*') { ++p;
        v *= atom(p); } return v; }
    __device__ __attribute__((noinline)) int sum(const char*& p) {
        int v = product(p);
        while (*p == '+' || *p == '-') { char c = *p++; int w = product(p); v = c == '+' ? v + w : v - w; }
        return v;
    }
    __global__ void evaluate(const char* text, int each, int* out) { const char* p = text + each * threadIdx.x;
        out[threadIdx.x] = sum(p); }"""
    texts = ["1+2*3", "(1+2)*3", "10-4-3", "2*(3+4)*5-(6-1)", "((((7))))", "12*(3-(4-5)*6)+1"] * 6
    data = np.stack([np.frombuffer(t.encode().ljust(24, b"\0"), "int8") for t in texts])
    _, out = gpu(source, data, 24, zeros(36), block=36)
    assert out.tolist() == [eval(t) for t in texts]


@levels("-O0", "-O1")
def test_pointers_to_functions_chosen_per_lane(gpu: Gpu) -> None:
    source = """
    typedef int (*Operation)(int, int);
    __device__ int plus(int a, int b) { return a + b; }
    __device__ int minus(int a, int b) { return a - b; }
    __device__ int times(int a, int b) { return a * b; }
    __device__ int either(int a, int b) { return a | b; }
    __device__ Operation table[4] = {plus, minus, times, either};
    __global__ void apply(const int* a, const int* b, const unsigned char* which, int* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = table[which[i]](a[i], b[i]);
    }"""
    a, b, which = integers(128), integers(128, seed=2), integers(128, 0, 4, "uint8", 3)
    *_, out = gpu(source, a, b, which, zeros(128), grid=2)
    assert (out == np.choose(which, [a + b, a - b, a * b, a | b])).all()


@levels("-O0", "-O1")
def test_virtual_functions(gpu: Gpu) -> None:
    source = """
    struct Shape { __device__ virtual float area() const { return 0; } __device__ virtual int corners() const {
        return 0; } };
    struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override {
        return 3 * r * r; } };
    struct Box : Shape {
        float w, h;
        __device__ Box(float w, float h) : w(w), h(h) {}
        __device__ float area() const override { return w * h; }
        __device__ int corners() const override { return 4; }
    };
    struct Square : Box { __device__ Square(float w) : Box(w, w) {} };
    __device__ __attribute__((noinline)) void measure(const Shape& s, float* area, int* corners) { *area = s.area();
        *corners = s.corners(); }
    __global__ void run(const float* x, float* areas, int* corners) {
        int i = threadIdx.x;
        Circle c(x[i]); Box b(x[i], 2); Square q(x[i]);
        const Shape* shapes[] = {&c, &b, &q};
        measure(*shapes[i % 3], areas + i, corners + i);
    }"""
    x = integers(60, 1, 50).astype("float32")
    _, areas, corners = gpu(source, x, zeros(60, "float32"), zeros(60), block=60)
    assert (areas == np.choose(np.arange(60) % 3, [3 * x * x, 2 * x, x * x])).all()
    assert (corners == np.where(np.arange(60) % 3, 4, 0)).all()


def test_many_arguments_and_structures_by_value(gpu: Gpu) -> None:
    source = """
    struct Big { int a[9]; double d; char c; };
    __device__ __attribute__((noinline)) Big turn(Big b, int by) { Big r = b; for (int i = 0; i < 9;
        ++i) r.a[(i + by) % 9] = b.a[i]; r.d += by; r.c = -b.c; return r; }
    __device__ __attribute__((noinline)) long long many(int a, long long b, float c, double d, short e, char f,
        unsigned g, bool h,
        int i, int j, int k, int l, int m, int n, int o, int p, int q, int r, int s, int t, int u, int v, int w,
            int x, int y, int z,
        int a2, int b2, int c2, int d2, int e2, int f2, int g2, int h2) {
        return a + b + (long long)c + (long long)d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t
            + u + v + w + x + y + z
               + a2 + b2 + c2 + d2 + e2 + f2 + g2 + 1000ll * h2;
    }
    __global__ void run(Big b, int* out, double* d, long long* sums) {
        int t = threadIdx.x;
        Big r = turn(b, t);
        for (int i = 0; i < 9; ++i) out[t * 9 + i] = r.a[i];
        d[t] = r.d * r.c;
        sums[t] = many(t, 1ll << 40, 2.5f, 3.5, -4, 5, 6u, true, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t,
            t, t, t, t, t, t, t, t);
    }"""
    big = np.zeros((), [("a", "i4", 9), ("pad", "i4"), ("d", "f8"), ("c", "i1"), ("pad2", "i1", 7)])
    big["a"], big["d"], big["c"] = np.arange(9) * 11, 0.5, 3
    out, d, sums = gpu(source, big[()], zeros((32, 9)), zeros(32, "float64"), zeros(32, "int64"), block=32)
    assert (out == [np.roll(big["a"], t) for t in range(32)]).all()
    assert d.tolist() == [(0.5 + t) * -3 for t in range(32)]
    assert sums.tolist() == [t + 2**40 + 2 + 3 - 4 + 5 + 6 + 1 + 25 * t + 1000 * t for t in range(32)]


def test_templates_lambdas_and_constexpr(gpu: Gpu) -> None:
    source = """
    constexpr int squares(int n) { return n ? n * n + squares(n - 1) : 0; }
    template <class F, class... R> __device__ int fold(F f, int first, R... rest) {
        int v = first;
        ((v = f(v, rest)), ...);
        return v;
    }
    template <int n> __device__ int digits(int x) { if constexpr (n == 0) return 0;
        else return x % 10 + digits<n - 1>(x / 10); }
    __global__ void run(int* out) {
        int t = threadIdx.x, seen = 0;
        auto add = [&seen](int a, int b) { ++seen; return a + b; };
        static_assert(squares(5) == 55);
        out[t] = fold(add, t, t + 1, t * 2, squares(4)) * 100 + seen;
        out[64 + t] = digits<5>(t * 1237);
    }"""
    (out,) = gpu(source, zeros(128), options=("-std=c++20",))
    assert out[:64].tolist() == [(4 * t + 1 + 30) * 100 + 3 for t in range(64)]
    assert out[64:].tolist() == [sum(map(int, str(t * 1237)[-5:])) for t in range(64)]


# ---- control flow ---------------------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os")
def test_a_small_virtual_machine(gpu: Gpu) -> None:
    source = """
    enum { PUSH, ADD, MUL, SUB, DUP, SWAP, JNZ, DEC, END };
    __global__ void interpret(const signed char* code, const int* inputs, int* out, int* steps) {
        int stack[16], top = 0, pc = 0, n = 0;
        stack[top++] = inputs[threadIdx.x];
        for (bool run = true; run; ++n) {
            switch (code[pc++]) {
                case PUSH: stack[top++] = code[pc++]; break;
                case ADD: --top; stack[top - 1] += stack[top]; break;
                case MUL: --top; stack[top - 1] *= stack[top]; break;
                case SUB: --top; stack[top - 1] -= stack[top]; break;
                case DUP: stack[top] = stack[top - 1]; ++top; break;
                case SWAP: { int t = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = t; break; }
                case DEC: --stack[top - 1]; break;
                case JNZ: pc += stack[top - 1] ? code[pc] + 1 : 1; break;
                default: run = false;
            }
        }
        out[threadIdx.x] = stack[top - 2]; steps[threadIdx.x] = n;
    }"""
    # total = 1; do total *= 3; while (--n)
    code = np.array([0, 1, 5, 5, 0, 3, 2, 5, 7, 6, -8, 8], "int8")
    inputs = integers(64, 1, 9)
    *_, out, steps = gpu(source, code, inputs, zeros(64), zeros(64))
    assert (out == 3**inputs).all()
    assert (steps == 3 + 6 * inputs).all()


def test_nested_loops_with_break_and_continue(gpu: Gpu) -> None:
    source = """
    __global__ void run(const int* in, int* out) {
        int v = in[threadIdx.x], s = 0;
        for (int i = 0; i < 12; ++i) {
            if ((v >> i) & 1) continue;
            for (int j = i; j < 12; ++j) {
                if (((v >> j) & 3) == 3) { s += 100; break; }
                int k = v % (j + 2);
                while (k > 0) { if (k == 3) goto next; s += k; k -= 2; }
            }
            s ^= i;
            next: if (s > 2000) break;
        }
        out[threadIdx.x] = s;
    }"""
    x = integers(64, 0, 4096)
    _, out = gpu(source, x, zeros(64))

    def run(v: int) -> int:
        s = 0
        for i in range(12):
            if v >> i & 1:
                continue
            jumped = False
            for j in range(i, 12):
                if v >> j & 3 == 3:
                    s += 100
                    break
                k = v % (j + 2)
                while k > 0:
                    if k == 3:
                        jumped = True
                        break
                    s, k = s + k, k - 2
                if jumped:
                    break
            if not jumped:
                s ^= i
            if s > 2000:
                break
        return s

    assert out.tolist() == [run(v) for v in x.tolist()]


def test_divergent_early_returns_and_partial_waves(gpu: Gpu) -> None:
    source = """
    __global__ void run(const int* in, int* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = in[i];
        if (v < 0) { out[i] = -1; return; }
        if (v % 2) { if (v % 3 == 0) return; out[i] = v / 2; return; }
        do { v /= 2; if (v == 7) break; } while (v % 2 == 0 && v);
        out[i] = v;
    }"""
    x = integers(333)
    _, out = gpu(source, x, np.full(333, 5, "int32"), 333, grid=5, block=77)

    def run(v: int) -> int:
        if v < 0:
            return -1
        if v % 2:
            return 5 if v % 3 == 0 else v // 2
        while True:
            v //= 2
            if v == 7 or v % 2 or v == 0:
                return v

    assert out.tolist() == [run(v) for v in x.tolist()]


# ---- memory ---------------------------------------------------------------------------------------------------------


@levels("-O0", "-O1")
def test_local_arrays_of_all_widths(gpu: Gpu) -> None:
    source = """
    __global__ void run(const unsigned char* order, double* out) {
        signed char a[7]; short b[7]; int c[7]; long long d[7]; float e[7]; double f[7]; bool g[7];
        for (int i = 0; i < 7; ++i) {
            a[i] = i - 3; b[i] = i * -1000; c[i] = i << 20; d[i] = (long long)i << 40; e[i] = i * 0.5f;
                f[i] = i / 7.0; g[i] = i & 1;
        }
        double s = 0;
        for (int k = 0; k < 7; ++k) {
            int i = order[threadIdx.x * 7 + k];
            s = s * 0.5 + a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i];
            a[i] += k; b[(i + 1) % 7] = a[i]; c[6 - i] ^= k; g[i] = !g[i];
        }
        out[threadIdx.x] = s;
    }"""
    order = integers((64, 7), 0, 7, "uint8")
    _, out = gpu(source, order, zeros(64, "float64"), options=("-ffp-contract=off",))
    for row, got in zip(order.tolist(), out.tolist(), strict=True):
        a, b, c = [i - 3 for i in range(7)], [i * -1000 for i in range(7)], [i << 20 for i in range(7)]
        g = [i & 1 for i in range(7)]
        s = 0.0
        for k, i in enumerate(row):
            s = s * 0.5 + a[i] + b[i] + c[i] + (i << 40) + i * 0.5 + i / 7.0 + g[i]
            a[i] += k
            b[(i + 1) % 7], c[6 - i], g[i] = a[i], c[6 - i] ^ k, 1 - g[i]
        assert got == s


def test_two_dimensional_local_array_and_pointers_into_it(gpu: Gpu) -> None:
    source = """
    __device__ __attribute__((noinline)) void exchange(int* a, int* b) { int t = *a; *a = *b; *b = t; }
    __global__ void run(int* out, int k) {
        int m[4][4];
        for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) m[i][j] = threadIdx.x * 100 + i * 10 + j;
        for (int i = 0; i < 4; ++i) for (int j = i + 1; j < 4; ++j) exchange(&m[i][j], &m[j][i]);
        int* p = threadIdx.x % 2 ? m[1] : m[k];
        exchange(p, p + 3);
        for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = m[i / 4][i % 4];
    }"""
    (out,) = gpu(source, zeros((48, 4, 4)), 2, block=48)
    for t in range(48):
        m = (t * 100 + np.arange(4)[:, None] * 10 + np.arange(4)).T
        row = 1 if t % 2 else 2
        m[row, [0, 3]] = m[row, [3, 0]]
        assert (out[t] == m).all()


def test_dynamic_lds_of_several_types(gpu: Gpu) -> None:
    source = """
    __global__ void run(const short* in, double* out, int n) {
        extern __shared__ __align__(16) unsigned char memory[];
        double* d = (double*)memory; int* c = (int*)(d + n); short* s = (short*)(c + n);
        int t = threadIdx.x;
        s[t] = in[t]; c[t] = in[t] * in[t]; d[t] = in[t] / 8.0;
        __syncthreads();
        int o = n - 1 - t;
        out[t] = d[o] + c[o] + s[o];
    }"""
    x = integers(100, dtype="int16")
    _, out = gpu(source, x, zeros(100, "float64"), 100, block=100, lds=1400)
    v = x[::-1].astype("float64")
    assert (out == v / 8 + v * v + v).all()


@levels("-O0")
def test_constants_globals_and_statics(gpu: Gpu) -> None:
    source = """
    struct Entry { char name[6]; short code; double value; };
    __constant__ Entry entries[3] = {{"one", 1, 1.5}, {"two", -2, 2.25}, {"three", 30000, -1e100}};
    __constant__ int weights[8];
    __device__ int counter = 5;
    __device__ unsigned char flags[10] = {1, 2, 3};
    __device__ int* cell = &counter;
    __global__ void run(int* out, double* values) {
        int t = threadIdx.x;
        const Entry& e = entries[t % 3];
        out[t] = e.name[t % 6] + e.code + weights[t % 8] + flags[t % 10];
        values[t] = e.value;
        atomicAdd(cell, 1);
    }"""
    module = gpu.module(source)
    weights = integers(8)
    module.variable("weights", "int32").copy_from(weights)
    out, values = gpulab.zeros(64, "int32"), gpulab.zeros(64, "float64")
    module.run[1, 64](out, values)
    module.run[1, 64](out, values)
    names, codes = [b"one\0\0\0", b"two\0\0\0", b"three\0"], [1, -2, 30000]
    flags = [1, 2, 3, *[0] * 7]
    assert out.to_host().tolist() == [
        names[t % 3][t % 6] + codes[t % 3] + weights[t % 8] + flags[t % 10] for t in range(64)
    ]
    assert values.to_host().tolist() == [(1.5, 2.25, -1e100)[t % 3] for t in range(64)]
    assert module.variable("counter", "int32").to_host()[0] == 133


def test_grid_stride_over_three_axes(gpu: Gpu) -> None:
    source = """
    __global__ void run(int* out, int nx, int ny, int nz) {
        for (int z = blockIdx.z * blockDim.z + threadIdx.z; z < nz; z += blockDim.z * gridDim.z)
            for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < ny; y += blockDim.y * gridDim.y)
                for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < nx; x += blockDim.x * gridDim.x)
                    atomicAdd(&out[(z * ny + y) * nx + x], z * 10000 + y * 100 + x);
    }"""
    (out,) = gpu(source, zeros((7, 9, 23)), 23, 9, 7, grid=(2, 2, 3), block=(5, 3, 2))
    z, y, x = np.indices((7, 9, 23))
    assert (out == z * 10000 + y * 100 + x).all()


def test_structures_with_bit_fields_and_unions(gpu: Gpu) -> None:
    source = """
    struct Packed { unsigned a : 5; int b : 7; unsigned c : 20; };
    union Word { unsigned u; float f; Packed p; unsigned char bytes[4]; unsigned short halves[2]; };
    __global__ void run(const unsigned* in, int* out, unsigned* changed) {
        Word w; w.u = in[threadIdx.x];
        int* o = out + threadIdx.x * 5;
        o[0] = w.p.a; o[1] = w.p.b; o[2] = w.p.c; o[3] = w.bytes[2]; o[4] = w.halves[1];
        w.p.b += 3; w.p.a = 17; w.bytes[3] ^= 0x5a;
        changed[threadIdx.x] = w.u;
    }"""
    x = words(64)
    _, out, changed = gpu(source, x, zeros((64, 5)), zeros(64, "uint32"))
    for u, row, after in zip(x.tolist(), out.tolist(), changed.tolist(), strict=True):
        b = (u >> 5 & 127) - (u >> 11 & 1) * 128
        assert row == [u & 31, b, u >> 12, u >> 16 & 255, u >> 16]
        assert after == (u & ~0xFFF | 17 | (b + 3 & 127) << 5) ^ 0x5A << 24


def test_vector_types_and_unaligned_bytes(gpu: Gpu) -> None:
    source = """
    __global__ void run(const float4* a, const int3* b, const char3* c, const ushort2* d, float4* out, int* whole) {
        int i = threadIdx.x;
        float4 v = a[i]; int3 w = b[i]; char3 x = c[i]; ushort2 y = d[i];
        out[i] = make_float4(v.w, v.x + w.y, v.y * x.z, v.z - y.x);
        const unsigned char* p = (const unsigned char*)c + i + 1;
        int u; __builtin_memcpy(&u, p, 4);
        whole[i] = u + w.x + w.z + x.x * x.y + y.y;
    }"""
    a, b = integers((40, 4)).astype("float32"), integers((40, 3))
    c, d = words((40, 3), "int8"), words((40, 2), "uint16")
    *_, out, whole = gpu(source, a, b, c, d, np.zeros_like(a), zeros(40), block=40)
    assert (out == np.stack([a[:, 3], a[:, 0] + b[:, 1], a[:, 1] * c[:, 2], a[:, 2] - d[:, 0]], 1)).all()
    raw = c.tobytes()
    u = np.array([int.from_bytes(raw[i + 1 : i + 5], "little", signed=True) for i in range(40)])
    expected = u + b[:, 0] + b[:, 2] + c[:, 0].astype(int) * c[:, 1] + d[:, 1]
    assert (whole == expected.astype("int32")).all()


# ---- lanes, blocks and kernels together -----------------------------------------------------------------------------


@levels("-O0", "-O1")
def test_shuffles_and_votes_in_divergent_code(gpu: Gpu) -> None:
    source = """
    __global__ void run(const int* in, int* out, unsigned long long* masks) {
        int t = threadIdx.x, v = in[t], r = 0;
        if (v > 0) {
            unsigned long long m = __ballot(v % 2);
            masks[t] = m;
            int lane = __lane_id();
            r = __popcll(m & ((1ull << lane) - 1));
        } else {
            masks[t] = __ballot(1);
            r = __shfl(v, __ffsll(__activemask()) - 1);
        }
        out[t] = r;
    }"""
    x = integers(128)
    _, out, masks = gpu(source, x, zeros(128), zeros(128, "uint64"), block=128)
    for start in range(0, 128, gpu.wave):
        wave = x[start : start + gpu.wave].tolist()
        odd = sum(1 << k for k, v in enumerate(wave) if v > 0 and v % 2)
        rest = sum(1 << k for k, v in enumerate(wave) if v <= 0)
        first = (rest & -rest).bit_length() - 1
        for k, v in enumerate(wave):
            assert masks[start + k] == (odd if v > 0 else rest)
            assert out[start + k] == ((odd & (1 << k) - 1).bit_count() if v > 0 else wave[first])


def test_match_of_equal_values(gpu: Gpu) -> None:
    source = """
    __global__ void run(const int* in, unsigned long long* out) {
        int v = in[threadIdx.x];
        unsigned long long rest = __ballot(1), mine = 0;
        while (rest) {
            int leader = __ffsll(rest) - 1, w = __shfl(v, leader);
            unsigned long long same = __ballot(v == w);
            if (v == w) mine = same;
            rest &= ~same;
        }
        out[threadIdx.x] = mine;
    }"""
    x = integers(128, 0, 9)
    _, out = gpu(source, x, zeros(128, "uint64"), block=128)
    for start in range(0, 128, gpu.wave):
        wave = x[start : start + gpu.wave].tolist()
        assert out[start : start + gpu.wave].tolist() == [
            sum(1 << k for k, w in enumerate(wave) if w == v) for v in wave
        ]


def test_spin_lock_across_blocks(gpu: Gpu) -> None:
    source = """
    __global__ void run(int* lock, int* data) {
        if (threadIdx.x) return;
        for (int k = 0; k < 5; ++k) {
            while (atomicCAS(lock, 0, 1) != 0) {}
            __threadfence();
            int a = __hip_atomic_load(&data[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            int b = __hip_atomic_load(&data[1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            __hip_atomic_store(&data[0], b, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            __hip_atomic_store(&data[1], a + b, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            __threadfence();
            atomicExch(lock, 0);
        }
    }"""
    _, data = gpu(source, zeros(1), np.array([0, 1], "int32"), grid=6)
    a, b = 0, 1
    for _ in range(30):
        a, b = b, a + b
    assert data.tolist() == [a, b]


def test_producer_and_consumer_waves(gpu: Gpu) -> None:
    source = """
    __global__ void run(const int* in, int* out, int rounds) {
        __shared__ int buffer[2][64];
        int t = threadIdx.x % 64;
        bool producer = threadIdx.x < 64;
        int s = 0;
        for (int r = 0; r <= rounds; ++r) {
            if (producer) { if (r < rounds) buffer[r & 1][t] = in[r * 64 + t] * 3; }
            else if (r > 0) s += buffer[(r - 1) & 1][63 - t] ^ r;
            __syncthreads();
        }
        if (!producer) out[t] = s;
    }"""
    x = integers((7, 64))
    _, out = gpu(source, x, zeros(64), 7, block=128)
    assert (out == sum((x[r, ::-1] * 3) ^ (r + 1) for r in range(7))).all()


def test_barriers_with_votes(gpu: Gpu) -> None:
    source = """
    __global__ void run(const int* in, int* out) {
        int v = in[blockIdx.x * blockDim.x + threadIdx.x];
        int a = __syncthreads_count(v > 0), b = __syncthreads_and(v > -900), c = __syncthreads_or(v > 990);
        if (threadIdx.x == 0) { out[3 * blockIdx.x] = a; out[3 * blockIdx.x + 1] = b != 0;
            out[3 * blockIdx.x + 2] = c != 0; }
    }"""
    x = integers((12, 90))
    _, out = gpu(source, x, zeros((12, 3)), grid=12, block=90)
    assert (out == np.stack([(x > 0).sum(1), (x > -900).all(1), (x > 990).any(1)], 1)).all()


def test_pipeline_of_kernels_with_streams(gpu: Gpu) -> None:
    source = """
    __global__ void fill(int* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] = i * 7 % 101; }
    __global__ void map(const int* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i] * 0.5f; }
    __global__ void pairs(const float* y, float* z, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) z[i] = y[i] + y[(i + 1) % n]; }
    __global__ void largest(const float* z, unsigned* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) atomicMax(out, __float_as_uint(z[i])); }"""
    n = 500
    module = gpu.module(source)
    x, y, z, out = gpulab.zeros(n, "int32"), gpulab.zeros(n), gpulab.zeros(n), gpulab.zeros(1, "uint32")
    with gpulab.Stream() as stream:
        module.fill[8, 64, 0, stream](x, n)
        module.map[8, 64, 0, stream](x, y, n)
        module.pairs[8, 64, 0, stream](y, z, n)
        module.largest[8, 64, 0, stream](z, out, n)
        stream.synchronize()
    expected = [i * 7 % 101 * 0.5 for i in range(n)]
    sums = [a + b for a, b in pairwise([*expected, expected[0]])]
    assert z.to_host().tolist() == sums
    assert out.to_host().view("float32")[0] == max(sums)


def test_work_queue_with_dynamic_tasks(gpu: Gpu) -> None:
    source = """
    __global__ void run(int* queue, int* head, int* tail, int* leaves) {
        while (true) {
            int at = atomicAdd(head, 1);
            if (at >= atomicAdd(tail, 0)) { atomicSub(head, 1); return; }
            int n = queue[at];
            if (n <= 2) { atomicAdd(&leaves[n], 1); continue; }
            int where = atomicAdd(tail, 2);
            queue[where] = n / 2; queue[where + 1] = n - n / 2;
        }
    }"""
    queue = zeros(400)
    queue[0] = 77
    *_, leaves = gpu(source, queue, zeros(1), np.array([1], "int32"), zeros(3), block=1)
    counts = [0, 0, 0]
    rest = [77]
    while rest:
        n = rest.pop()
        if n <= 2:
            counts[n] += 1
        else:
            rest += [n // 2, n - n // 2]
    assert leaves.tolist() == counts


def test_half_words_and_saturation(gpu: Gpu) -> None:
    source = """
    __global__ void run(const short* a, const short* b, const unsigned char* c, const unsigned char* d, short* sum,
        unsigned char* mean, short* high) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        int s = a[i] + b[i];
        sum[i] = s > 32767 ? 32767 : s < -32768 ? -32768 : s;
        mean[i] = (c[i] + d[i] + 1) >> 1;
        high[i] = (a[i] * b[i]) >> 16;
    }"""
    a, b, c, d = words(128, "int16"), words(128, "int16", 5), words(128, "uint8"), words(128, "uint8", 5)
    *_, total, mean, high = gpu(source, a, b, c, d, np.zeros_like(a), np.zeros_like(c), np.zeros_like(a), grid=2)
    wide = a.astype(int)
    assert (total == np.clip(wide + b, -32768, 32767)).all()
    assert (mean == (c.astype(int) + d + 1) >> 1).all()
    assert (high == wide * b >> 16).all()


def test_half_precision_numbers(gpu: Gpu) -> None:
    source = """
    __global__ void run(const _Float16* a, const _Float16* b, _Float16* out, unsigned char* order, int n) {
        int i = threadIdx.x;
        _Float16 x = a[i], y = b[i];
        out[i] = x + y; out[n + i] = x * y; out[2 * n + i] = x - y; out[3 * n + i] = x / y; out[4 * n + i] = -x;
        order[i] = (x < y) | (x == y) << 1 | (x > y) << 2;
    }"""
    a, b = floats(64, -100, 100, "float16"), floats(64, -9, 9, "float16", 4)
    a[:3] = b[:3]
    _, _, out, order = gpu(source, a, b, zeros((5, 64), "float16"), zeros(64, "uint8"), 64)
    assert (out == np.stack([a + b, a * b, a - b, a / b, -a])).all()
    assert (order == (a < b) + 2 * (a == b) + 4 * (a > b)).all()


def test_long_kernel_with_many_live_values(gpu: Gpu) -> None:
    live = 90
    body = "".join(f"unsigned x{k} = in[i * {live} + {k}] * {2 * k + 1}u;" for k in range(live))
    rounds = "".join(
        f"x{k} = (x{k} ^ x{(k * 7 + 3) % live}) + (x{(k + 41) % live} >> {k % 13 + 1});" for k in range(live)
    )
    total = " ^ ".join(f"x{k}" for k in range(live))
    source = f"""__global__ void run(const unsigned* in, unsigned* out) {{ int i = threadIdx.x; {body}
        _Pragma("unroll 1") for (int r = 0; r < 3; ++r) {{ {rounds} }} out[i] = {total}; }}"""
    x = words((64, live))
    _, out = gpu(source, x, zeros(64, "uint32"))
    v = [x[:, k] * np.uint32(2 * k + 1) for k in range(live)]
    for _ in range(3):
        for k in range(live):
            v[k] = (v[k] ^ v[(k * 7 + 3) % live]) + (v[(k + 41) % live] >> np.uint32(k % 13 + 1))
    assert (out == np.bitwise_xor.reduce(v)).all()


def test_transcendental_tables(gpu: Gpu) -> None:
    source = """
    __global__ void run(const double* x, double* out, int n) {
        int i = threadIdx.x;
        double v = x[i];
        double r[] = {sin(v), cos(v), tan(v), exp(v), log(v), sqrt(v), cbrt(v), pow(v, 1.7), atan2(v, 2.0), hypot(v,
            3.0), log2(v), exp2(v),
                      sinh(v), asin(v / 10), lgamma(v), erf(v)};
        for (int k = 0; k < 16; ++k) out[k * n + i] = r[k];
    }"""
    x = floats(64, 0.01, 9.9, "float64")
    _, out = gpu(source, x, zeros((16, 64), "float64"), 64)
    functions = [math.sin, math.cos, math.tan, math.exp, math.log, math.sqrt, math.cbrt, lambda v: v**1.7,
        lambda v: math.atan2(v, 2),
                 lambda v: math.hypot(v, 3), math.log2, math.exp2, math.sinh,
                 lambda v: math.asin(v / 10), math.lgamma, math.erf]  # fmt: skip
    np.testing.assert_allclose(out, [[f(v) for v in x.tolist()] for f in functions], rtol=2e-13, atol=1e-14)


def test_bytes_of_a_local_word_at_indices_of_lanes_and_of_all(gpu: Gpu) -> None:
    """Scratch at an address that is the same for all lanes and not a multiple of four."""
    source = """
    __global__ void put(unsigned long long* out, const int* which, int all, unsigned long long word) {
        unsigned char bytes[8];
        __builtin_memcpy(bytes, &word, 8);
        bytes[which[threadIdx.x] & 7] = 0xaa;
        bytes[all & 7] = 0x55;
        __builtin_memcpy(&word, bytes, 8);
        out[threadIdx.x] = word;
    }"""
    which = np.arange(64, dtype="int32") * 3
    for place in (0, 3, 5, 7):
        out, _ = gpu(source, np.zeros(64, "uint64"), which, place, np.uint64(0x0102030405060708))
        expected = np.full(64, 0x0102030405060708, "uint64").view("uint8").reshape(64, 8).copy()
        expected[np.arange(64), which & 7] = 0xAA
        expected[:, place] = 0x55
        assert (out.view("uint8").reshape(64, 8) == expected).all()
