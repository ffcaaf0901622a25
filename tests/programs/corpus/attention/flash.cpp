#include <hip/hip_runtime.h>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>
// Scaled dot product attention with online softmax in tiles ("flash"), causal or not; several heads.

#define THROW_IF_FAILED(call)                                                               \
    if (auto status = (call); status != hipSuccess) {                                       \
        std::ostringstream text;                                                            \
        text << #call << ": " << hipGetErrorString(status) << " (line " << __LINE__ << ")"; \
        throw std::runtime_error(text.str());                                               \
    }

template <int D, int ROWS, int COLS, bool CAUSAL>
__global__ void attention_kernel(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V,
                                 float *__restrict__ O, float *__restrict__ L, int seq, float scale)
{
    __shared__ float4 ks[COLS][D / 4];
    __shared__ float4 vs[COLS][D / 4];
    const size_t head = blockIdx.y;
    Q += head * seq * D; K += head * seq * D; V += head * seq * D; O += head * seq * D; L += head * seq;
    const int row = blockIdx.x * ROWS + threadIdx.x;
    float4 q[D / 4], acc[D / 4];
    for (int d = 0; d < D / 4; d++) {
        q[d] = row < seq ? reinterpret_cast<const float4 *>(Q + row * D)[d] : float4{0, 0, 0, 0};
        acc[d] = {0, 0, 0, 0};
    }
    float m = -INFINITY, l = 0;
    const int last = CAUSAL ? min(seq, (int)(blockIdx.x + 1) * ROWS) : seq;
    for (int start = 0; start < last; start += COLS) {
        __syncthreads();
        for (int t = threadIdx.x; t < COLS * D / 4; t += ROWS) {
            int c = t / (D / 4), d = t % (D / 4);
            bool in = start + c < seq;
            ks[c][d] = in ? reinterpret_cast<const float4 *>(K + (start + c) * D)[d] : float4{};
            vs[c][d] = in ? reinterpret_cast<const float4 *>(V + (start + c) * D)[d] : float4{};
        }
        __syncthreads();
        float s[COLS], top = m;
#pragma unroll 4
        for (int c = 0; c < COLS; c++) {
            float dot = 0;
            for (int d = 0; d < D / 4; d++) dot += q[d].x * ks[c][d].x + q[d].y * ks[c][d].y + q[d].z * ks[c][d].z + q[d].w * ks[c][d].w;
            bool visible = start + c < seq && (!CAUSAL || start + c <= row);
            s[c] = visible ? dot * scale : -INFINITY;
            top = fmaxf(top, s[c]);
        }
        if (top == -INFINITY) continue;
        const float factor = __expf(m - top);
        l *= factor;
        for (int d = 0; d < D / 4; d++) acc[d] *= factor;
        for (int c = 0; c < COLS; c++) {
            const float p = __expf(s[c] - top);
            l += p;
            for (int d = 0; d < D / 4; d++) acc[d] += vs[c][d] * p;
        }
        m = top;
    }
    if (row < seq) {
        for (int d = 0; d < D / 4; d++) reinterpret_cast<float4 *>(O + row * D)[d] = acc[d] / l;
        L[row] = m + logf(l);
    }
}

struct Deleter { void operator()(float *p) const { (void)hipFree(p); } };
using Device = std::unique_ptr<float[], Deleter>;

static Device allocate(size_t n) {
    void *p = nullptr;
    THROW_IF_FAILED(hipMalloc(&p, n * sizeof(float)));
    return Device(static_cast<float *>(p));
}

template <int D, bool CAUSAL> bool run(int heads, int seq) {
    const size_t n = size_t(heads) * seq * D;
    std::vector<float> q(n), k(n), v(n), o(n), lse(size_t(heads) * seq);
    unsigned state = 17;
    for (auto *a : {&q, &k, &v})
        for (auto &x : *a) { state = state * 747796405u + 2891336453u; x = float(state >> 8) / float(1 << 23) - 1.0f; }
    auto dq = allocate(n), dk = allocate(n), dv = allocate(n), out = allocate(n), dl = allocate(lse.size());
    THROW_IF_FAILED(hipMemcpy(dq.get(), q.data(), n * 4, hipMemcpyDefault));
    THROW_IF_FAILED(hipMemcpy(dk.get(), k.data(), n * 4, hipMemcpyDefault));
    THROW_IF_FAILED(hipMemcpy(dv.get(), v.data(), n * 4, hipMemcpyDefault));
    const float scale = 1.0f / std::sqrt(float(D));
    constexpr int ROWS = 64, COLS = 16;
    auto t = std::chrono::high_resolution_clock::now();
    attention_kernel<D, ROWS, COLS, CAUSAL><<<dim3((seq + ROWS - 1) / ROWS, heads), ROWS>>>(dq.get(), dk.get(), dv.get(), out.get(), dl.get(), seq, scale);
    THROW_IF_FAILED(hipGetLastError());
    THROW_IF_FAILED(hipDeviceSynchronize());
    auto us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::high_resolution_clock::now() - t).count();
    THROW_IF_FAILED(hipMemcpy(o.data(), out.get(), n * 4, hipMemcpyDefault));
    THROW_IF_FAILED(hipMemcpy(lse.data(), dl.get(), lse.size() * 4, hipMemcpyDefault));
    double worst = 0, worst_l = 0;
    std::vector<double> s(seq);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < seq; i++) {
            const int visible = CAUSAL ? i + 1 : seq;
            double top = -1e300, sum = 0;
            for (int j = 0; j < visible; j++) {
                s[j] = 0;
                for (int d = 0; d < D; d++) s[j] += double(q[(size_t(h) * seq + i) * D + d]) * k[(size_t(h) * seq + j) * D + d];
                s[j] *= scale;
                top = std::max(top, s[j]);
            }
            for (int j = 0; j < visible; j++) sum += s[j] = std::exp(s[j] - top);
            for (int d = 0; d < D; d++) {
                double x = 0;
                for (int j = 0; j < visible; j++) x += s[j] / sum * v[(size_t(h) * seq + j) * D + d];
                worst = std::max(worst, std::abs(x - o[(size_t(h) * seq + i) * D + d]));
            }
            worst_l = std::max(worst_l, std::abs(top + std::log(sum) - lse[size_t(h) * seq + i]));
        }
    bool good = worst < 5e-6 && worst_l < 1e-5;
    std::cout << (CAUSAL ? "causal" : "full") << " D=" << D << " heads=" << heads << " seq=" << seq << ": " << us << " us, error " << worst
              << ", log-sum-exp " << worst_l << (good ? "" : "  WRONG") << std::endl;
    return good;
}

int main(int argc, char **argv) {
    try {
        int seq = argc > 1 ? std::atoi(argv[1]) : 100;
        bool good = run<32, false>(2, seq) && run<32, true>(3, seq + 5) && run<64, true>(1, 64);
        std::cout << (good ? "PASSED" : "FAILED") << std::endl;
        return good ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &e) {
        std::cerr << "Exception: " << e.what() << std::endl;
        return EXIT_FAILURE;
    }
}
