"""Random numbers, cryptography, checksums, encodings and integer arithmetic, exact against Python."""

from __future__ import annotations

import base64
import hashlib
import heapq
import math
import zlib
from itertools import pairwise, permutations

import numpy as np

from tests.kernels.harness import Gpu, floats, integers, levels, words, zeros

M32, M64 = 2**32 - 1, 2**64 - 1


def unrotated(x: int, n: int) -> int:
    return (x << n | x >> (32 - n)) & M32


# ---- random numbers -------------------------------------------------------------------------------------------------


def test_xorshift_and_multiply(gpu: Gpu) -> None:
    source = """
    __global__ void draw(const unsigned long long* seeds, unsigned long long* out, int n) {
        unsigned long long x = seeds[threadIdx.x];
        for (int i = 0; i < n; ++i) { x ^= x >> 12; x ^= x << 25; x ^= x >> 27;
            out[i * blockDim.x + threadIdx.x] = x * 2685821657736338717ull; }
    }"""
    seeds = words(70, "uint64") | np.uint64(1)
    _, out = gpu(source, seeds, zeros((5, 70), "uint64"), 5, block=70)
    x = seeds
    for row in out:
        x = x ^ x >> np.uint64(12)
        x = x ^ x << np.uint64(25)
        x = x ^ x >> np.uint64(27)
        assert (row == x * np.uint64(2685821657736338717)).all()


def test_linear_congruential_generator_with_skip_ahead(gpu: Gpu) -> None:
    source = """
    __global__ void draw(unsigned* out, unsigned seed, int each) {
        unsigned a = 1664525, c = 1013904223, A = 1, C = 0;
        for (unsigned n = threadIdx.x * each; n; n >>= 1) { if (n & 1) { C = C * a + c; A *= a; } c *= a + 1; a *= a; }
        unsigned x = seed * A + C;
        for (int i = 0; i < each; ++i) { out[threadIdx.x * each + i] = x; x = x * 1664525 + 1013904223; }
    }"""
    (out,) = gpu(source, zeros(640, "uint32"), 42, 10)
    x, expected = 42, []
    for _ in range(640):
        expected.append(x)
        x = (x * 1664525 + 1013904223) & M32
    assert out.tolist() == expected


@levels("-O0", "-O1", "-Os")
def test_philox(gpu: Gpu) -> None:
    source = """
    __global__ void philox(uint4* out, uint2 key) {
        uint4 c = make_uint4(blockIdx.x * blockDim.x + threadIdx.x, 0x12345678, 0x9abcdef0, 7);
        for (int r = 0; r < 10; ++r) {
            unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z),
                l1 = 0xCD9E8D57u * c.z;
            c = make_uint4(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
            key.x += 0x9E3779B9u; key.y += 0xBB67AE85u;
        }
        out[blockIdx.x * blockDim.x + threadIdx.x] = c;
    }"""
    (out,) = gpu(source, zeros((100, 4), "uint32"), (0xDEADBEEF, 0xCAFEF00D), grid=2, block=50)
    for i, row in enumerate(out.tolist()):
        x, y, z, w = i, 0x12345678, 0x9ABCDEF0, 7
        k0, k1 = 0xDEADBEEF, 0xCAFEF00D
        for _ in range(10):
            a, b = 0xD2511F53 * x, 0xCD9E8D57 * z
            x, y, z, w = b >> 32 ^ y ^ k0, b & M32, a >> 32 ^ w ^ k1, a & M32
            k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
        assert row == [x, y, z, w]


def test_mersenne_twister(gpu: Gpu) -> None:
    source = """
    __global__ void twist(const unsigned* seeds, unsigned* out, unsigned* state) {
        unsigned* mt = state + threadIdx.x * 624;
        mt[0] = seeds[threadIdx.x];
        for (int i = 1; i < 624; ++i) mt[i] = 1812433253u * (mt[i - 1] ^ mt[i - 1] >> 30) + i;
        for (int i = 0; i < 20; ++i) {
            unsigned y = (mt[i] & 0x80000000u) | (mt[i + 1] & 0x7fffffffu), x = mt[i + 397] ^ y >> 1 ^ ((y & 1)
                ? 0x9908b0dfu : 0);
            x ^= x >> 11; x ^= x << 7 & 0x9d2c5680u; x ^= x << 15 & 0xefc60000u; x ^= x >> 18;
            out[threadIdx.x * 20 + i] = x;
        }
    }"""
    seeds = np.array([1, 5489, 12345, M32], "uint32")
    out = gpu(source, seeds, zeros((4, 20), "uint32"), zeros(4 * 624, "uint32"), block=4)[1]
    for seed, row in zip(seeds.tolist(), out, strict=True):
        assert (row == np.random.Generator(_mersenne(seed)).integers(0, 2**32, 20, dtype="uint32")).all()


def _mersenne(seed: int) -> np.random.MT19937:
    twister = np.random.MT19937()
    twister._legacy_seeding(seed)  # init_genrand of the published algorithm
    return twister


def test_monte_carlo_pi_counts_the_same_points(gpu: Gpu) -> None:
    source = """
    __global__ void pi(unsigned long long* inside, int each) {
        unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
        unsigned n = 0;
        for (int i = 0; i < each; ++i) {
            x = x * 1664525u + 1013904223u; float a = (x >> 8) * (1.0f / 16777216.0f);
            x = x * 1664525u + 1013904223u; float b = (x >> 8) * (1.0f / 16777216.0f);
            n += __fadd_rn(__fmul_rn(a, a), __fmul_rn(b, b)) <= 1.0f;
        }
        for (int d = 16; d; d /= 2) n += __shfl_down(n, d, 32);
        if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)n);
    }"""
    (inside,) = gpu(source, zeros(1, "uint64"), 50, grid=3, block=64, options=("-ffp-contract=off",))
    x = np.arange(192, dtype="uint32") * np.uint32(2654435761) + np.uint32(1)
    count = 0
    for _ in range(50):
        x = x * np.uint32(1664525) + np.uint32(1013904223)
        a = (x >> np.uint32(8)).astype("float32") / np.float32(2**24)
        x = x * np.uint32(1664525) + np.uint32(1013904223)
        b = (x >> np.uint32(8)).astype("float32") / np.float32(2**24)
        count += int((a * a + b * b <= 1).sum())
    assert inside[0] == count


def test_sobol_and_van_der_corput(gpu: Gpu) -> None:
    source = """
    __global__ void points(unsigned* a, float* b) {
        unsigned i = threadIdx.x;
        a[i] = __brev(i);
        unsigned x = 0, v = 1u << 31, g = i ^ i >> 1;
        for (; g; g >>= 1, v ^= v >> 1) if (g & 1) x ^= v;
        b[i] = x * 0x1p-32f;
    }"""
    a, b = gpu(source, zeros(256, "uint32"), zeros(256, "float32"), block=256)
    assert a.tolist() == [int(f"{i:032b}"[::-1], 2) for i in range(256)]
    for i in range(256):
        x, v, g = 0, 1 << 31, i ^ i >> 1
        while g:
            x, v, g = x ^ (v if g & 1 else 0), v ^ v >> 1, g >> 1
        assert b[i] == np.float32(x) * np.float32(2.0**-32)


# ---- cryptography and checksums -------------------------------------------------------------------------------------


def padded(message: bytes) -> np.ndarray:
    """One block of a Merkle-Damgard hash, big-endian length; bytes."""
    return np.frombuffer(message + b"\x80" + bytes(55 - len(message)) + (8 * len(message)).to_bytes(8, "big"), "uint8")


@levels("-O0", "-Os")
def test_sha256(gpu: Gpu) -> None:
    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))]

    def fraction(p: int, n: int) -> int:
        """The first 32 bits of the fraction of the n-th root of p, by bisection over integers."""
        low, high = 0, p << 32
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**n <= p << 32 * n else (low, middle - 1)
        return low & M32

    k = ",".join(f"{fraction(p, 3)}u" for p in primes[:64])
    h = ",".join(f"{fraction(p, 2)}u" for p in primes[:8])
    source = f"""
    __constant__ unsigned K[64] = {{{k}}}, H[8] = {{{h}}};
    __device__ unsigned r(unsigned x, int n) {{ return x >> n | x << (32 - n); }}
    __global__ void sha(const unsigned char* blocks, unsigned* digests, int n) {{
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        if (t >= n) return;
        unsigned w[64], s[8];
        for (int i = 0; i < 16; ++i) {{
            const unsigned char* b = blocks + 64 * t + 4 * i;
            w[i] = (unsigned)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
        }}
        #pragma unroll 1
        for (int i = 16; i < 64; ++i)
            w[i] = w[i - 16] + (r(w[i - 15], 7) ^ r(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7]
                 + (r(w[i - 2], 17) ^ r(w[i - 2], 19) ^ w[i - 2] >> 10);
        for (int i = 0; i < 8; ++i) s[i] = H[i];
        #pragma unroll 1
        for (int i = 0; i < 64; ++i) {{
            unsigned a = s[7] + (r(s[4], 6) ^ r(s[4], 11) ^ r(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i]
                + w[i];
            unsigned b = (r(s[0], 2) ^ r(s[0], 13) ^ r(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j > 0; --j) s[j] = s[j - 1];
            s[4] += a; s[0] = a + b;
        }}
        for (int i = 0; i < 8; ++i) digests[8 * t + i] = s[i] + H[i];
    }}"""
    messages = [b"lane %d of a wave" % i * (i % 4) for i in range(70)]
    messages = [m[:55] for m in messages]
    _, out = gpu(source, np.stack([padded(m) for m in messages]), zeros((70, 8), "uint32"), 70, grid=2)
    for message, row in zip(messages, out, strict=True):
        assert row.astype(">u4").tobytes() == hashlib.sha256(message).digest()


def test_md5(gpu: Gpu) -> None:
    source = """
    __constant__ unsigned char S[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    __global__ void md5(const unsigned* blocks, const unsigned* K, uint4* digests) {
        const unsigned* w = blocks + 16 * threadIdx.x;
        unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
        #pragma unroll 1
        for (int i = 0; i < 64; ++i) {
            unsigned f; int g;
            switch (i / 16) {
                case 0: f = (b & c) | (~b & d); g = i; break;
                case 1: f = (d & b) | (~d & c); g = 5 * i + 1; break;
                case 2: f = b ^ c ^ d; g = 3 * i + 5; break;
                default: f = c ^ (b | ~d); g = 7 * i;
            }
            f += a + K[i] + w[g % 16];
            a = d; d = c; c = b;
            int s = S[i / 16][i % 4];
            b += f << s | f >> (32 - s);
        }
        digests[threadIdx.x] = make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
    }"""
    messages = [b"%d bottles of beer" % i for i in range(33)]
    blocks = np.stack(
        [
            np.frombuffer(m + b"\x80" + bytes(55 - len(m)) + (8 * len(m)).to_bytes(8, "little"), "uint32")
            for m in messages
        ]
    )
    table = np.array([int(2**32 * abs(math.sin(i + 1))) for i in range(64)], "uint32")
    *_, out = gpu(source, blocks, table, zeros((33, 4), "uint32"), block=33)
    assert [row.tobytes() for row in out] == [hashlib.md5(m).digest() for m in messages]


@levels("-O1")
def test_chacha20(gpu: Gpu) -> None:
    source = """
    __device__ void quarter(unsigned* s, int a, int b, int c, int d) {
        auto rotate = [](unsigned x, int n) { return x << n | x >> (32 - n); };
        s[a] += s[b]; s[d] = rotate(s[d] ^ s[a], 16); s[c] += s[d]; s[b] = rotate(s[b] ^ s[c], 12);
        s[a] += s[b]; s[d] = rotate(s[d] ^ s[a], 8); s[c] += s[d]; s[b] = rotate(s[b] ^ s[c], 7);
    }
    __global__ void chacha(const unsigned* key, const unsigned* nonce, unsigned* out) {
        unsigned in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, s[16];
        for (int i = 0; i < 8; ++i) in[4 + i] = key[i];
        in[12] = threadIdx.x;
        for (int i = 0; i < 3; ++i) in[13 + i] = nonce[i];
        for (int i = 0; i < 16; ++i) s[i] = in[i];
        #pragma unroll 1
        for (int r = 0; r < 10; ++r) {
            for (int i = 0; i < 4; ++i) quarter(s, i, 4 + i, 8 + i, 12 + i);
            for (int i = 0; i < 4; ++i) quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
        }
        for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = s[i] + in[i];
    }"""
    key, nonce = (
        np.frombuffer(bytes(range(32)), "uint32"),
        np.frombuffer(bytes.fromhex("000000090000004a00000000"), "uint32"),
    )
    out = gpu(source, key, nonce, zeros((64, 16), "uint32"))[2]
    # RFC 8439, 2.3.2: the block with counter 1
    assert out[1].tobytes().hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2"
        "b5129cd1de164eb9cbd083e8a2503c4e"
    )

    def block(counter: int) -> list[int]:
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key.tolist(), counter, *nonce.tolist()]
        s = list(start)
        for _ in range(10):
            for columns in (0, 1):
                for i in range(4):
                    a, b, c, d = i, 4 + (i + columns) % 4, 8 + (i + 2 * columns) % 4, 12 + (i + 3 * columns) % 4
                    for n1, n2 in ((16, 12), (8, 7)):
                        s[a] = (s[a] + s[b]) & M32
                        s[d] = unrotated(s[d] ^ s[a], n1)
                        s[c] = (s[c] + s[d]) & M32
                        s[b] = unrotated(s[b] ^ s[c], n2)
        return [(x + y) & M32 for x, y in zip(s, start, strict=True)]

    assert out.tolist() == [block(c) for c in range(64)]


def gf_times(a: int, b: int) -> int:
    r = 0
    while b:
        r ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return r


def test_aes_steps(gpu: Gpu) -> None:
    source = """
    __device__ unsigned char times(unsigned char a, unsigned char b) {
        unsigned char r = 0;
        for (; b; b >>= 1) { if (b & 1) r ^= a; a = (a << 1) ^ ((a >> 7) * 0x1b); }
        return r;
    }
    __global__ void boxes(unsigned char* box) {
        unsigned char x = threadIdx.x, i = x;
        for (int k = 0; k < 6; ++k) i = times(times(i, i), x);
        i = times(i, i);
        unsigned char r = i;
        for (int k = 0; k < 4; ++k) { i = i << 1 | i >> 7; r ^= i; }
        box[x] = r ^ 0x63;
    }
    __global__ void round(const unsigned char* box, const unsigned char* states, unsigned char* out) {
        unsigned char s[4][4], t[4];
        for (int c = 0; c < 4; ++c) for (int r = 0; r < 4;
            ++r) s[r][c] = box[states[16 * threadIdx.x + 4 * ((c + r) % 4) + r]];
        for (int c = 0; c < 4; ++c) {
            for (int r = 0; r < 4; ++r) t[r] = times(s[r][c], 2) ^ times(s[(r + 1) % 4][c], 3) ^ s[(r
                + 2) % 4][c] ^ s[(r + 3) % 4][c];
            for (int r = 0; r < 4; ++r) out[16 * threadIdx.x + 4 * c + r] = t[r];
        }
    }"""
    (box,) = gpu(source, zeros(256, "uint8"), kernel="boxes", block=256)
    inverse = [0] + [next(b for b in range(256) if gf_times(a, b) == 1) for a in range(1, 256)]
    rotated = lambda b, n: (b << n | b >> (8 - n)) & 255  # noqa: E731
    expected = [b ^ rotated(b, 1) ^ rotated(b, 2) ^ rotated(b, 3) ^ rotated(b, 4) ^ 0x63 for b in inverse]
    assert box.tolist() == expected
    states = words((48, 16), "uint8")
    *_, out = gpu(source, box, states, np.zeros_like(states), kernel="round", block=48)
    for state, got in zip(states.tolist(), out.tolist(), strict=True):
        s = [[expected[state[4 * ((c + r) % 4) + r]] for c in range(4)] for r in range(4)]
        for c in range(4):
            column = [s[r][c] for r in range(4)]
            assert got[4 * c : 4 * c + 4] == [
                gf_times(column[r], 2) ^ gf_times(column[(r + 1) % 4], 3) ^ column[(r + 2) % 4] ^ column[(r + 3) % 4]
                for r in range(4)
            ]


@levels("-O0", "-O1")
def test_crc32_by_table_in_lds(gpu: Gpu) -> None:
    source = """
    __global__ void crc(const unsigned char* data, const int* starts, unsigned* out, int n) {
        __shared__ unsigned table[256];
        for (int i = threadIdx.x; i < 256; i += blockDim.x) {
            unsigned c = i;
            for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
            table[i] = c;
        }
        __syncthreads();
        int m = blockIdx.x * blockDim.x + threadIdx.x;
        if (m >= n) return;
        unsigned c = ~0u;
        for (int i = starts[m]; i < starts[m + 1]; ++i) c = table[(c ^ data[i]) & 255] ^ c >> 8;
        out[m] = ~c;
    }"""
    lengths = integers(90, 0, 30)
    starts = np.concatenate([[0], lengths.cumsum()]).astype("int32")
    data = words(int(starts[-1]), "uint8")
    out = gpu(source, data, starts, zeros(90, "uint32"), 90, grid=2)[2]
    assert out.tolist() == [zlib.crc32(data[a:b].tobytes()) for a, b in pairwise(starts)]


def test_adler_and_fnv_hashes(gpu: Gpu) -> None:
    source = """
    __global__ void hash(const unsigned char* data, int each, unsigned* adler, unsigned long long* fnv) {
        const unsigned char* p = data + threadIdx.x * each;
        unsigned a = 1, b = 0;
        unsigned long long h = 14695981039346656037ull;
        for (int i = 0; i < each; ++i) { a = (a + p[i]) % 65521; b = (b + a) % 65521;
            h = (h ^ p[i]) * 1099511628211ull; }
        adler[threadIdx.x] = b << 16 | a; fnv[threadIdx.x] = h;
    }"""
    data = words((64, 37), "uint8")
    _, adler, fnv = gpu(source, data, 37, zeros(64, "uint32"), zeros(64, "uint64"))
    for row, a, f in zip(data, adler, fnv, strict=True):
        h = 14695981039346656037
        for byte in row.tolist():
            h = (h ^ byte) * 1099511628211 & M64
        assert (a, f) == (zlib.adler32(row.tobytes()), h)


# ---- encodings ------------------------------------------------------------------------------------------------------


def test_base64(gpu: Gpu) -> None:
    source = """
    __device__ const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    __global__ void encode(const unsigned char* in, int n, char* out) {
        int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x);
        if (i >= n) return;
        unsigned v = in[i] << 16 | (i + 1 < n ? in[i + 1] << 8 : 0) | (i + 2 < n ? in[i + 2] : 0);
        char* o = out + i / 3 * 4;
        o[0] = letters[v >> 18]; o[1] = letters[v >> 12 & 63];
        o[2] = i + 1 < n ? letters[v >> 6 & 63] : '='; o[3] = i + 2 < n ? letters[v & 63] : '=';
    }"""
    for n in (240, 241, 242):
        data = words(n, "uint8")
        _, out = gpu(source, data, n, zeros((n + 2) // 3 * 4, "int8"), grid=2)
        assert out.tobytes() == base64.b64encode(data.tobytes())


def test_huffman_decoding(gpu: Gpu) -> None:
    source = """
    __global__ void decode(const short2* tree, const unsigned* bits, const int* starts, const int* counts,
        unsigned char* out, int streams) {
        int s = threadIdx.x;
        if (s >= streams) return;
        int at = starts[s];
        for (int k = 0; k < counts[s]; ++k) {
            int node = 0;
            while (node >= 0) {
                bool one = bits[at >> 5] >> (at & 31) & 1;
                ++at;
                node = one ? tree[node].y : tree[node].x;
            }
            out[s * 32 + k] = ~node;
        }
    }"""
    symbols = (integers((40, 32), 0, 16) * integers((40, 32), 0, 16, seed=2) // 16).astype("uint8")
    numbers = np.bincount(symbols.ravel())
    heap = [(int(c), ~s) for s, c in enumerate(numbers) if c]
    nodes: list[tuple[int, int]] = []
    heapq.heapify(heap)
    while len(heap) > 1:
        (c1, a), (c2, b) = heapq.heappop(heap), heapq.heappop(heap)
        nodes.append((a, b))
        heapq.heappush(heap, (c1 + c2, len(nodes) - 1))
    order = {old: len(nodes) - 1 - old for old in range(len(nodes))}
    tree = np.array(
        [[order[x] if x >= 0 else x for x in nodes[len(nodes) - 1 - i]] for i in range(len(nodes))], "int16"
    )
    codes: dict[int, list[int]] = {}

    def walk(node: int, prefix: list[int]) -> None:
        if node < 0:
            codes[~node] = prefix
        else:
            walk(int(tree[node][0]), [*prefix, 0])
            walk(int(tree[node][1]), [*prefix, 1])

    walk(0, [])
    bits, starts = [], []
    for row in symbols.tolist():
        starts.append(len(bits))
        for symbol in row:
            bits += codes[symbol]
    packed = np.packbits(bits + [0] * (-len(bits) % 32), bitorder="little").view("uint32")
    out = gpu(source, tree, packed, np.array(starts, "int32"), np.full(40, 32, "int32"), zeros((40, 32), "uint8"), 40)[
        4
    ]
    assert (out == symbols).all()


def test_variable_length_integers(gpu: Gpu) -> None:
    source = """
    __global__ void encode(const unsigned long long* in, unsigned char* out, int* lengths) {
        unsigned long long v = in[threadIdx.x];
        unsigned char* p = out + 10 * threadIdx.x;
        int n = 0;
        do { p[n++] = (v & 127) | (v > 127) << 7; v >>= 7; } while (v);
        lengths[threadIdx.x] = n;
    }"""
    x = words(64, "uint64") >> np.arange(64, dtype="uint64")
    _, out, lengths = gpu(source, x, zeros((64, 10), "uint8"), zeros(64))
    for value, row, length in zip(x.tolist(), out.tolist(), lengths.tolist(), strict=True):
        assert sum((b & 127) << 7 * i for i, b in enumerate(row[:length])) == value
        assert all(b > 127 for b in row[: length - 1])
        assert row[length - 1] < 128
        assert length == max(1, -(-value.bit_length() // 7))


def test_decimal_formatting_and_parsing(gpu: Gpu) -> None:
    source = """
    __global__ void format(const int* in, char* text, long long* back) {
        int v = in[threadIdx.x];
        char* out = text + 12 * threadIdx.x;
        char digits[12]; int n = 0;
        unsigned u = v < 0 ? 0u - (unsigned)v : v;
        do { digits[n++] = '0' + u % 10; u /= 10; } while (u);
        if (v < 0) digits[n++] = '-';
        for (int i = 0; i < n; ++i) out[i] = digits[n - 1 - i];
        long long r = 0; bool minus = out[0] == '-';
        for (int i = minus; i < n; ++i) r = r * 10 + (out[i] - '0');
        back[threadIdx.x] = minus ? -r : r;
    }"""
    x = words(64, "int32") >> (np.arange(64) % 32)
    x = x.astype("int32")
    x[0] = -(2**31)
    _, text, back = gpu(source, x, zeros((64, 12), "int8"), zeros(64, "int64"))
    assert [row.tobytes().rstrip(b"\0").decode() for row in text] == [str(v) for v in x.tolist()]
    assert (back == x).all()


def test_float_formatting_in_hexadecimal(gpu: Gpu) -> None:
    source = """
    __global__ void format(const float* in, char* text) {
        unsigned u = __float_as_uint(in[threadIdx.x]);
        char* o = text + 20 * threadIdx.x;
        if (u >> 31) *o++ = '-';
        int e = (u >> 23 & 255) - 127; unsigned m = (u & 0x7fffff) << 1;
        *o++ = '0'; *o++ = 'x'; *o++ = '1'; *o++ = '.';
        for (int i = 20; i >= 0; i -= 4) *o++ = "0123456789abcdef"[m >> i & 15];
        *o++ = 'p'; *o++ = e < 0 ? '-' : '+';
        if (e < 0) e = -e;
        if (e >= 100) *o++ = '0' + e / 100;
        if (e >= 10) *o++ = '0' + e / 10 % 10;
        *o++ = '0' + e % 10;
    }"""
    x = floats(64) * np.float32(2.0) ** np.arange(-60, 68, 2).astype("float32")
    _, text = gpu(source, x, zeros((64, 20), "int8"))
    for value, row in zip(x.tolist(), text, strict=True):
        shown = row.tobytes().rstrip(b"\0").decode()
        mantissa, exponent = shown.split("p")
        assert float.fromhex(shown) == value
        digits, power = value.hex().split("p")
        assert (mantissa.ljust(len(digits), "0"), exponent) == (digits, power)


def test_utf8_decoding_by_state_machine(gpu: Gpu) -> None:
    source = """
    __global__ void decode(const unsigned char* text, int each, unsigned* out, int* counts) {
        const unsigned char* p = text + threadIdx.x * each;
        int state = 0, n = 0; unsigned code = 0;
        for (int i = 0; i < each; ++i) {
            unsigned char b = p[i];
            switch (state) {
                case 0:
                    if (b == 0) { state = 9; break; }
                    if (b < 0x80) { out[threadIdx.x * each + n++] = b; break; }
                    if (b >= 0xf0) { code = b & 7; state = 3; }
                    else if (b >= 0xe0) { code = b & 15; state = 2; }
                    else { code = b & 31; state = 1; }
                    break;
                case 3: case 2: code = code << 6 | (b & 63); --state; break;
                case 1: out[threadIdx.x * each + n++] = code << 6 | (b & 63); state = 0; break;
                default: break;
            }
        }
        counts[threadIdx.x] = n;
    }"""
    texts = ["wave", "Wärme", "日本語", "a🙂b", "", "Ωμέγα", "x" * 24, "ß€𝄞"] * 5
    data = np.stack([np.frombuffer(t.encode().ljust(24, b"\0"), "uint8") for t in texts])
    _, out, counts = gpu(source, data, 24, zeros((40, 24), "uint32"), zeros(40), block=40)
    assert ["".join(map(chr, row[:n])) for row, n in zip(out, counts, strict=True)] == texts


# ---- bits and wide integers -----------------------------------------------------------------------------------------


@levels("-O0", "-O1", "-Os")
def test_bit_tricks(gpu: Gpu) -> None:
    source = """
    __global__ void bits(const unsigned* x, const unsigned long long* y, unsigned* out, unsigned long long* wide,
        int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        unsigned u = x[i]; unsigned long long w = y[i];
        unsigned r[] = {(unsigned)__popc(u), (unsigned)__clz(u), (unsigned)__ffs(u), __brev(u), (unsigned)__popcll(w),
            (unsigned)__clzll(w),
                        (unsigned)__ffsll(w), __byte_perm(u, (unsigned)w, 0x5140), u & -u, u ^ (u >> 1),
                            (unsigned)__builtin_parity(u),
                        __umulhi(u, (unsigned)w), (unsigned)__mulhi((int)u, (int)w), __umul24(u, (unsigned)w),
                            (unsigned)__mul24((int)u, (int)w),
                        (unsigned)__hadd((int)u, (int)w), __uhadd(u, (unsigned)w), __usad(u, (unsigned)w, 5),
                            __funnelshift_l(u, (unsigned)w, 11)};
        for (int k = 0; k < 19; ++k) out[k * n + i] = r[k];
        wide[i] = __brevll(w); wide[n + i] = __umul64hi(w, w * 3);
            wide[2 * n + i] = (unsigned long long)__mul64hi((long long)w, (long long)(w * 5));
        wide[3 * n + i] = (unsigned long long)__builtin_bswap32((unsigned)w) << 32
            | __builtin_bswap32((unsigned)(w >> 32));
    }"""
    n = 130
    x, y = words(n), words(n, "uint64", 4)
    x[:4], y[:4] = [0, 1, 2**31, M32], [0, 1, 2**63, M64]
    out, wide = gpu(source, x, y, zeros((19, n), "uint32"), zeros((4, n), "uint64"), n, grid=3)[2:]
    signed = lambda v, bits: (v & (1 << bits) - 1) - ((v >> bits - 1 & 1) << bits)  # noqa: E731
    for i, (u, w) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        low = w & M32
        chosen = u.to_bytes(4, "little") + low.to_bytes(4, "little")
        assert out[:, i].tolist() == [
            u.bit_count(), 32 - u.bit_length(), (u & -u).bit_length(), int(f"{u:032b}"[::-1], 2), w.bit_count(),
            64 - w.bit_length(), (w & -w).bit_length(), int.from_bytes(bytes(chosen[s] for s in (0, 4, 1, 5)),
                "little"),
            u & -u, u ^ u >> 1, u.bit_count() & 1, u * low >> 32, signed(u, 32) * signed(low, 32) >> 32 & M32,
            (u & 0xFFFFFF) * (low & 0xFFFFFF) & M32, signed(u, 24) * signed(low, 24) & M32,
            (signed(u, 32) + signed(low, 32)) >> 1 & M32, (u + low) >> 1, abs(u - low) + 5 & M32,
            ((low << 32 | u) << 11 >> 32) & M32,
        ]  # fmt: skip
        assert wide[:, i].tolist() == [
            int(f"{w:064b}"[::-1], 2), w * (w * 3 & M64) >> 64, signed(w, 64) * signed(w * 5, 64) >> 64 & M64,
            int.from_bytes(w.to_bytes(8, "little"), "big"),
        ]  # fmt: skip


def test_morton_codes(gpu: Gpu) -> None:
    source = """
    __device__ unsigned long long spread(unsigned long long v) {
        v &= 0x1fffff;
        v = (v | v << 32) & 0x1f00000000ffffull; v = (v | v << 16) & 0x1f0000ff0000ffull;
        v = (v | v << 8) & 0x100f00f00f00f00full; v = (v | v << 4) & 0x10c30c30c30c30c3ull;
        return (v | v << 2) & 0x1249249249249249ull;
    }
    __global__ void code(const unsigned* x, unsigned long long* out, int n) {
        int i = threadIdx.x;
        if (i < n) out[i] = spread(x[3 * i]) | spread(x[3 * i + 1]) << 1 | spread(x[3 * i + 2]) << 2;
    }"""
    x = words((50, 3)) >> np.uint32(11)
    _, out = gpu(source, x, zeros(50, "uint64"), 50)
    assert out.tolist() == [
        sum((v >> b & 1) << 3 * b + k for k, v in enumerate(row) for b in range(21)) for row in x.tolist()
    ]


def test_hilbert_curve(gpu: Gpu) -> None:
    source = """
    __global__ void point(int2* out, int n) {
        int t = blockIdx.x * blockDim.x + threadIdx.x, x = 0, y = 0, d = t;
        for (int s = 1; s < n; s *= 2) {
            int rx = 1 & (d / 2), ry = 1 & (d ^ rx);
            if (ry == 0) { if (rx == 1) { x = s - 1 - x; y = s - 1 - y; } int k = x; x = y; y = k; }
            x += s * rx; y += s * ry; d /= 4;
        }
        out[t] = make_int2(x, y);
    }"""
    (out,) = gpu(source, zeros((256, 2)), 16, grid=2, block=128)
    assert sorted(map(tuple, out.tolist())) == [(x, y) for x in range(16) for y in range(16)]
    assert (abs(np.diff(out, axis=0)).sum(axis=1) == 1).all()
    assert (out[0].tolist(), out[-1].tolist()) == ([0, 0], [15, 0])


@levels("-O0", "-O1")
def test_wide_multiplication_and_division(gpu: Gpu) -> None:
    source = """
    typedef unsigned __int128 u128;
    __global__ void wide(const unsigned long long* a, const unsigned long long* b, unsigned long long* out, int n) {
        int i = threadIdx.x;
        if (i >= n) return;
        unsigned long long x = a[i], y = b[i];
        long long sx = (long long)x, sy = (long long)y;
        u128 p = (u128)x * y + x, q = p << 7 ^ p >> 77;
        unsigned long long r[] = {(unsigned long long)p, (unsigned long long)(p >> 64), (unsigned long long)q,
            (unsigned long long)(q >> 64),
            x / y, x % y, (unsigned long long)(sx / sy), (unsigned long long)(sx % sy), x / 10,
                (unsigned long long)(sx % 1000000007)};
        for (int k = 0; k < 10; ++k) out[k * n + i] = r[k];
    }"""
    n = 60
    a = words(n, "uint64")
    b = words(n, "uint64", 5) >> np.arange(n, dtype="uint64") | np.uint64(1)
    out = gpu(source, a, b, zeros((10, n), "uint64"), n)[2]
    signed = lambda v: v - (v >> 63 << 64)  # noqa: E731

    def divided(x: int, y: int) -> tuple[int, int]:
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return q & M64, x - q * y & M64

    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        p = x * y + x & 2**128 - 1
        q = (p << 7 & 2**128 - 1) ^ p >> 77
        assert out[:, i].tolist() == [
            p & M64, p >> 64, q & M64, q >> 64, x // y, x % y, *divided(signed(x), signed(y)), x // 10,
            divided(signed(x), 1000000007)[1],
        ]  # fmt: skip


def test_big_factorials(gpu: Gpu) -> None:
    source = """
    __global__ void factorial(unsigned* out) {
        unsigned a[12] = {1};
        for (int k = 2; k <= threadIdx.x; ++k) {
            unsigned long long carry = 0;
            for (int i = 0; i < 12; ++i) { carry += (unsigned long long)a[i] * k; a[i] = (unsigned)carry;
                carry >>= 32; }
        }
        for (int i = 0; i < 12; ++i) out[threadIdx.x * 12 + i] = a[i];
    }"""
    (out,) = gpu(source, zeros((64, 12), "uint32"))
    assert [int.from_bytes(row.tobytes(), "little") for row in out] == [math.factorial(k) % 2**384 for k in range(64)]


def test_modular_power_and_primality(gpu: Gpu) -> None:
    source = """
    typedef unsigned long long u64;
    __device__ u64 power(u64 b, u64 e, u64 m) {
        u64 r = 1;
        for (b %= m; e; e >>= 1) { if (e & 1) r = (u64)((unsigned __int128)r * b % m);
            b = (u64)((unsigned __int128)b * b % m); }
        return r;
    }
    __global__ void prime(const u64* n, unsigned char* out, int count) {
        int i = threadIdx.x;
        if (i >= count) return;
        u64 v = n[i], d = v - 1; int s = 0;
        while (!(d & 1)) { d >>= 1; ++s; }
        bool yes = true;
        const u64 bases[] = {2, 3, 5, 7};
        for (int k = 0; k < 4 && yes; ++k) {
            u64 x = power(bases[k], d, v);
            if (x == 1 || x == v - 1) continue;
            yes = false;
            for (int r = 1; r < s && !yes; ++r) { x = (u64)((unsigned __int128)x * x % v); yes = x == v - 1; }
        }
        out[i] = yes;
    }"""
    n = np.concatenate([np.arange(11, 101, 2), 2_000_000_011 + 2 * np.arange(19)]).astype("uint64")
    _, out = gpu(source, n, zeros(64, "uint8"), 64)
    assert out.tolist() == [all(v % d for d in range(2, math.isqrt(v) + 1)) for v in n.tolist()]


def test_collatz_and_gcd(gpu: Gpu) -> None:
    source = """
    __device__ unsigned gcd(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }
    __global__ void numbers(int* steps, unsigned* common, unsigned* roots) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned long long n = i + 1; int s = 0;
        while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++s; }
        steps[i] = s;
        common[i] = gcd(i * 12u + 36, 5040);
        unsigned v = i * 1000003u, r = 0;
        for (unsigned b = 1u << 30; b; b >>= 2) { if (v >= r + b) { v -= r + b; r = (r >> 1) + b; } else r >>= 1; }
        roots[i] = r;
    }"""
    steps, common, roots = gpu(source, zeros(256), zeros(256, "uint32"), zeros(256, "uint32"), grid=2, block=128)

    def collatz(n: int) -> int:
        s = 0
        while n != 1:
            n, s = (3 * n + 1 if n & 1 else n // 2), s + 1
        return s

    assert steps.tolist() == [collatz(i + 1) for i in range(256)]
    assert common.tolist() == [math.gcd(i * 12 + 36, 5040) for i in range(256)]
    assert roots.tolist() == [math.isqrt(i * 1000003) for i in range(256)]


def test_sieve_in_bits(gpu: Gpu) -> None:
    source = """
    __global__ void sieve(unsigned* out) {
        __shared__ unsigned composite[64];
        if (threadIdx.x < 64) composite[threadIdx.x] = 0;
        __syncthreads();
        for (int p = 2 + threadIdx.x; p * p < 2048; p += blockDim.x)
            for (int m = p * p; m < 2048; m += p) atomicOr(&composite[m / 32], 1u << m % 32);
        __syncthreads();
        if (threadIdx.x < 64) out[threadIdx.x] = ~composite[threadIdx.x];
    }"""
    (out,) = gpu(source, zeros(64, "uint32"), block=96)
    found = np.flatnonzero(np.unpackbits(out.view("uint8"), bitorder="little")).tolist()
    assert found[2:] == [n for n in range(2, 2048) if all(n % d for d in range(2, math.isqrt(n) + 1))]


def test_n_queens_by_bit_masks(gpu: Gpu) -> None:
    source = """
    __global__ void queens(int n, unsigned* total) {
        int a = threadIdx.x / n, b = threadIdx.x % n;
        if (a >= n || a == b || a - b == 1 || b - a == 1) return;
        unsigned full = (1u << n) - 1, columns[12], left[12], right[12], open[12], found = 0;
        int row = 2;
        columns[2] = 1u << a | 1u << b; left[2] = (1u << a) << 2 | (1u << b) << 1;
            right[2] = (1u << a) >> 2 | (1u << b) >> 1;
        open[2] = full & ~(columns[2] | left[2] | right[2]);
        while (row >= 2) {
            if (!open[row]) { --row; continue; }
            unsigned bit = open[row] & -open[row];
            open[row] ^= bit;
            if (row == n - 1) { ++found; continue; }
            columns[row + 1] = columns[row] | bit; left[row + 1] = (left[row] | bit) << 1;
                right[row + 1] = (right[row] | bit) >> 1;
            ++row;
            open[row] = full & ~(columns[row] | left[row] | right[row]);
        }
        atomicAdd(total, found);
    }"""
    for n, expected in ((6, 4), (8, 92)):
        assert gpu(source, n, zeros(1, "uint32"))[0][0] == expected


def test_gray_code_permutations(gpu: Gpu) -> None:
    source = """
    __global__ void permute(unsigned char* out, int n) {
        unsigned char p[6];
        for (int i = 0; i < 6; ++i) p[i] = i;
        int k = blockIdx.x * blockDim.x + threadIdx.x;
        if (k >= n) return;
        for (int i = 0, f = 120; i < 5; f /= 5 - i, ++i) {
            int d = k / f; k %= f;
            unsigned char v = p[i + d];
            for (int j = i + d; j > i; --j) p[j] = p[j - 1];
            p[i] = v;
        }
        for (int i = 0; i < 6; ++i) out[(blockIdx.x * blockDim.x + threadIdx.x) * 6 + i] = p[i];
    }"""
    (out,) = gpu(source, zeros((720, 6), "uint8"), 720, grid=6, block=128)
    assert list(map(tuple, out.tolist())) == list(permutations(range(6)))
