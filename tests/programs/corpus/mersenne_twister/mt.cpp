/* Random numbers: MT19937 (one generator per thread in global memory), xorshift128+, PCG32; statistics, and pi by counting */
#include "hip/hip_runtime.h"
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <random>

#define HIP_API_CALL(apiFuncCall)                                                        \
do {                                                                                     \
    hipError_t _status = apiFuncCall;                                                    \
    if (_status != hipSuccess) {                                                         \
        fprintf(stderr, "%s:%d: error: function %s failed with error %s.\n",             \
                __FILE__, __LINE__, #apiFuncCall, hipGetErrorString(_status));           \
        exit(-1);                                                                        \
    }                                                                                    \
} while (0)

#define NN 624
#define MM 397

struct MT { uint32_t *mt; int stride, index; };   /* word i of this thread's state: mt[i * stride] */

__device__ void mt_seed(MT &g, uint32_t seed)
{
    g.mt[0] = seed;
    for (int i = 1; i < NN; ++i) {
        uint32_t prev = g.mt[(i - 1) * g.stride];
        g.mt[i * g.stride] = 1812433253u * (prev ^ (prev >> 30)) + i;
    }
    g.index = NN;
}

__device__ uint32_t mt_next(MT &g)
{
    if (g.index >= NN) {
        for (int k = 0; k < NN; ++k) {
            uint32_t y = (g.mt[k * g.stride] & 0x80000000u) | (g.mt[((k + 1) % NN) * g.stride] & 0x7fffffffu);
            g.mt[k * g.stride] = g.mt[((k + MM) % NN) * g.stride] ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0u);
        }
        g.index = 0;
    }
    uint32_t y = g.mt[g.index++ * g.stride];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    y ^= y >> 18;
    return y;
}

__global__ void mersenne(uint32_t *state, uint32_t *out, int per_thread, uint32_t seed)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    MT g = {state + t, n, 0};
    mt_seed(g, seed + t);
    for (int i = 0; i < per_thread; ++i) out[i * n + t] = mt_next(g);
}

struct Xorshift128p {
    uint64_t s[2];
    __host__ __device__ explicit Xorshift128p(uint64_t seed) {
        for (int i = 0; i < 2; ++i) {       /* splitmix64 */
            uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
            s[i] = z ^ (z >> 31);
        }
    }
    __host__ __device__ uint64_t operator()() {
        uint64_t a = s[0], b = s[1];
        s[0] = b;
        a ^= a << 23;
        s[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
        return s[1] + b;
    }
};

struct Pcg32 {
    uint64_t state = 0, inc;
    __host__ __device__ Pcg32(uint64_t seed, uint64_t stream) : inc(stream << 1 | 1) { (*this)(); state += seed; (*this)(); }
    __host__ __device__ uint32_t operator()() {
        uint64_t old = state;
        state = old * 6364136223846793005ull + inc;
        uint32_t x = (uint32_t)(((old >> 18) ^ old) >> 27), rot = (uint32_t)(old >> 59);
        return x >> rot | x << (-rot & 31);
    }
};

template <class F> __global__ void fill(uint64_t *out, int per_thread, F make)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    auto g = make(t);
    for (int i = 0; i < per_thread; ++i) out[i * n + t] = g();
}

struct MakeXorshift { uint64_t seed; __host__ __device__ Xorshift128p operator()(int t) const { return Xorshift128p(seed + t); } };
struct MakePcg { uint64_t seed; __host__ __device__ Pcg32 operator()(int t) const { return Pcg32(seed, t); } };

__global__ void pi_hits(unsigned long long *hits, int per_thread)
{
    Xorshift128p g(blockIdx.x * blockDim.x + threadIdx.x);
    int mine = 0;
    for (int i = 0; i < per_thread; ++i) {
        double x = (g() >> 11) * 0x1p-53, y = (g() >> 11) * 0x1p-53;
        mine += x * x + y * y <= 1.0;
    }
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(hits, (unsigned long long)total);
}

template <class F> static int compare(const char *name, F make, uint64_t *d, int threads, int per)
{
    fill<<<threads / 64, 64>>>(d, per, make);
    HIP_API_CALL(hipGetLastError());
    uint64_t *h = new uint64_t[threads * per];
    HIP_API_CALL(hipMemcpy(h, d, sizeof(uint64_t) * threads * per, hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int t = 0; t < threads; ++t) {
        auto g = make(t);
        for (int i = 0; i < per; ++i) wrong += h[i * threads + t] != g();
    }
    printf("%-12s %d wrong of %d\n", name, wrong, threads * per);
    delete[] h;
    return wrong;
}

int main(int argc, char **argv)
{
    const int threads = 128, per = argc > 1 ? atoi(argv[1]) : 700;
    uint32_t *d_state, *d_out, *h = (uint32_t *)malloc(threads * per * sizeof(uint32_t));
    HIP_API_CALL(hipMalloc(&d_state, threads * NN * sizeof(uint32_t)));
    HIP_API_CALL(hipMalloc(&d_out, threads * per * sizeof(uint32_t)));
    mersenne<<<threads / 64, 64>>>(d_state, d_out, per, 5489u);
    HIP_API_CALL(hipGetLastError());
    HIP_API_CALL(hipMemcpy(h, d_out, threads * per * sizeof(uint32_t), hipMemcpyDeviceToHost));
    int wrong = 0;
    double sum = 0;
    for (int t = 0; t < threads; ++t) {
        std::mt19937 g(5489u + t);
        for (int i = 0; i < per; ++i) { wrong += h[i * threads + t] != g(); sum += h[i * threads + t] / 4294967296.0; }
    }
    printf("%-12s %d wrong of %d, mean %.5f, first %u\n", "mt19937", wrong, threads * per, sum / (threads * per), h[0]);
    wrong += h[0] != 3499211612u;     /* the first number with the seed 5489 */
    uint64_t *d64;
    HIP_API_CALL(hipMalloc(&d64, threads * 200 * sizeof(uint64_t)));
    wrong += compare("xorshift128+", MakeXorshift{42}, d64, threads, 200);
    wrong += compare("pcg32", MakePcg{42}, d64, threads, 200);
    unsigned long long *d_hits, hits;
    HIP_API_CALL(hipMalloc(&d_hits, sizeof hits));
    HIP_API_CALL(hipMemset(d_hits, 0, sizeof hits));
    pi_hits<<<32, 256>>>(d_hits, 40);
    HIP_API_CALL(hipMemcpy(&hits, d_hits, sizeof hits, hipMemcpyDeviceToHost));
    const double pi = 4.0 * hits / (32 * 256 * 40);
    printf("pi is about %.5f\n", pi);
    HIP_API_CALL(hipFree(d_state)); HIP_API_CALL(hipFree(d_out)); HIP_API_CALL(hipFree(d64)); HIP_API_CALL(hipFree(d_hits));
    free(h);
    const bool good = wrong == 0 && fabs(pi - M_PI) < 0.015;
    printf("%s\n", good ? "PASSED" : "FAILED");
    return !good;
}
