"""Sparse matrices, graphs, hash tables, dynamic programming, searching and clustering."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import gpulab
from tests.kernels.harness import Gpu, floats, integers, levels, random, words, zeros


def sparse(n: int, m: int, share: float = 0.1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A sparse matrix of integers: dense, and CSR's offsets, columns and values."""
    dense = integers((n, m), 1, 9) * (random(5).random((n, m)) < share)
    rows, columns = np.nonzero(dense)
    offsets = np.searchsorted(rows, np.arange(n + 1)).astype("int32")
    return dense.astype("float32"), offsets, columns.astype("int32"), dense[rows, columns].astype("float32")


def graph(n: int, edges: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """A directed graph: CSR's offsets and targets, and the lists of neighbours."""
    pairs = sorted({(int(a), int(b)) for a, b in random(seed).integers(0, n, (edges, 2)) if a != b})
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in pairs:
        neighbours[a].append(b)
    offsets = np.cumsum([0] + [len(v) for v in neighbours]).astype("int32")
    return offsets, np.array([b for _, b in pairs], "int32"), neighbours


# ---- sparse matrices ------------------------------------------------------------------------------------------------


@levels("-O0", "-O1")
def test_csr_by_one_thread_per_row(gpu: Gpu) -> None:
    source = """
    __global__ void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y,
        int rows) {
        int r = blockIdx.x * blockDim.x + threadIdx.x;
        if (r >= rows) return;
        float s = 0;
        for (int k = offsets[r]; k < offsets[r + 1]; ++k) s += values[k] * x[columns[k]];
        y[r] = s;
    }"""
    dense, *parts = sparse(130, 90)
    x = integers(90, -9, 9).astype("float32")
    *_, y = gpu(source, *parts, x, zeros(130, "float32"), 130, grid=3)
    assert (y == dense @ x).all()


def test_csr_by_one_group_of_lanes_per_row(gpu: Gpu) -> None:
    source = """
    __global__ void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y,
        int rows) {
        int r = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
        float s = 0;
        if (r < rows) for (int k = offsets[r] + lane; k < offsets[r + 1]; k += 8) s += values[k] * x[columns[k]];
        s += __shfl_down(s, 4, 8); s += __shfl_down(s, 2, 8); s += __shfl_down(s, 1, 8);
        if (r < rows && lane == 0) y[r] = s;
    }"""
    dense, *parts = sparse(60, 200, 0.3)
    x = integers(200, -9, 9).astype("float32")
    *_, y = gpu(source, *parts, x, zeros(60, "float32"), 60, grid=4, block=128)
    assert (y == dense @ x).all()


def test_ell(gpu: Gpu) -> None:
    source = """
    __global__ void spmv(const short* columns, const double* values, const double* x, double* y, int rows, int width) {
        int r = threadIdx.x;
        if (r >= rows) return;
        double s = 0;
        for (int k = 0; k < width; ++k) { int c = columns[k * rows + r]; if (c >= 0) s += values[k * rows + r] * x[c]; }
        y[r] = s;
    }"""
    dense, offsets, columns, values = sparse(50, 40)
    width = int(np.diff(offsets).max())
    wide, numbers = np.full((width, 50), -1, "int16"), np.zeros((width, 50))
    for r in range(50):
        for k, at in enumerate(range(offsets[r], offsets[r + 1])):
            wide[k, r], numbers[k, r] = columns[at], values[at]
    x = integers(40, -9, 9).astype("float64")
    *_, y = gpu(source, wide, numbers, x, zeros(50, "float64"), 50, width)
    assert (y == dense @ x).all()


def test_coo_with_atomics(gpu: Gpu) -> None:
    source = """
    struct Entry { unsigned short row, column; float value; };
    __global__ void spmv(const Entry* entries, const float* x, float* y, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
            Entry e = entries[i];
            atomicAdd(&y[e.row], e.value * x[e.column]);
        }
    }"""
    dense, *_ = sparse(45, 70)
    rows, columns = np.nonzero(dense)
    entries = np.zeros(len(rows), [("row", "u2"), ("column", "u2"), ("value", "f4")])
    entries["row"], entries["column"], entries["value"] = rows, columns, dense[rows, columns]
    x = integers(70, -9, 9).astype("float32")
    y = gpu(source, entries.view("uint32"), x, zeros(45, "float32"), len(rows), grid=2, block=96)[2]
    assert (y == dense @ x).all()


def test_csr_transpose_by_counting(gpu: Gpu) -> None:
    source = """
    __global__ void transpose(const int* offsets, const int* columns, int n, int m, int* starts, int* rows) {
        __shared__ int count[128];
        int t = threadIdx.x;
        count[t] = 0;
        __syncthreads();
        for (int k = t; k < offsets[n]; k += 128) atomicAdd(&count[columns[k]], 1);
        __syncthreads();
        if (t == 0) { int s = 0; for (int c = 0; c < m; ++c) { starts[c] = s; s += count[c]; count[c] = starts[c]; }
            starts[m] = s; }
        __syncthreads();
        if (t == 0) for (int r = 0; r < n; ++r) for (int k = offsets[r]; k < offsets[r + 1];
            ++k) rows[count[columns[k]]++] = r;
    }"""
    dense, offsets, columns, _ = sparse(40, 100)
    starts, rows = gpu(source, offsets, columns, 40, 100, zeros(101), zeros(len(columns)), block=128)[2:]
    expected_columns, expected_rows = np.nonzero(dense.T)
    assert (rows == expected_rows).all()
    assert (starts == np.searchsorted(expected_columns, np.arange(101))).all()


# ---- graphs ---------------------------------------------------------------------------------------------------------


def test_breadth_first_search_by_levels(gpu: Gpu) -> None:
    source = """
    __global__ void step(const int* offsets, const int* targets, int* distance, int level, int* changed, int n) {
        int v = blockIdx.x * blockDim.x + threadIdx.x;
        if (v >= n || distance[v] != level) return;
        for (int e = offsets[v]; e < offsets[v + 1]; ++e)
            if (atomicCAS(&distance[targets[e]], -1, level + 1) == -1) *changed = 1;
    }"""
    offsets, targets, neighbours = graph(200, 420)
    start = np.full(200, -1, "int32")
    start[0] = 0
    distance, changed = gpulab.to_device(start), gpulab.zeros(1, "int32")
    given = gpulab.to_device(offsets), gpulab.to_device(targets)
    step = gpu.module(source).step
    for level in range(200):
        changed.copy_from(zeros(1))
        step[4, 64](*given, distance, level, changed, 200)
        if not changed.to_host()[0]:
            break
    expected = {0: 0}
    queue = deque([0])
    while queue:
        v = queue.popleft()
        for w in neighbours[v]:
            if w not in expected:
                expected[w] = expected[v] + 1
                queue.append(w)
    assert distance.to_host().tolist() == [expected.get(v, -1) for v in range(200)]


def test_breadth_first_search_with_a_queue_in_lds(gpu: Gpu) -> None:
    source = """
    __global__ void search(const int* offsets, const int* targets, int* distance, int n) {
        __shared__ int queue[2][256]; __shared__ int size[2];
        int t = threadIdx.x, now = 0;
        if (t == 0) { queue[0][0] = 0; size[0] = 1; size[1] = 0; }
        __syncthreads();
        for (int level = 1; size[now]; ++level) {
            for (int i = t; i < size[now]; i += blockDim.x) {
                int v = queue[now][i];
                for (int e = offsets[v]; e < offsets[v + 1]; ++e)
                    if (atomicCAS(&distance[targets[e]], -1, level) == -1) queue[1 - now][atomicAdd(&size[1 - now],
                        1)] = targets[e];
            }
            __syncthreads();
            if (t == 0) size[now] = 0;
            now = 1 - now;
            __syncthreads();
        }
    }"""
    offsets, targets, neighbours = graph(250, 600, 3)
    start = np.full(250, -1, "int32")
    start[0] = 0
    distance = gpu(source, offsets, targets, start, 250, block=128)[2]
    expected = {0: 0}
    queue = deque([0])
    while queue:
        v = queue.popleft()
        for w in neighbours[v]:
            if w not in expected:
                expected[w] = expected[v] + 1
                queue.append(w)
    assert distance.tolist() == [expected.get(v, -1) for v in range(250)]


def test_shortest_paths_by_bellman_ford(gpu: Gpu) -> None:
    source = """
    __global__ void relax(const int* from, const int* to, const unsigned* weight, unsigned* distance, int edges,
        int n) {
        for (int round = 0; round < n; ++round) {
            bool changed = false;
            for (int e = threadIdx.x; e < edges; e += blockDim.x) {
                unsigned d = __hip_atomic_load(&distance[from[e]], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
                if (d != 0xffffffffu && atomicMin(&distance[to[e]], d + weight[e]) > d + weight[e]) changed = true;
            }
            if (!__syncthreads_or(changed)) break;
        }
    }"""
    n, edges = 60, 240
    ends, weight = integers((2, edges), 0, n), integers(edges, 1, 100, "uint32", 7)
    start = np.full(n, 2**32 - 1, "uint32")
    start[0] = 0
    distance = gpu(source, ends[0], ends[1], weight, start, edges, n, block=128)[3]
    best = [0] + [2**32 - 1] * (n - 1)
    for _ in range(n):
        for a, b, w in zip(*ends.tolist(), weight.tolist(), strict=True):
            if best[a] != 2**32 - 1:
                best[b] = min(best[b], best[a] + w)
    assert distance.tolist() == best


def test_floyd_warshall(gpu: Gpu) -> None:
    source = """
    __global__ void paths(int* d, int n) {
        for (int k = 0; k < n; ++k) {
            for (int i = threadIdx.y; i < n; i += blockDim.y)
                for (int j = threadIdx.x; j < n; j += blockDim.x) d[i * n + j] = min(d[i * n + j], d[i * n + k]
                    + d[k * n + j]);
            __syncthreads();
        }
    }"""
    x = integers((24, 24), 1, 1000)
    x[random(4).random((24, 24)) < 0.7] = 10**6
    np.fill_diagonal(x, 0)
    (out,) = gpu(source, x, 24, block=(24, 8))
    for k in range(24):
        x = np.minimum(x, x[:, k, None] + x[None, k])
    assert (out == x).all()


def test_page_rank_in_double(gpu: Gpu) -> None:
    source = """
    __global__ void spread(const int* offsets, const int* targets, const double* rank, double* next, int n) {
        int v = threadIdx.x;
        if (v >= n) return;
        int d = offsets[v + 1] - offsets[v];
        for (int e = offsets[v]; e < offsets[v + 1]; ++e) atomicAdd(&next[targets[e]], 0.85 * rank[v] / d);
    }
    __global__ void fill(double* x, double v, int n) { int i = threadIdx.x; if (i < n) x[i] = v; }"""
    n = 100
    offsets, targets, neighbours = graph(n, 500, 2)
    module = gpu.module(source)
    a, b = gpulab.to_device(np.full(n, 1 / n)), gpulab.zeros(n, "float64")
    given = gpulab.to_device(offsets), gpulab.to_device(targets)
    rank = [1 / n] * n
    for _ in range(5):
        module.fill[1, 128](b, 0.15 / n, n)
        module.spread[1, 128](*given, a, b, n)
        a, b = b, a
        after = [0.15 / n] * n
        for v in range(n):
            for w in neighbours[v]:
                after[w] += 0.85 * rank[v] / len(neighbours[v])
        rank = after
    np.testing.assert_allclose(a.to_host(), rank, rtol=1e-13)


def test_connected_components_by_union_find(gpu: Gpu) -> None:
    source = """
    __device__ int find(volatile int* parent, int v) {
        while (true) { int p = parent[v]; if (p == v) return v; int g = parent[p]; if (g != p) parent[v] = g; v = p; }
    }
    __global__ void unite(const int2* edges, int* parent, int n) {
        int e = blockIdx.x * blockDim.x + threadIdx.x;
        if (e >= n) return;
        int a = edges[e].x, b = edges[e].y;
        while (true) {
            a = find(parent, a); b = find(parent, b);
            if (a == b) return;
            if (a < b) { int t = a; a = b; b = t; }
            if (atomicCAS(&parent[a], a, b) == a) return;
        }
    }
    __global__ void flatten(volatile int* parent, int n) { int v = blockIdx.x * blockDim.x + threadIdx.x;
        if (v < n) parent[v] = find(parent, v); }"""
    n, edges = 300, 240
    pairs = integers((edges, 2), 0, n)
    module = gpu.module(source)
    parent = gpulab.to_device(np.arange(n, dtype="int32"))
    module.unite[4, 64](gpulab.to_device(pairs.reshape(-1)), parent, edges)
    module.flatten[5, 64](parent, n)
    label = list(range(n))
    for _ in range(n):
        before = list(label)
        for a, b in pairs.tolist():
            label[a] = label[b] = min(label[a], label[b])
        if label == before:
            break
    assert parent.to_host().tolist() == label


def test_triangle_counting(gpu: Gpu) -> None:
    source = """
    __global__ void count(const unsigned long long* rows, int n, int* total) {
        int mine = 0;
        for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n * n; p += gridDim.x * blockDim.x) {
            int i = p / n, j = p % n;
            if (i < j && (rows[i] >> j & 1)) mine += __popcll(rows[i] & rows[j] & ~((2ull << j) - 1));
        }
        if (mine) atomicAdd(total, mine);
    }"""
    a = np.triu(random(6).random((50, 50)) < 0.3, 1)
    a = a | a.T
    rows = (a.astype("uint64") << np.arange(50, dtype="uint64")).sum(axis=1, dtype="uint64")
    total = gpu(source, rows, 50, zeros(1), grid=3)[1]
    assert total[0] == np.trace(np.linalg.matrix_power(a.astype(int), 3)) // 6


# ---- hash tables ----------------------------------------------------------------------------------------------------


@levels("-O1", "-Os")
def test_hash_table_with_linear_probing(gpu: Gpu) -> None:
    source = """
    __global__ void insert(const unsigned* keys, unsigned* table, unsigned* counts, int n, unsigned mask) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        unsigned k = keys[i], h = k * 2654435761u >> 20;
        while (true) {
            unsigned old = atomicCAS(&table[h & mask], 0xffffffffu, k);
            if (old == 0xffffffffu || old == k) { atomicAdd(&counts[h & mask], 1u); return; }
            ++h;
        }
    }"""
    keys = integers(700, 0, 300, "uint32")
    table, counts = gpu(
        source, keys, np.full(512, 2**32 - 1, "uint32"), zeros(512, "uint32"), 700, 511, grid=6, block=128
    )[1:]
    found = {int(k): int(c) for k, c in zip(table, counts, strict=True) if k != 2**32 - 1}
    assert found == {int(k): int(c) for k, c in zip(*np.unique(keys, return_counts=True), strict=True)}
    assert (table != 2**32 - 1).sum() == len(found)


def test_map_of_64_bit_keys(gpu: Gpu) -> None:
    source = """
    typedef unsigned long long u64;
    __device__ u64 hash(u64 x) { x ^= x >> 33; x *= 0xff51afd7ed558ccdull; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ull;
        return x ^ x >> 33; }
    __global__ void build(const u64* keys, u64* table, int* values, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        for (u64 h = hash(keys[i]);; ++h) {
            u64 old = atomicCAS(&table[h & 1023], 0ull, keys[i]);
            if (old == 0 || old == keys[i]) { atomicMax(&values[h & 1023], i); return; }
        }
    }
    __global__ void find(const u64* queries, const u64* table, const int* values, int* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int r = -1;
        for (u64 h = hash(queries[i]); table[h & 1023]; ++h) if (table[h & 1023] == queries[i]) {
            r = values[h & 1023]; break; }
        out[i] = r;
    }"""
    keys = words(600, "uint64")
    keys[500:] = keys[:100]
    queries = np.concatenate([keys[::3], words(100, "uint64", 9)])
    module = gpu.module(source)
    table, values = gpulab.zeros(1024, "uint64"), gpulab.to_device(np.full(1024, -1, "int32"))
    module.build[10, 64](gpulab.to_device(keys), table, values, 600)
    out = gpulab.zeros(300, "int32")
    module.find[5, 64](gpulab.to_device(queries), table, values, out, 300)
    last = {int(k): i for i, k in enumerate(keys)}
    assert out.to_host().tolist() == [last.get(int(q), -1) for q in queries]


def test_bloom_filter(gpu: Gpu) -> None:
    source = """
    __device__ unsigned hash(unsigned x, unsigned seed) { x ^= seed; x *= 0x85ebca6b; x ^= x >> 13; x *= 0xc2b2ae35;
        return x ^ x >> 16; }
    __global__ void add(const unsigned* keys, unsigned* bits, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) for (unsigned s = 0; s < 4; ++s) { unsigned h = hash(keys[i], s * 77777) & 4095;
            atomicOr(&bits[h >> 5], 1u << (h & 31)); }
    }
    __global__ void test(const unsigned* keys, const unsigned* bits, unsigned char* hit, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        bool all = true;
        for (unsigned s = 0; s < 4 && all; ++s) { unsigned h = hash(keys[i], s * 77777) & 4095;
            all = bits[h >> 5] >> (h & 31) & 1; }
        hit[i] = all;
    }"""

    def hashes(keys: np.ndarray) -> np.ndarray:
        x = keys[:, None] ^ (np.arange(4, dtype="uint32") * np.uint32(77777))
        x = x * np.uint32(0x85EBCA6B)
        x ^= x >> np.uint32(13)
        x = x * np.uint32(0xC2B2AE35)
        return (x ^ x >> np.uint32(16)) & np.uint32(4095)

    keys, queries = words(400), words(500, seed=11)
    queries[:100] = keys[:100]
    module = gpu.module(source)
    bits, hit = gpulab.zeros(128, "uint32"), gpulab.zeros(500, "uint8")
    module.add[7, 64](gpulab.to_device(keys), bits, 400)
    module.test[8, 64](gpulab.to_device(queries), bits, hit, 500)
    expected = np.zeros(4096, bool)
    expected[hashes(keys)] = True
    assert (np.unpackbits(bits.to_host().view("uint8"), bitorder="little") == expected).all()
    assert (hit.to_host() == expected[hashes(queries)].all(axis=1)).all()


# ---- dynamic programming --------------------------------------------------------------------------------------------


def test_longest_common_subsequence(gpu: Gpu) -> None:
    source = """
    __global__ void lcs(const char* a, const char* b, int n, int m, unsigned short* t) {
        int i = threadIdx.x + 1;
        for (int d = 2; d <= n + m; ++d) {
            int j = d - i;
            if (i <= n && j >= 1 && j <= m)
                t[i * (m + 1) + j] = a[i - 1] == b[j - 1] ? t[(i - 1) * (m + 1) + j - 1] + 1
                                                           : max(t[(i - 1) * (m + 1) + j], t[i * (m + 1) + j - 1]);
            __syncthreads();
        }
    }"""
    a, b = integers(90, 0, 4, "int8"), integers(70, 0, 4, "int8", 2)
    t = gpu(source, a, b, 90, 70, zeros((91, 71), "uint16"), block=128)[2]
    expected = np.zeros((91, 71), int)
    for i in range(90):
        for j in range(70):
            expected[i + 1, j + 1] = expected[i, j] + 1 if a[i] == b[j] else max(expected[i, j + 1], expected[i + 1, j])
    assert (t == expected).all()


def distance_of(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


@pytest.mark.full
@levels("-O0", "-O1", "-Os")
def test_edit_distance_per_thread(gpu: Gpu) -> None:
    source = """
    __global__ void distance(const char* words, const int* starts, const char* wanted, int m, int* out, int n) {
        int w = threadIdx.x;
        if (w >= n) return;
        unsigned char row[32];
        for (int j = 0; j <= m; ++j) row[j] = j;
        for (int i = starts[w]; i < starts[w + 1]; ++i) {
            int before = row[0];
            row[0] = i - starts[w] + 1;
            for (int j = 1; j <= m; ++j) {
                int old = row[j];
                row[j] = min(min(old, row[j - 1]) + 1, before + (words[i] != wanted[j - 1]));
                before = old;
            }
        }
        out[w] = row[m];
    }"""
    names = [
        "wavefront",
        "lane",
        "workgroup",
        "barrier",
        "register",
        "vector",
        "scalar",
        "execute",
        "mask",
        "kernel",
        "launch",
        "stream",
        "event",
        "device",
        "memory",
        "coalesce",
        "bank",
        "conflict",
        "occupancy",
        "divergence",
        "reduction",
        "histogram",
        "a",
        "of",
    ]
    text = np.frombuffer("".join(names).encode(), "int8")
    starts = np.cumsum([0] + [len(w) for w in names]).astype("int32")
    wanted = "workgroups"
    out = gpu(source, text, starts, np.frombuffer(wanted.encode(), "int8"), len(wanted), zeros(len(names)), len(names))[
        3
    ]
    assert out.tolist() == [distance_of(w, wanted) for w in names]


def test_knapsack(gpu: Gpu) -> None:
    source = """
    __global__ void pack(const int* weight, const int* value, int n, int capacity, int* best) {
        __shared__ int t[2][201];
        for (int c = threadIdx.x; c <= capacity; c += blockDim.x) t[0][c] = 0;
        for (int i = 0; i < n; ++i) {
            __syncthreads();
            for (int c = threadIdx.x; c <= capacity; c += blockDim.x) {
                int v = t[i & 1][c];
                if (weight[i] <= c) v = max(v, t[i & 1][c - weight[i]] + value[i]);
                t[~i & 1][c] = v;
            }
        }
        __syncthreads();
        for (int c = threadIdx.x; c <= capacity; c += blockDim.x) best[c] = t[n & 1][c];
    }"""
    weight, value = integers(25, 3, 40), integers(25, 1, 100, seed=2)
    best = gpu(source, weight, value, 25, 200, zeros(201), block=64)[2]
    expected = [0] * 201
    for w, v in zip(weight.tolist(), value.tolist(), strict=True):
        expected = [max(expected[c], expected[c - w] + v) if c >= w else expected[c] for c in range(201)]
    assert best.tolist() == expected


def test_viterbi(gpu: Gpu) -> None:
    source = """
    __global__ void viterbi(const int* cost, const int* step, int n, int* path) {
        __shared__ int d[2][16]; __shared__ unsigned char from[64][16];
        int s = threadIdx.x;
        d[0][s] = cost[s];
        for (int t = 1; t < n; ++t) {
            __syncthreads();
            int best = 1 << 30, at = 0;
            for (int k = 0; k < 16; ++k) { int v = d[(t - 1) & 1][k] + step[k * 16 + s]; if (v < best) { best = v;
                at = k; } }
            d[t & 1][s] = best + cost[t * 16 + s];
            from[t][s] = at;
        }
        __syncthreads();
        if (s == 0) {
            int at = 0;
            for (int k = 1; k < 16; ++k) if (d[(n - 1) & 1][k] < d[(n - 1) & 1][at]) at = k;
            for (int t = n - 1; t > 0; --t) { path[t] = at; at = from[t][at]; }
            path[0] = at;
        }
    }"""
    cost, step = integers((40, 16), 0, 50), integers((16, 16), 0, 30, seed=2)
    path = gpu(source, cost, step, 40, zeros(40), block=16)[2]
    d, back = cost[0], []
    for t in range(1, 40):
        options = d[:, None] + step
        back.append(options.argmin(axis=0))
        d = options.min(axis=0) + cost[t]
    expected = [int(d.argmin())]
    for row in reversed(back):
        expected.append(int(row[expected[-1]]))
    assert path.tolist() == expected[::-1]


# ---- searching, clustering ------------------------------------------------------------------------------------------


def test_binary_search_lower_and_upper(gpu: Gpu) -> None:
    source = """
    template <bool upper, class T> __device__ int bound(const T* a, int n, T v) {
        int lo = 0;
        while (n > 0) { int h = n >> 1; if (upper ? !(v < a[lo + h]) : a[lo + h] < v) { lo += h + 1; n -= h + 1; }
            else n = h; }
        return lo;
    }
    __global__ void search(const long long* a, int n, const long long* q, int m, int* low, int* high) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < m) { low[i] = bound<false>(a, n, q[i]); high[i] = bound<true>(a, n, q[i]); }
    }"""
    a, q = np.sort(integers(500, -100, 100, "int64")) << 33, integers(200, -110, 110, "int64", 2) << 33
    low, high = gpu(source, a, 500, q, 200, zeros(200), zeros(200), grid=4)[2:]
    assert (low == np.searchsorted(a, q)).all()
    assert (high == np.searchsorted(a, q, "right")).all()


def test_string_search(gpu: Gpu) -> None:
    source = """
    __global__ void search(const char* text, int n, const char* pattern, int m, int* found, int* count) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i + m > n) return;
        int k = 0;
        while (k < m && (pattern[k] == '?' || text[i + k] == pattern[k])) ++k;
        if (k == m) { found[i] = 1; atomicAdd(count, 1); }
    }"""
    import re

    text = bytes(integers(1000, 97, 100, "uint8"))
    found, count = gpu(
        source, np.frombuffer(text, "int8"), 1000, np.frombuffer(b"ab?ca", "int8"), 5, zeros(1000), zeros(1), grid=16
    )[2:]
    expected = [m.start() for m in re.finditer(rb"(?=ab.ca)", text)]
    assert np.flatnonzero(found).tolist() == expected
    assert count[0] == len(expected) > 0


def test_k_means_step(gpu: Gpu) -> None:
    source = """
    __global__ void assign(const float2* points, const float2* centres, int* label, int* count, float* sums, int n,
        int k) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float best = 3e38f; int at = 0;
        for (int c = 0; c < k; ++c) {
            float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
            if (d < best) { best = d; at = c; }
        }
        label[i] = at;
        atomicAdd(&count[at], 1);
        atomicAdd(&sums[2 * at], points[i].x); atomicAdd(&sums[2 * at + 1], points[i].y);
    }"""
    points, centres = integers((500, 2), -60, 60).astype("float32"), integers((7, 2), -60, 60, seed=2).astype("float32")
    label, count, sums = gpu(
        source, points.ravel(), centres.ravel(), zeros(500), zeros(7), zeros(14, "float32"), 500, 7, grid=8
    )[2:]
    nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (label == nearest).all()
    assert (count == np.bincount(nearest, minlength=7)).all()
    assert (sums.reshape(7, 2) == [points[nearest == c].sum(axis=0) for c in range(7)]).all()


def test_k_nearest_neighbours_with_a_private_heap(gpu: Gpu) -> None:
    source = """
    __global__ void nearest(const int* points, int n, int* out) {
        const int K = 5;
        long long heap[K];
        for (int i = 0; i < K; ++i) heap[i] = 0x7fffffffffffffffll;
        int me = threadIdx.x;
        for (int j = 0; j < n; ++j) {
            if (j == me) continue;
            long long d = 0;
            for (int c = 0; c < 3; ++c) { long long e = points[3 * me + c] - points[3 * j + c]; d += e * e; }
            long long key = d << 8 | j;
            if (key >= heap[0]) continue;
            int at = 0;
            while (true) {
                int child = 2 * at + 1;
                if (child >= K) break;
                if (child + 1 < K && heap[child + 1] > heap[child]) ++child;
                if (heap[child] <= key) break;
                heap[at] = heap[child];
                at = child;
            }
            heap[at] = key;
        }
        for (int i = 0; i < K; ++i) {
            int best = 0;
            for (int j = 1; j < K; ++j) if (heap[j] < heap[best]) best = j;
            out[me * K + i] = heap[best] & 255;
            heap[best] = 0x7fffffffffffffffll;
        }
    }"""
    points = integers((100, 3))
    out = gpu(source, points.ravel(), 100, zeros((100, 5)), block=100)[1]
    d = ((points[:, None].astype("int64") - points) ** 2).sum(axis=2)
    np.fill_diagonal(d, 2**60)
    assert (out == np.argsort(d, axis=1, kind="stable")[:, :5]).all()


def test_interval_stabbing_by_wave_votes(gpu: Gpu) -> None:
    source = """
    __global__ void stab(const int2* intervals, int n, const int* queries, unsigned char* answers) {
        int q = queries[blockIdx.x];
        bool any = false, all = true;
        for (int i = threadIdx.x; i < n; i += warpSize) {
            bool in = intervals[i].x <= q && q < intervals[i].y;
            any |= __any(in) != 0; all &= __all(in) != 0;
        }
        any = __any(any); all = __all(all);
        if (threadIdx.x == 0) answers[blockIdx.x] = any * 2 + all;
    }"""
    low = integers(64, -50, 0)
    intervals = np.stack([low, low + integers(64, 60, 120, seed=2)], 1)
    queries = np.arange(-60, 140, 10, dtype="int32")
    answers = gpu(
        source, intervals.ravel(), 64, queries, zeros(len(queries), "uint8"), grid=len(queries), block=gpu.wave
    )[2]
    inside = (intervals[:, :1] <= queries) & (queries < intervals[:, 1:])
    assert (answers == inside.any(axis=0) * 2 + inside.all(axis=0)).all()
    assert (answers == 3).any()


def test_convex_position_of_points(gpu: Gpu) -> None:
    source = """
    __global__ void extreme(const double2* p, int n, int* out) {
        int i = threadIdx.x;
        if (i >= n) return;
        bool corner = false;
        for (int j = 0; j < n && !corner; ++j) {
            if (j == i) continue;
            bool edge = true;
            for (int k = 0; k < n && edge; ++k)
                if (k != i && k != j)
                    edge = (p[j].x - p[i].x) * (p[k].y - p[i].y) - (p[j].y - p[i].y) * (p[k].x - p[i].x) > 0;
            corner = edge;
        }
        out[i] = corner;
    }"""
    points = floats((40, 2), dtype="float64")
    out = gpu(source, points.ravel(), 40, zeros(40))[1]
    order = sorted(range(40), key=lambda i: tuple(points[i]))

    def chain(indices: list[int]) -> list[int]:
        hull: list[int] = []
        for i in indices:
            while len(hull) > 1 and np.linalg.det(points[[hull[-1], i]] - points[hull[-2]]) <= 0:
                hull.pop()
            hull.append(i)
        return hull

    assert set(np.flatnonzero(out).tolist()) == set(chain(order)) | set(chain(order[::-1]))
