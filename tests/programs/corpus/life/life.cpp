#include <hip/hip_runtime.h>
#include <iostream>
#include <string>
#include <vector>
#include <bitset>
// Conway's Game of Life: a byte per cell with a halo in shared memory, and 64 cells per word, bitwise adders.
// Known: an R-pentomino has 116 cells when it settles after 1103 generations (on an infinite plane).

#define CHK(x) do { if (auto e = (x); e != hipSuccess) { std::cerr << #x << " -> " << hipGetErrorString(e) << '\n'; std::exit(1); } } while (0)

using Word = unsigned long long;

__global__ void life_bytes(const unsigned char* in, unsigned char* out, int w, int h)
{
    extern __shared__ unsigned char tile[];
    const int tw = blockDim.x + 2, th = blockDim.y + 2;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < tw * th; i += blockDim.x * blockDim.y) {
        int x = (blockIdx.x * blockDim.x + i % tw + w - 1) % w, y = (blockIdx.y * blockDim.y + i / tw + h - 1) % h;
        tile[i] = in[y * w + x];
    }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int n = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) n += tile[(threadIdx.y + dy) * tw + threadIdx.x + dx];
    unsigned char self = tile[(threadIdx.y + 1) * tw + threadIdx.x + 1];
    n -= self;
    out[y * w + x] = n == 3 || (n == 2 && self);
}

__device__ inline void add(Word a, Word b, Word c, Word& sum, Word& carry) { sum = a ^ b ^ c; carry = (a & b) | (c & (a ^ b)); }

__global__ void life_bits(const Word* in, Word* out, int words, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= words) return;
    Word s[3], c[3], l[3], r[3], m[3];
    for (int k = 0; k < 3; k++) {
        int row = (y + k - 1 + h) % h * words;
        Word left = in[row + (x + words - 1) % words], mid = in[row + x], right = in[row + (x + 1) % words];
        l[k] = mid << 1 | left >> 63;
        r[k] = mid >> 1 | right << 63;
        m[k] = mid;
    }
    add(l[0], m[0], r[0], s[0], c[0]);
    add(l[2], m[2], r[2], s[2], c[2]);
    s[1] = l[1] ^ r[1]; c[1] = l[1] & r[1];
    Word ones, c1, twos, f1, f2;
    add(s[0], s[1], s[2], ones, c1);           // neighbours = ones + 2 * (c0 + c1' + c2 + c1)
    add(c[0], c[1], c[2], twos, f1);
    f2 = twos & c1; twos ^= c1;
    Word fours = f1 | f2;                      // four or more
    out[y * words + x] = ~fours & twos & (ones | m[1]);
}

int main(int argc, char* argv[])
{
    int generations = argc > 1 ? std::stoi(argv[1]) : 60;
    const int w = 256, h = 128, words = w / 64;
    std::vector<unsigned char> a(w * h), b(w * h), got(w * h);
    const int pentomino[][2] = {{1, 0}, {2, 0}, {0, 1}, {1, 1}, {1, 2}};
    for (auto& p : pentomino) a[(h / 2 + p[1]) * w + w / 2 + p[0]] = 1;
    unsigned s = 4;
    for (int i = 0; i < 3000; i++) { s = s * 1103515245 + 12345; a[(s >> 8) % 30 * w + (s >> 16) % w] = 1; }   // soup at the top
    std::vector<Word> bits(words * h);
    for (int i = 0; i < w * h; i++) if (a[i]) bits[i / w * words + i % w / 64] |= Word(1) << (i % 64);

    unsigned char *d[2]; Word* p[2];
    for (auto& q : d) CHK(hipMalloc(&q, w * h));
    for (auto& q : p) CHK(hipMalloc(&q, bits.size() * sizeof(Word)));
    CHK(hipMemcpy(d[0], a.data(), a.size(), hipMemcpyHostToDevice));
    CHK(hipMemcpy(p[0], bits.data(), bits.size() * sizeof(Word), hipMemcpyHostToDevice));
    const dim3 block(32, 8), grid(w / 32, h / 8);
    for (int g = 0; g < generations; g++) {
        life_bytes<<<grid, block, (block.x + 2) * (block.y + 2)>>>(d[g % 2], d[1 - g % 2], w, h);
        life_bits<<<dim3(1, h), words>>>(p[g % 2], p[1 - g % 2], words, h);
        CHK(hipGetLastError());
    }
    CHK(hipMemcpy(got.data(), d[generations % 2], got.size(), hipMemcpyDeviceToHost));
    CHK(hipMemcpy(bits.data(), p[generations % 2], bits.size() * sizeof(Word), hipMemcpyDeviceToHost));
    for (int g = 0; g < generations; g++) {
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int n = 0;
                for (int k = 0; k < 9; k++) if (k != 4) n += a[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
                b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
            }
        a.swap(b);
    }
    size_t alive = 0, population = 0;
    int wrong_bytes = 0, wrong_bits = 0;
    for (int i = 0; i < w * h; i++) {
        alive += a[i];
        wrong_bytes += got[i] != a[i];
        wrong_bits += (bits[i / w * words + i % w / 64] >> (i % 64) & 1) != a[i];
    }
    for (Word v : bits) population += std::bitset<64>(v).count();
    for (auto q : d) CHK(hipFree(q));
    for (auto q : p) CHK(hipFree(q));
    std::cout << generations << " generations: " << alive << " cells alive, wrong: " << wrong_bytes << " and " << wrong_bits << std::endl;
    bool ok = !wrong_bytes && !wrong_bits && population == alive;
    std::cout << (ok ? "PASSED" : "FAILED") << std::endl;
    return !ok;
}
