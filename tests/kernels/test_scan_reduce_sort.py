"""Prefix sums, reductions, sorts, compaction and histograms, exact against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import Gpu, floats, integers, levels, words, zeros

# ---- prefix sums ----------------------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os")
def test_hillis_steele_scan(gpu: Gpu) -> None:
    source = """
    __global__ void scan(const int* in, int* out) {
        __shared__ int t[2][256];
        int i = threadIdx.x, from = 0;
        t[0][i] = in[blockIdx.x * 256 + i];
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) {
            t[1 - from][i] = t[from][i] + (i >= d ? t[from][i - d] : 0);
            from = 1 - from;
            __syncthreads();
        }
        out[blockIdx.x * 256 + i] = t[from][i];
    }"""
    x = integers((3, 256))
    _, out = gpu(source, x, zeros(x.shape), grid=3, block=256)
    assert (out == x.cumsum(axis=1)).all()


def test_blelloch_exclusive_scan(gpu: Gpu) -> None:
    source = """
    __global__ void scan(unsigned* data, unsigned* total) {
        __shared__ unsigned t[512];
        int i = threadIdx.x;
        t[2 * i] = data[2 * i]; t[2 * i + 1] = data[2 * i + 1];
        int offset = 1;
        for (int d = 256; d > 0; d >>= 1) {
            __syncthreads();
            if (i < d) t[offset * (2 * i + 2) - 1] += t[offset * (2 * i + 1) - 1];
            offset *= 2;
        }
        if (i == 0) { *total = t[511]; t[511] = 0; }
        for (int d = 1; d < 512; d *= 2) {
            offset >>= 1;
            __syncthreads();
            if (i < d) {
                unsigned a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1, old = t[a];
                t[a] = t[b]; t[b] += old;
            }
        }
        __syncthreads();
        data[2 * i] = t[2 * i]; data[2 * i + 1] = t[2 * i + 1];
    }"""
    x = words(512)
    out, total = gpu(source, x, zeros(1, "uint32"), block=256)
    sums = np.cumsum(x, dtype="uint32")
    assert total[0] == sums[-1]
    assert (out[1:] == sums[:-1]).all()
    assert out[0] == 0


@levels("-O0", "-O1")
def test_scan_by_shuffles(gpu: Gpu) -> None:
    source = """
    __global__ void scan(const long long* in, long long* out, int n) {
        __shared__ long long sums[32];
        int i = threadIdx.x, lane = i % warpSize, wave = i / warpSize;
        long long v = i < n ? in[i] : 0;
        for (int d = 1; d < warpSize; d *= 2) {
            long long o = __shfl_up(v, d);
            if (lane >= d) v += o;
        }
        if (lane == warpSize - 1) sums[wave] = v;
        __syncthreads();
        for (int w = 0; w < wave; ++w) v += sums[w];
        if (i < n) out[i] = v;
    }"""
    x = words(1000, "int64")
    _, out = gpu(source, x, zeros(1000, "int64"), 1000, block=1024)
    assert (out == np.cumsum(x)).all()


def test_three_kernel_scan(gpu: Gpu) -> None:
    import gpulab

    source = """
    __global__ void blocks(const int* in, int* out, int* sums, int n) {
        __shared__ int t[128];
        int i = blockIdx.x * 128 + threadIdx.x, me = threadIdx.x;
        t[me] = i < n ? in[i] : 0;
        for (int d = 1; d < 128; d *= 2) {
            __syncthreads();
            int v = me >= d ? t[me - d] : 0;
            __syncthreads();
            t[me] += v;
        }
        if (i < n) out[i] = t[me];
        if (me == 127) sums[blockIdx.x] = t[me];
    }
    __global__ void top(int* sums, int n) { int s = 0; for (int k = 0; k < n; ++k) { int v = sums[k]; sums[k] = s;
        s += v; } }
    __global__ void add(int* out, const int* sums, int n) {
        int i = blockIdx.x * 128 + threadIdx.x;
        if (i < n) out[i] += sums[blockIdx.x];
    }"""
    n, blocks = 1999, 16
    x = integers(n)
    module = gpu.module(source)
    out, sums = gpulab.zeros(n, "int32"), gpulab.zeros(blocks, "int32")
    module.blocks[blocks, 128](gpulab.to_device(x), out, sums, n)
    module.top[1, 1](sums, blocks)
    module.add[blocks, 128](out, sums, n)
    assert (out.to_host() == x.cumsum()).all()


def test_segmented_scan(gpu: Gpu) -> None:
    source = """
    struct Pair { int value; bool head; };
    __device__ Pair combine(Pair a, Pair b) { return Pair{b.head ? b.value : a.value + b.value, a.head || b.head}; }
    __global__ void scan(const int* in, const unsigned char* heads, int* out) {
        __shared__ Pair t[256];
        int i = threadIdx.x;
        Pair mine = {in[i], heads[i] != 0};
        t[i] = mine;
        for (int d = 1; d < 256; d *= 2) {
            __syncthreads();
            if (i >= d) mine = combine(t[i - d], mine);
            __syncthreads();
            t[i] = mine;
        }
        out[i] = mine.value;
    }"""
    x, heads = integers(256), (integers(256, 0, 10, seed=5) == 0).astype("uint8")
    *_, out = gpu(source, x, heads, zeros(256), block=256)
    running, expected = 0, []
    for value, head in zip(x.tolist(), heads.tolist(), strict=True):
        running = value if head else running + value
        expected.append(running)
    assert out.tolist() == expected


def test_decoupled_lookback_by_one_wave_per_block(gpu: Gpu) -> None:
    source = """
    __global__ void scan(const int* in, int* out, int* ticket, volatile int* state, int* sums, int n) {
        __shared__ int block;
        if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
        __syncthreads();
        int b = block, i = b * 32 + threadIdx.x;
        int v = i < n ? in[i] : 0;
        for (int d = 1; d < 32; d *= 2) { int o = __shfl_up(v, d, 32); if ((int)threadIdx.x >= d) v += o; }
        __shared__ int before;
        if (threadIdx.x == 31) {
            int base = 0;
            if (b > 0) { while (state[b - 1] == 0) {} __threadfence(); base = sums[b - 1]; }
            sums[b] = base + v;
            __threadfence();
            state[b] = 1;
            before = base;
        }
        __syncthreads();
        if (i < n) out[i] = v + before;
    }"""
    x = integers(700)
    blocks = 22
    out = gpu(source, x, zeros(700), zeros(1), zeros(blocks), zeros(blocks), 700, grid=blocks, block=32)[1]
    assert (out == x.cumsum()).all()


def test_maximum_scan_of_doubles(gpu: Gpu) -> None:
    source = """
    __global__ void scan(const double* in, double* out) {
        double v = in[threadIdx.x];
        int lane = threadIdx.x % 32;
        for (int d = 1; d < 32; d <<= 1) { double o = __shfl_up(v, d, 32); if (lane >= d) v = fmax(v, o); }
        out[threadIdx.x] = v;
    }"""
    x = floats((4, 32), -1e9, 1e9, "float64")
    _, out = gpu(source, x, np.zeros_like(x), block=128)
    assert (out == np.maximum.accumulate(x, axis=1)).all()


# ---- reductions -----------------------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os")
def test_tree_reduction_in_lds(gpu: Gpu) -> None:
    source = """
    __global__ void sum(const int* in, int* out, int n) {
        __shared__ int t[256];
        int s = 0;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
        t[threadIdx.x] = s;
        __syncthreads();
        for (int d = blockDim.x / 2; d; d /= 2) {
            if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d];
            __syncthreads();
        }
        if (threadIdx.x == 0) atomicAdd(out, t[0]);
    }"""
    x = integers(5000, -(10**6), 10**6)
    _, out = gpu(source, x, zeros(1), 5000, grid=5, block=256)
    assert out[0] == x.sum(dtype="int32")


OPERATIONS = {
    "min": ("int", "a < b ? a : b", np.minimum),
    "max": ("unsigned", "a > b ? a : b", np.maximum),
    "xor": ("unsigned long long", "a ^ b", np.bitwise_xor),
    "and": ("short", "a & b", np.bitwise_and),
    "or": ("unsigned char", "a | b", np.bitwise_or),
    "product": ("unsigned", "a * b", np.multiply),
}
DTYPES = {
    "int": "int32",
    "unsigned": "uint32",
    "unsigned long long": "uint64",
    "short": "int16",
    "unsigned char": "uint8",
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_reduction_by_shuffles(gpu: Gpu, operation: str) -> None:
    kind, text, reference = OPERATIONS[operation]
    source = f"""
    typedef {kind} T;
    __device__ T combine(T a, T b) {{ return {text}; }}
    __global__ void reduce(const T* in, T* out) {{
        T v = in[blockIdx.x * blockDim.x + threadIdx.x];
        for (int d = 16; d; d /= 2) v = combine(v, __shfl_xor(v, d, 32));
        if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
    }}"""
    x = words((8, 32), DTYPES[kind])
    if operation == "or":
        x &= words((8, 32), "uint8", 7) & words((8, 32), "uint8", 8) & words((8, 32), "uint8", 9)
    _, out = gpu(source, x, zeros(8, DTYPES[kind]), grid=2, block=128)
    assert (out == reference.reduce(x, axis=1, dtype=x.dtype)).all()


def test_argmax_with_ties(gpu: Gpu) -> None:
    source = """
    __global__ void argmax(const float* in, int* where, float* best, int n) {
        __shared__ float v[128]; __shared__ int at[128];
        int t = threadIdx.x;
        float m = -__builtin_inff(); int k = -1;
        for (int i = t; i < n; i += 128) if (in[i] > m) { m = in[i]; k = i; }
        v[t] = m; at[t] = k;
        for (int d = 64; d; d >>= 1) {
            __syncthreads();
            if (t < d && (v[t + d] > v[t] || (v[t + d] == v[t] && at[t + d] < at[t]))) { v[t] = v[t + d];
                at[t] = at[t + d]; }
        }
        if (t == 0) { *where = at[0]; *best = v[0]; }
    }"""
    x = integers(1000, 0, 200).astype("float32")
    _, where, best = gpu(source, x, zeros(1), zeros(1, "float32"), 1000, block=128)
    assert (where[0], best[0]) == (x.argmax(), x.max())


def test_float_sum_in_a_fixed_order(gpu: Gpu) -> None:
    source = """
    __global__ void sum(const float* in, float* out) {
        float v = in[threadIdx.x];
        for (int d = 16; d; d /= 2) v += __shfl_down(v, d, 32);
        if (threadIdx.x == 0) *out = v;
    }"""
    x = floats(32, -100, 100)
    _, out = gpu(source, x, zeros(1, "float32"), block=32)
    y = x.copy()
    for d in (16, 8, 4, 2, 1):
        y = y[:d] + y[d : 2 * d]
    assert out[0] == y[0]


def test_mean_and_variance_by_welford(gpu: Gpu) -> None:
    source = """
    struct Moments { double n, mean, m2; };
    __device__ Moments merge(Moments a, Moments b) {
        double n = a.n + b.n, d = b.mean - a.mean;
        if (n == 0) return a;
        return {n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n};
    }
    __global__ void moments(const double* x, int n, double* out) {
        __shared__ Moments t[64];
        Moments m = {0, 0, 0};
        for (int i = threadIdx.x; i < n; i += 64) m = merge(m, Moments{1, x[i], 0});
        t[threadIdx.x] = m;
        for (int d = 32; d; d /= 2) {
            __syncthreads();
            if (threadIdx.x < d) t[threadIdx.x] = merge(t[threadIdx.x], t[threadIdx.x + d]);
        }
        if (threadIdx.x == 0) { out[0] = t[0].mean; out[1] = t[0].m2 / t[0].n; }
    }"""
    x = floats(777, 5, 9, "float64")
    _, out = gpu(source, x, 777, zeros(2, "float64"))
    np.testing.assert_allclose(out, [x.mean(), x.var()], rtol=1e-13)


def test_atomic_reductions(gpu: Gpu) -> None:
    source = """
    __global__ void reduce(const int* in, int* out, unsigned* u, unsigned long long* w, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = in[i];
        atomicMin(out, v); atomicMax(out + 1, v); atomicAdd(out + 2, v); atomicSub(out + 3, v); atomicXor(out + 4, v);
        atomicAnd(out + 5, v | 0xff00); atomicOr(out + 6, v & 0x0ff0); atomicInc(u, 99u); atomicDec(u + 1, 76u);
        atomicMin(u + 2, (unsigned)v); atomicMax(u + 3, (unsigned)v);
        atomicAdd(w, (unsigned long long)(long long)v * 1000000007ull);
        atomicMax(w + 1, (unsigned long long)(unsigned)v << 20);
            atomicMin(w + 2, (unsigned long long)(unsigned)v << 20);
        atomicXor(w + 3, (unsigned long long)(unsigned)v << 13);
    }"""
    n = 500
    x = integers(n, -(2**31), 2**31 - 1)
    start = np.array([2**31 - 1, -(2**31), 0, 0, 0, -1, 0], "int32")
    _, out, u, w = gpu(
        source, x, start, np.array([0, 0, 2**32 - 1, 0], "uint32"), np.array([0, 0, 2**64 - 1, 0], "uint64"), n,
        grid=4, block=128,
    )  # fmt: skip
    v = x.view("uint32").astype("uint64")
    assert out.tolist() == [
        x.min(), x.max(), x.sum(dtype="int32"), (-x).sum(dtype="int32"), np.bitwise_xor.reduce(x),
        np.bitwise_and.reduce(x | 0xFF00), np.bitwise_or.reduce(x & 0x0FF0),
    ]  # fmt: skip
    dec = 0
    for _ in range(n):
        dec = 76 if dec == 0 or dec > 76 else dec - 1
    assert u.tolist() == [n % 100, dec, v.min(), v.max()]
    assert w.tolist() == [
        sum(x.tolist()) * 1000000007 % 2**64, v.max() << 20, v.min() << 20, np.bitwise_xor.reduce(v << np.uint64(13))
    ]  # fmt: skip


def test_atomic_float_and_double_sums_of_exact_values(gpu: Gpu) -> None:
    source = """
    __global__ void sum(const int* in, float* f, double* d, int n) {
        __shared__ float local;
        __shared__ double wide;
        if (threadIdx.x == 0) { local = 0; wide = 0; }
        __syncthreads();
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { atomicAdd(&local, in[i] * 0.25f); atomicAdd(&wide, in[i] * 0.125); }
        __syncthreads();
        if (threadIdx.x == 0) { atomicAdd(f, local); atomicAdd(d, wide); }
    }"""
    x = integers(400)
    _, f, d = gpu(source, x, zeros(1, "float32"), zeros(1, "float64"), 400, grid=7, block=64)
    assert (f[0], d[0]) == (x.sum() * 0.25, x.sum() * 0.125)


def test_dot_product_with_threadfence_and_last_block(gpu: Gpu) -> None:
    source = """
    __device__ unsigned done = 0;
    __global__ void dot(const int* a, const int* b, long long* partial, long long* out, int n) {
        __shared__ long long t[64];
        __shared__ bool last;
        long long s = 0;
        for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) s += (long long)a[i] * b[i];
        t[threadIdx.x] = s;
        for (int d = 32; d; d >>= 1) { __syncthreads(); if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; }
        if (threadIdx.x == 0) {
            partial[blockIdx.x] = t[0];
            __threadfence();
            last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (last && threadIdx.x == 0) { __threadfence(); long long r = 0;
            for (int k = 0; k < gridDim.x; ++k) r += partial[k];
            *out = r; }
    }"""
    a, b = integers(3000, -(2**31), 2**31 - 1), integers(3000, -(2**31), 2**31 - 1, seed=4)
    *_, out = gpu(source, a, b, zeros(9, "int64"), zeros(1, "int64"), 3000, grid=9)
    assert out[0] == (a.astype("int64") * b).sum()


# ---- sorts ----------------------------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os")
def test_bitonic_sort(gpu: Gpu) -> None:
    source = """
    __global__ void sort(int* data) {
        __shared__ int s[512];
        int t = threadIdx.x;
        s[t] = data[t]; s[t + 256] = data[t + 256];
        for (int k = 2; k <= 512; k *= 2)
            for (int j = k / 2; j > 0; j /= 2) {
                __syncthreads();
                int a = 2 * t - (t & (j - 1)), b = a + j;
                bool up = (a & k) == 0;
                if ((s[a] > s[b]) == up) { int x = s[a]; s[a] = s[b]; s[b] = x; }
            }
        __syncthreads();
        data[t] = s[t]; data[t + 256] = s[t + 256];
    }"""
    x = integers(512)
    (out,) = gpu(source, x, block=256)
    assert (out == np.sort(x)).all()


def test_bitonic_sort_in_registers(gpu: Gpu) -> None:
    source = """
    __global__ void sort(double* data) {
        double v = data[threadIdx.x];
        int lane = threadIdx.x % 32;
        for (int k = 2; k <= 32; k *= 2)
            for (int j = k / 2; j; j /= 2) {
                double o = __shfl_xor(v, j, 32);
                bool smaller = ((lane & j) == 0) == ((lane & k) == 0);
                v = smaller ? fmin(v, o) : fmax(v, o);
            }
        data[threadIdx.x] = v;
    }"""
    x = floats((6, 32), -1e300, 1e300, "float64")
    (out,) = gpu(source, x, block=192)
    assert (out == np.sort(x, axis=1)).all()


def test_radix_sort_of_floats(gpu: Gpu) -> None:
    source = """
    __global__ void sort(float* data) {
        __shared__ unsigned key[256], other[256], ones[256];
        int t = threadIdx.x;
        unsigned u = __float_as_uint(data[t]);
        key[t] = u ^ ((unsigned)((int)u >> 31) | 0x80000000u);
        for (int bit = 0; bit < 32; ++bit) {
            __syncthreads();
            unsigned mine = key[t], one = mine >> bit & 1;
            ones[t] = one;
            for (int d = 1; d < 256; d *= 2) {
                __syncthreads();
                unsigned v = t >= d ? ones[t - d] : 0;
                __syncthreads();
                ones[t] += v;
            }
            __syncthreads();
            unsigned all = ones[255], before = ones[t] - one;
            other[one ? 256 - all + before : t - before] = mine;
            __syncthreads();
            key[t] = other[t];
        }
        __syncthreads();
        u = key[t];
        data[t] = __uint_as_float(u ^ ((u >> 31) ? 0x80000000u : 0xffffffffu));
    }"""
    x = floats(256, -1e6, 1e6)
    (out,) = gpu(source, x, block=256)
    assert (out == np.sort(x)).all()


def test_merge_sort_by_binary_search(gpu: Gpu) -> None:
    source = """
    __device__ int rank(const int* a, int n, int v, bool strict) {
        int lo = 0, hi = n;
        while (lo < hi) { int m = (lo + hi) / 2; if (strict ? a[m] < v : a[m] <= v) lo = m + 1; else hi = m; }
        return lo;
    }
    __global__ void sort(int* data) {
        __shared__ int a[256], b[256];
        int t = threadIdx.x;
        a[t] = data[t];
        int *from = a, *to = b;
        for (int w = 1; w < 256; w *= 2) {
            __syncthreads();
            int start = t / (2 * w) * 2 * w, v = from[t];
            bool left = t < start + w;
            int r = left ? rank(from + start + w, w, v, true) : rank(from + start, w, v, false);
            to[start + r + (left ? t - start : t - start - w)] = v;
            int* x = from; from = to; to = x;
        }
        __syncthreads();
        data[t] = from[t];
    }"""
    x = integers(256, 0, 60)
    (out,) = gpu(source, x, block=256)
    assert (out == np.sort(x)).all()


def test_odd_even_transposition_with_keys_and_values(gpu: Gpu) -> None:
    source = """
    struct Item { unsigned char key; short value; };
    __global__ void sort(const unsigned char* keys, unsigned char* sorted, short* order) {
        __shared__ Item s[100];
        int t = threadIdx.x;
        for (int i = t; i < 100; i += blockDim.x) s[i] = Item{keys[i], (short)i};
        for (int round = 0; round < 100; ++round) {
            __syncthreads();
            int a = 2 * t + (round & 1);
            if (a + 1 < 100 && s[a].key > s[a + 1].key) { Item x = s[a]; s[a] = s[a + 1]; s[a + 1] = x; }
        }
        __syncthreads();
        for (int i = t; i < 100; i += blockDim.x) { sorted[i] = s[i].key; order[i] = s[i].value; }
    }"""
    x = words(100, "uint8")
    _, keys, order = gpu(source, x, zeros(100, "uint8"), zeros(100, "int16"), block=50)
    expected = np.argsort(x, kind="stable")
    assert (order == expected).all()
    assert (keys == x[expected]).all()


def test_insertion_sort_in_private_arrays(gpu: Gpu) -> None:
    source = """
    __global__ void sort(short* data) {
        short a[17];
        short* mine = data + (blockIdx.x * blockDim.x + threadIdx.x) * 17;
        for (int i = 0; i < 17; ++i) a[i] = mine[i];
        for (int i = 1; i < 17; ++i) {
            short v = a[i];
            int j = i - 1;
            for (; j >= 0 && a[j] > v; --j) a[j + 1] = a[j];
            a[j + 1] = v;
        }
        for (int i = 0; i < 17; ++i) mine[i] = a[i];
    }"""
    x = words((70, 17), "int16")
    (out,) = gpu(source, x, grid=2, block=35)
    assert (out == np.sort(x, axis=1)).all()


def test_quicksort_with_an_explicit_stack(gpu: Gpu) -> None:
    source = """
    __global__ void sort(int* data, int n) {
        int* a = data + threadIdx.x * n;
        int stack[32], top = 0;
        stack[top++] = 0; stack[top++] = n - 1;
        while (top) {
            int hi = stack[--top], lo = stack[--top];
            if (lo >= hi) continue;
            int p = a[(lo + hi) / 2], i = lo, j = hi;
            while (i <= j) {
                while (a[i] < p) ++i;
                while (a[j] > p) --j;
                if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; ++i; --j; }
            }
            if (j - lo > hi - i) { int t; t = lo; lo = i; i = t; t = j; j = hi; hi = t; stack[top++] = i;
                stack[top++] = hi; stack[top++] = lo; stack[top++] = j; }
            else { stack[top++] = i; stack[top++] = hi; stack[top++] = lo; stack[top++] = j; }
        }
    }"""
    x = integers((40, 60))
    (out,) = gpu(source, x, 60, block=40)
    assert (out == np.sort(x, axis=1)).all()


# ---- compaction, histograms -----------------------------------------------------------------------------------------


@levels("-O0", "-O1")
def test_compaction_by_ballot(gpu: Gpu) -> None:
    source = """
    __global__ void compact(const int* in, int* out, int* count, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        bool keep = i < n && in[i] % 3 == 0;
        unsigned long long mask = __ballot(keep);
        int lane = threadIdx.x % warpSize, base = 0;
        int leader = __ffsll(mask) - 1;
        if (keep && lane == leader) base = atomicAdd(count, __popcll(mask));
        if (mask) base = __shfl(base, leader);
        if (keep) out[base + __popcll(mask & ((1ull << lane) - 1))] = in[i];
    }"""
    x = integers(1000)
    _, out, count = gpu(source, x, zeros(1000), zeros(1), 1000, grid=8, block=128)
    expected = x[x % 3 == 0]
    assert count[0] == len(expected)
    assert (np.sort(out[: count[0]]) == np.sort(expected)).all()


def test_stable_partition_by_scan(gpu: Gpu) -> None:
    source = """
    __global__ void partition(const unsigned short* in, unsigned short* out) {
        __shared__ int t[200];
        int i = threadIdx.x;
        bool even = in[i] % 2 == 0;
        t[i] = even;
        for (int d = 1; d < 200; d *= 2) { __syncthreads(); int v = i >= d ? t[i - d] : 0; __syncthreads(); t[i] += v; }
        __syncthreads();
        int evens = t[199], before = t[i] - even;
        out[even ? before : evens + i - before] = in[i];
    }"""
    x = words(200, "uint16")
    _, out = gpu(source, x, zeros(200, "uint16"), block=200)
    assert (out == np.concatenate([x[x % 2 == 0], x[x % 2 == 1]])).all()


def test_unique_of_sorted_values(gpu: Gpu) -> None:
    source = """
    __global__ void unique(const int* in, int* out, int* count, int n) {
        int kept = 0;
        for (int base = 0; base < n; base += blockDim.x) {
            int i = base + threadIdx.x;
            int first = i < n && (i == 0 || in[i] != in[i - 1]);
            int before = kept;
            __shared__ int flags[256];
            flags[threadIdx.x] = first;
            __syncthreads();
            for (int k = 0; k < threadIdx.x; ++k) before += flags[k];
            if (first) out[before] = in[i];
            kept += __syncthreads_count(first);
        }
        if (threadIdx.x == 0) *count = kept;
    }"""
    x = np.sort(integers(600, 0, 200))
    _, out, count = gpu(source, x, zeros(600), zeros(1), 600, block=96)
    expected = np.unique(x)
    assert count[0] == len(expected)
    assert (out[: count[0]] == expected).all()


@levels("-O0", "-O1")
def test_histogram_in_lds(gpu: Gpu) -> None:
    source = """
    __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
        __shared__ unsigned bins[256];
        for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
            i += blockDim.x * gridDim.x) atomicAdd(&bins[in[i]], 1u);
        __syncthreads();
        for (int i = threadIdx.x; i < 256; i += blockDim.x) if (bins[i]) atomicAdd(&out[i], bins[i]);
    }"""
    x = (words(3000, "uint8").astype("uint32") ** 2 >> 8).astype("uint8")
    _, out = gpu(source, x, zeros(256, "uint32"), 3000, grid=4, block=192)
    assert (out == np.bincount(x, minlength=256)).all()


def test_histogram_with_private_bytes(gpu: Gpu) -> None:
    source = """
    __global__ void histogram(const unsigned* in, unsigned* out, int each) {
        unsigned char bins[16] = {};
        for (int i = 0; i < each; ++i) bins[in[i * blockDim.x + threadIdx.x] >> 28]++;
        for (int b = 0; b < 16; ++b) atomicAdd(out + b, (unsigned)bins[b]);
    }"""
    x = words(40 * 64)
    _, out = gpu(source, x, zeros(16, "uint32"), 40)
    assert (out == np.bincount(x >> 28, minlength=16)).all()


def test_run_length_encoding(gpu: Gpu) -> None:
    source = """
    __global__ void encode(const char* in, int n, char* symbols, int* lengths, int* runs) {
        __shared__ int start[256];
        int i = threadIdx.x;
        bool head = i < n && (i == 0 || in[i] != in[i - 1]);
        start[i] = head;
        for (int d = 1; d < 256; d *= 2) { __syncthreads(); int v = i >= d ? start[i - d] : 0; __syncthreads();
            start[i] += v; }
        __syncthreads();
        if (head) {
            int r = start[i] - 1, e = i + 1;
            while (e < n && in[e] == in[i]) ++e;
            symbols[r] = in[i]; lengths[r] = e - i;
        }
        if (i == n - 1) *runs = start[i];
    }"""
    from itertools import groupby

    x = integers(250, 0, 2).astype("int8") + np.int8(97)
    _, symbols, lengths, runs = gpu(source, x, 250, zeros(256, "int8"), zeros(256), zeros(1), block=256)
    expected = [(key, len(list(group))) for key, group in groupby(x.tolist())]
    assert list(zip(symbols[: runs[0]].tolist(), lengths[: runs[0]].tolist(), strict=True)) == expected
